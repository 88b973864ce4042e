"""The shape of the code: docstrings, broad excepts, suppressions, state. No exemptions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import FUNCTIONS, files, parsed

LONGEST_FUNCTION = 60

EDGES = {
    "engine/turn/model_round.py",
    "engine/tools/tool_calls.py",
    "services/snapshots/restore_points.py",
    "cli/main.py",
    "services/mcp/server_connection.py",
    "services/extensions/extension_host.py",
}
"""Where nothing may take the program down: a request, a tool call, a callback at a threshold, what
a foreign server or an extension does, and the command line itself."""

FORBIDDEN_NAMES = re.compile(r"utils?|helpers?|common|misc|manager|keeper")


def test_every_module_says_what_it_is_about_and_is_well_named() -> None:
    for name, path in files():
        assert ast.get_docstring(parsed(path)), f"{name} has no docstring"
        assert not FORBIDDEN_NAMES.search(path.stem), name


def test_functions_are_short() -> None:
    for name, path in files():
        for node in ast.walk(parsed(path)):
            if isinstance(node, FUNCTIONS) and node.end_lineno:
                assert node.end_lineno - node.lineno < LONGEST_FUNCTION, f"{name}: {node.name}"


def test_what_others_may_use_has_a_docstring() -> None:
    for name, path in files():
        hidden = set(_hidden_lines(path))
        for node in ast.walk(parsed(path)):
            if not isinstance(node, FUNCTIONS | ast.ClassDef) or node.name.startswith("_"):
                continue
            if node.lineno not in hidden:
                assert ast.get_docstring(node), f"{name}: {node.name}"


def _hidden_lines(path: Path) -> Iterator[int]:
    """Where things begin inside a function or a private class: nobody else can use them."""
    for outer in ast.walk(parsed(path)):
        if isinstance(outer, FUNCTIONS) or (
            isinstance(outer, ast.ClassDef) and outer.name.startswith("_")
        ):
            for inner in ast.walk(outer):
                if isinstance(inner, FUNCTIONS | ast.ClassDef) and inner is not outer:
                    yield inner.lineno


def test_broad_excepts_stand_only_at_the_edges() -> None:
    found = {
        name
        for name, path in files()
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


def test_a_suppressed_check_says_why() -> None:
    for name, path in files():
        for line in path.read_text(encoding="utf-8").splitlines():
            assert "# noqa" not in line, name
            if match := re.search(r"#\s*(?:type|pyright):\s*ignore(\[[^\]]*\])?(.*)", line):
                assert match[2].strip(), f"{name}: no reason beside it: {line.strip()}"


def test_nothing_changeable_lives_at_module_level() -> None:
    for name, path in files():
        for node in parsed(path).body:
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                changeable = isinstance(value, ast.List | ast.Set)
                assert not changeable, f"{name}: {ast.unparse(target)} could be changed by anybody"
