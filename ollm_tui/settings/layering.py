"""Laying the sources of settings over one another, one key at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec
from msgspec import NODEFAULT

from ollm_tui.settings.given import Assignment, GivenEntry
from ollm_tui.settings.keys import accepts, default, expectation, nested, shape
from ollm_tui.settings.loaded import KeyPath, Layer, Source
from ollm_tui.settings.project_rules import loosens, may_set
from ollm_tui.settings.schema import Settings
from ollm_tui.settings.warning import SettingsWarning, dotted, holds_secret, place, quoted


class Layering:
    """Builds the settings key by key: later layers win, and a bad key costs only itself."""

    def __init__(self, user_config: str) -> None:
        self.warnings: list[SettingsWarning] = []
        self._user_config = user_config
        self._values: dict[KeyPath, object] = {}
        self._sources: dict[KeyPath, Source] = {}

    def take(self, layer: Layer, assignment: Assignment) -> None:
        """Lay one key over what is there, or add a warning why not."""
        path = assignment.path
        if layer == "project" and not may_set(path):
            # The fields of an entry are refused one by one; the entry needs no warning.
            if not isinstance(assignment.given, GivenEntry):
                self._warn(assignment, self._refusal("set", path))
            return
        fitting = [value for value in assignment.given.readings() if accepts(path, value)]
        if not fitting:
            self._warn(assignment, self._misfit(assignment))
        elif layer == "project" and loosens(path, fitting[0], self._current(path)):
            self._warn(assignment, self._refusal("loosen", path))
        else:
            self._values[path] = fitting[0]
            in_file = assignment.line is not None
            where = place(assignment.source, assignment.line) if in_file else assignment.written
            self._sources[path] = Source(layer, where)

    def settings(self) -> Settings:
        """Return everything taken so far, with defaults for the rest."""
        if not self._values:  # the usual case; the first conversion costs milliseconds
            return Settings()
        return msgspec.convert(nested(self._values), Settings)

    def sources(self) -> Mapping[KeyPath, Source]:
        """Return where each key comes from; keys at their default are left out."""
        return dict(self._sources)

    def _current(self, path: KeyPath) -> object:
        return self._values.get(path, default(path))

    def _refusal(self, verb: str, path: KeyPath) -> str:
        return f"a project file may not {verb} {dotted(path)}; put it into {self._user_config}"

    def _misfit(self, assignment: Assignment) -> str:
        path, current = assignment.path, self._current(assignment.path)
        problem = f"expected {expectation(shape(path))}"
        if holds_secret(path):
            return f"{problem}; it is ignored"
        problem += f", found {assignment.given.described()}"
        if current is NODEFAULT:
            return f"{problem}; it is ignored"
        return f"{problem}; using {_shown(current)}"

    def _warn(self, assignment: Assignment, problem: str) -> None:
        warning = SettingsWarning(assignment.source, assignment.line, assignment.written, problem)
        self.warnings.append(warning)


def _shown(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case tuple():
            return quoted(", ".join(map(str, cast(tuple[object, ...], value))))
        case str():
            return quoted(value)
        case _:
            return str(value)
