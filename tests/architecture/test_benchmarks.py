"""Every benchmark says what it is about, what it promises, and prints what it finds."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

from bench.__main__ import BENCHMARKS
from bench.measure import Outcome, Promise, table
from tests.cases import every

BENCH = Path(__file__).resolve().parents[2] / "bench"


def _tree(name: str) -> ast.Module:
    return ast.parse((BENCH / f"{name}.py").read_text())


@every("name", sorted(path.stem for path in BENCH.glob("*.py")))
def test_every_module_of_the_benchmarks_says_what_it_is_about(name: str) -> None:
    lines = (ast.get_docstring(_tree(name)) or "").splitlines()
    assert 1 <= len(lines) <= 3


def test_every_module_with_promises_is_run() -> None:
    promising = {
        path.stem
        for path in BENCH.glob("*.py")
        if any(
            isinstance(target, ast.Name) and target.id == "PROMISES"
            for node in _tree(path.stem).body
            if isinstance(node, ast.Assign)
            for target in node.targets
        )
    }
    assert promising == set(BENCHMARKS)


@every("name", BENCHMARKS)
def test_a_benchmark_names_its_promises_references_and_limits(name: str) -> None:
    promises: tuple[Promise, ...] = import_module(f"bench.{name}").PROMISES
    assert promises
    for promise in promises:
        assert promise.what
        assert promise.reference
        assert promise.limit >= 0
    assert len(set(promises)) == len(promises)


@every("name", BENCHMARKS)
def test_a_benchmark_is_run_by_its_main_and_prints(name: str) -> None:
    assert import_module(f"bench.{name}").main is BENCHMARKS[name]
    calls = [node.func for node in ast.walk(_tree(name)) if isinstance(node, ast.Call)]
    assert any(isinstance(call, ast.Name) and call.id == "print" for call in calls)


def test_the_table_shows_what_is_over_its_limit() -> None:
    promise = Promise("work", "less work", 2)
    kept, broken = table([Outcome(promise, 2.0), Outcome(promise, 2.01)]).splitlines()[1:]
    assert kept.endswith("2  ok")
    assert broken.endswith("2  OVER")
