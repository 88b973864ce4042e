"""The settings as entries for the screen: each key with its value, its source and its help."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sized
from functools import reduce
from typing import Any, NamedTuple

import msgspec
from msgspec.inspect import BoolType, LiteralType

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible
from ollm_tui.settings.environment_source import text_given
from ollm_tui.settings.keys import (
    accepts,
    default,
    expectation,
    is_branch,
    is_table,
    names_below,
    shape,
)
from ollm_tui.settings.keys import takes_list as holds_list
from ollm_tui.settings.loaded import KeyPath, Loaded, Source
from ollm_tui.settings.resources import default_config
from ollm_tui.settings.user_file import Scalar

GENERAL = "general"
"""The group of keys that are in no group."""
_COMMENT = re.compile(r" *# (.+)")
_KEY = re.compile(r"( *)([A-Za-z]+):")


class SettingEntry(NamedTuple):
    """One key of the settings with its value."""

    path: KeyPath
    value: object
    source: Source | None
    """Where the value comes from; None is the default."""
    help: str

    @property
    def key(self) -> str:
        """The key as it is written: ui.theme."""
        return ".".join(self.path)

    @property
    def group(self) -> str:
        """The part of the settings it belongs to."""
        return self.path[0] if len(self.path) > 1 else GENERAL

    @property
    def options(self) -> tuple[str, ...]:
        """The values that are allowed, where they can be listed."""
        kind = shape(self.path)
        return tuple(map(str, kind.values)) if isinstance(kind, LiteralType) else ()

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return isinstance(shape(self.path), BoolType)

    @property
    def only_in_file(self) -> bool:
        """Whether it is a list or a table, which are changed with an editor."""
        return is_table(self.path) or holds_list(self.path)

    @property
    def is_ours(self) -> bool:
        """Whether the user's file decides, and nothing that overrides it."""
        return self.source is None or self.source.layer == "user"

    @property
    def is_changed(self) -> bool:
        """Whether it is not at its default; a table is, where anything is in it."""
        if self.source is None or is_table(self.path):
            return self.source is not None
        return shown(self.value) != shown(default(self.path))

    def origin(self) -> str:
        """Return the default and where the value comes from, in words."""
        if self.only_in_file and is_table(self.path):
            return "no default"
        usual = f"default {shown(default(self.path))}"
        return usual if self.source is None else f"{usual}, set in {visible(self.source.place)}"

    def problem(self, text: str) -> str:
        """Return what is wrong with a text as a value of this key; empty if it fits."""
        return "" if self._fitting(text) else f"expected {expectation(shape(self.path))}"

    def value_of(self, text: str) -> Scalar:
        """Return the value that a text means for this key; the text has to fit."""
        return self._fitting(text)[0]

    def _fitting(self, text: str) -> list[Any]:
        readings = text_given(self.path, text).readings()
        return [value for value in readings if accepts(self.path, value)]


def setting_entries(loaded: Loaded) -> list[SettingEntry]:
    """Return every key, group by group; those of no group first."""
    tree = msgspec.to_builtins(loaded.settings)
    help_lines = _help_lines()
    entries = [
        SettingEntry(
            path,
            reduce(lambda branch, name: branch[name], path, tree),
            loaded.sources.get(path),
            help_lines.get(path, ""),
        )
        for path in _keys()
    ]
    return sorted(entries, key=lambda entry: len(entry.path) > 1)


def shown(value: object) -> str:
    """Return a value as it would be written."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list() | tuple():
            return visible(", ".join(map(str, value))) or "none"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] any list is shown
        case _:
            return visible(str(value))


def shown_briefly(entry: SettingEntry) -> str:
    """Return a value for a line of the list; of lists and tables the number of entries."""
    if entry.only_in_file and isinstance(entry.value, Sized):
        count = len(entry.value)
        return counted(count, "entry", "entries") if count else "none"
    return shown(entry.value)


def _keys(below: KeyPath = ()) -> Iterator[KeyPath]:
    for name in names_below(below):
        path = (*below, name)
        if is_branch(path) and not is_table(path):
            yield from _keys(path)
        else:
            yield path


def _help_lines() -> Mapping[KeyPath, str]:
    """Return the comment over each key in the file of all defaults."""
    found: dict[KeyPath, str] = {}
    path: KeyPath = ()
    comment = ""
    for line in default_config().read_text(encoding="utf-8").splitlines():
        if match := _KEY.match(line):
            path = (*path[: len(match[1]) // 2], match[2])
            found[path] = comment
        comment = words[1] if (words := _COMMENT.fullmatch(line)) else ""
    return found
