"""`ollm config`: shows the settings, where each comes from, and what is wrong with them."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

import msgspec

from ollm_tui.cli.store import read_settings
from ollm_tui.core.counts import counted
from ollm_tui.settings.keys import KeyPath
from ollm_tui.settings.loaded import Loaded, ProjectSettings
from ollm_tui.settings.resources import default_config, themes_directory
from ollm_tui.settings.warning import dotted, printable

HIDDEN = "***"
"""Stands for a value that may be a secret."""
_STANDING = {
    True: "trusted, in effect",
    False: "not trusted, ignored",
    None: "not trusted yet, ignored; open ollm in this folder to decide",
}
"""What the user's answer about a project's settings means for what they would change."""
_PLAIN_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_NOT_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def run(args: Namespace) -> int:
    """Run one command of the group."""
    return {"show": show, "path": path, "check": check}[args.command](args)


def show(args: Namespace) -> int:
    """Print the effective settings, each with where it comes from."""
    loaded = read_settings()
    tree = cast(dict[str, Any], _without_secrets(msgspec.to_builtins(loaded.settings), ()))
    if args.json:
        sources = {dotted(path): source.layer for path, source in loaded.sources.items()}
        project = _project_tree(loaded.project) if loaded.project else None
        print(json.dumps({"settings": tree, "sources": sources, "project": project}, indent=2))
    else:
        for line in _yaml_lines(tree, (), loaded):
            print(line)
        for line in _project_lines(loaded.project):
            print(f"# {line}")
    if loaded.warnings:
        found = counted(len(loaded.warnings), "problem")
        print(f"{found} found; `ollm config check` lists them", file=sys.stderr)
    return 0


def path(args: Namespace) -> int:
    """Print every place where settings are looked for, and whether it exists."""
    loaded = read_settings()
    places = [
        {"what": what, "path": str(place), "exists": os.access(place, os.F_OK)}
        for what, place in _places(loaded)
    ]
    if args.json:
        print(json.dumps(places, indent=2))
        return 0
    for place in places:
        state = "exists" if place["exists"] else "missing"
        print(f"{place['what']:<16} {state:<8} {printable(str(place['path']))}")
    return 0


def check(_args: Namespace) -> int:
    """Print what is wrong with the settings, one line each; returns 1 if anything is."""
    loaded = read_settings()
    problems = [*map(str, loaded.warnings), *_problems_of_the_screen(loaded)]
    for line in (*problems, *_project_lines(loaded.project)):
        print(line)
    if problems or (loaded.project and loaded.project.problems):
        return 1
    print("ok")
    return 0


def _problems_of_the_screen(loaded: Loaded) -> list[str]:
    """Return problems with keys and themes, which only the screen knows."""
    from ollm_tui.tui.keymap import check_keymap
    from ollm_tui.tui.terminal.abilities import AUTOMATIC
    from ollm_tui.tui.themes import theme_names

    settings = loaded.settings
    _, problems = check_keymap(settings.keymap)
    if settings.ui.theme not in (AUTOMATIC, *theme_names()):
        known = ", ".join(theme_names())
        problems.append(f"ui.theme: no theme {settings.ui.theme!r}; available: {known}")
    return problems


def _project_lines(project: ProjectSettings | None) -> Iterator[str]:
    """Yield what a project's file sets, whether it counts, and what of it is refused and why."""
    if project is None:
        return
    if project.changes:
        yield f"{project.file}: {_STANDING[project.is_trusted]}"
        yield from (f"{change.place}: {change}" for change in project.changes)
    yield from map(str, project.problems)


def _project_tree(project: ProjectSettings) -> dict[str, object]:
    changes = [
        {"key": dotted(change.path), "before": change.before, "after": change.after}
        for change in project.changes
    ]
    return {
        "file": project.file,
        "trusted": project.is_trusted,
        "changes": changes,
        "problems": list(map(str, project.problems)),
    }


def _places(loaded: Loaded) -> Iterator[tuple[str, Path]]:
    places = loaded.locations
    yield "home", places.home
    yield "user config", places.user_config
    yield "project", places.project
    if places.project_config is not None:
        yield "project config", places.project_config
    yield "sessions", places.sessions(loaded.settings)
    yield "all defaults", default_config()
    yield "themes", themes_directory()


def _without_secrets(value: Any, path: KeyPath) -> Any:
    if isinstance(value, dict):
        branch = cast(dict[str, Any], value)
        return {name: _without_secrets(item, (*path, name)) for name, item in branch.items()}
    if path[0] == "providers" and path[2] == "headers":
        return HIDDEN
    if path[0] == "providers" and path[2] == "baseUrl" and value:
        return _bare_address(str(value))
    return value


def _bare_address(url: str) -> str:
    """Return an address without user, password and query, which may hold a key."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    user, at, host = parts.netloc.rpartition("@")
    netloc = f"{HIDDEN}{at}{host}" if user else host
    return urlunsplit((parts.scheme, netloc, parts.path, HIDDEN if parts.query else "", ""))


def _yaml_lines(tree: Mapping[str, Any], path: KeyPath, loaded: Loaded) -> Iterator[str]:
    indent = "  " * len(path)
    for name, value in tree.items():
        key = (*path, name)
        head = f"{indent}{_scalar(name)}:"
        if isinstance(value, dict) and value:
            yield head
            yield from _yaml_lines(cast(dict[str, Any], value), key, loaded)
        elif isinstance(value, tuple | list) and value:
            yield f"{head}  # {_origin(key, loaded)}"
            yield from (f"{indent}  - {_scalar(item)}" for item in cast(list[object], value))
        else:
            yield f"{head} {_scalar(cast(object, value))}  # {_origin(key, loaded)}"


def _origin(key: KeyPath, loaded: Loaded) -> str:
    source = loaded.sources.get(key)
    return "default" if source is None else f"{source.layer}, {source.place}"


def _scalar(value: object) -> str:
    """Return a value as YAML. JSON fits for all but texts: quotes are left out where possible."""
    match value:
        case str() if _PLAIN_WORD.fullmatch(value) and value.lower() not in _NOT_WORDS:
            return value
        case str():
            return f'"{_escaped(value)}"'
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            return json.dumps(value)


def _escaped(text: str) -> str:
    """Return a text for double quotes in YAML; \\x, \\u and \\U mean the same there."""
    return printable(text.replace("\\", "\\\\").replace('"', '\\"'))
