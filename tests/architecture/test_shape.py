"""The shape of the code: sizes, docstrings, broad excepts, suppressions. No exemptions."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "ollm_tui"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE, LONGEST_FUNCTION, MOST_PUBLIC_METHODS = 400, 60, 20

EDGES = {"engine/turn/model_round.py", "engine/tools/tool_calls.py", "cli/main.py"}
"""Where nothing may take the program down: a request, a tool call, and the command line itself."""

FORBIDDEN_NAMES = re.compile(r"utils?|helpers?|common|misc|manager")
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_short_documented_and_well_named(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE
    docstring = ast.get_docstring(parsed(path))
    assert docstring, "a module says what it is about"
    assert not FORBIDDEN_NAMES.search(path.stem)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_functions_and_classes_are_small(path: Path) -> None:
    for node in ast.walk(parsed(path)):
        if isinstance(node, FUNCTIONS) and node.end_lineno:
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, node.name
        if isinstance(node, ast.ClassDef):
            methods = [m for m in node.body if isinstance(m, FUNCTIONS)]
            public = [method for method in methods if not method.name.startswith("_")]
            assert len(public) <= MOST_PUBLIC_METHODS, node.name


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_what_others_may_use_has_a_docstring(path: Path) -> None:
    for node in ast.walk(parsed(path)):
        if not isinstance(node, FUNCTIONS | ast.ClassDef) or node.name.startswith("_"):
            continue
        if node.lineno not in _hidden_lines(path):
            assert ast.get_docstring(node), f"{name_of(path)}: {node.name}"


@cache
def _hidden_lines(path: Path) -> frozenset[int]:
    """Where things begin inside a function or a private class: nobody else can use them."""
    hiding = (
        outer
        for outer in ast.walk(parsed(path))
        if isinstance(outer, FUNCTIONS)
        or (isinstance(outer, ast.ClassDef) and outer.name.startswith("_"))
    )
    return frozenset(
        inner.lineno
        for outer in hiding
        for inner in ast.walk(outer)
        if isinstance(inner, FUNCTIONS | ast.ClassDef) and inner is not outer
    )


def test_broad_excepts_stand_only_at_the_edges() -> None:
    found = {
        name_of(path)
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ExceptHandler) and _is_broad(node)
    }
    assert found <= EDGES


def _is_broad(handler: ast.ExceptHandler) -> bool:
    """Catches everything and does not pass it on."""
    caught = ast.unparse(handler.type) if handler.type else "BaseException"
    last = handler.body[-1]
    passes_on = isinstance(last, ast.Raise) and last.exc is None
    return bool(re.search(r"\b(Base)?Exception\b", caught)) and not passes_on


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_suppressed_check_says_why(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        assert "# noqa" not in line
        if match := re.search(r"#\s*(?:type|pyright):\s*ignore(\[[^\]]*\])?(.*)", line):
            assert match[2].strip(), f"no reason beside it: {line.strip()}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_changeable_lives_at_module_level(path: Path) -> None:
    for node in parsed(path).body:
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(value, ast.List | ast.Set):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            pytest.fail(f"{name_of(path)}: {ast.unparse(target)} could be changed by anybody")
