"""The source of the package as the architecture tests read it: modules, trees, every import."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "ollm_tui"
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
BY_NAME = ("import_module", "__import__")
"""Functions that import what a string names."""


@cache
def modules() -> Mapping[str, Path]:
    """Every module of the package with its file; a package stands for its `__init__`."""
    found: dict[str, Path] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(REPOSITORY).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    """A file as people name it: tui/chat/screen.py."""
    return path.relative_to(PACKAGE).as_posix()


def files() -> Iterator[tuple[str, Path]]:
    """Every file of the package with its name."""
    return ((name_of(path), path) for path in modules().values())


def _strings(path: Path) -> Iterator[str]:
    """What a file imports by a string; of a string that is put together, its fixed parts."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in BY_NAME:
                yield "".join(
                    part.value
                    for part in ast.walk(node.args[0])
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )


def named_by_string(path: Path) -> Iterator[str]:
    """Modules of this package that a file imports by a string."""
    return (name for name in _strings(path) if name.split(".")[0] == PACKAGE.name)


def imported(path: Path) -> set[str]:
    """Every name that a file imports, whosever it is: at run time, for the type checker, inside
    functions, by strings."""
    named = set(_strings(path)) - {""}
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name_of(path)}: imports are absolute"
            named |= {f"{node.module}.{alias.name}" for alias in node.names}
    return named


@cache
def imports(module: str) -> frozenset[str]:
    """Modules of this package that a module imports, in whatever way."""
    found = {_known(name) for name in imported(modules()[module])}
    return frozenset(found) - {"", module, PACKAGE.name}


def _known(name: str) -> str:
    """The module that a dotted name is, or is in."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name
