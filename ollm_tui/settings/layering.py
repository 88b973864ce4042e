"""Settings laid over one another key by key: later layers win, and a bad key costs only itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec
from msgspec import NODEFAULT

from ollm_tui.settings.given import Assignment
from ollm_tui.settings.keys import accepts, default, expectation, nested, shape
from ollm_tui.settings.loaded import KeyPath, Layer, Source
from ollm_tui.settings.schema import Settings
from ollm_tui.settings.variable_patterns import split_patterns
from ollm_tui.settings.warning import SettingsWarning, holds_secret, place, quoted

PATTERN_KEYS: tuple[KeyPath, ...] = (("environment", "allowList"), ("environment", "denyPatterns"))
"""Keys whose items are patterns for names of variables."""


class Layering:
    """The settings taken so far, where each comes from, and what could not be taken."""

    def __init__(self) -> None:
        self.warnings: list[SettingsWarning] = []
        self._values: dict[KeyPath, object] = {}
        self._sources: dict[KeyPath, Source] = {}

    def take(self, layer: Layer, assignment: Assignment) -> None:
        """Lay one key over what is there, or add a warning why not."""
        path = assignment.path
        fitting = [value for value in assignment.given.readings() if accepts(path, value)]
        if not fitting:
            self.warn(assignment, self._misfit(assignment))
            return
        self._values[path] = fitting[0]
        in_file = assignment.line is not None
        where = place(assignment.source, assignment.line) if in_file else assignment.written
        self._sources[path] = Source(layer, where)
        if path in PATTERN_KEYS:
            self._check_patterns(assignment, cast(tuple[str, ...], fitting[0]))

    def settings(self) -> Settings:
        """Return everything taken so far, with defaults for the rest."""
        if not self._values:  # the usual case; the first conversion costs milliseconds
            return Settings()
        return msgspec.convert(nested(self._values), Settings)

    def sources(self) -> Mapping[KeyPath, Source]:
        """Return where each key comes from; keys at their default are left out."""
        return dict(self._sources)

    def current(self, path: KeyPath) -> object:
        """Return the value of a key so far; NODEFAULT for an entry of a table that is not there."""
        return self._values.get(path, default(path))

    def copy(self) -> Layering:
        """Return another one with the same values and no warnings."""
        other = Layering()
        other._values, other._sources = dict(self._values), dict(self._sources)
        return other

    def given_by(self, layer: Layer) -> dict[KeyPath, object]:
        """Return the values that come from a layer."""
        return {path: self._values[path] for path, at in self._sources.items() if at.layer == layer}

    def warn(self, assignment: Assignment, problem: str) -> None:
        """Add a warning about one key of a source."""
        warning = SettingsWarning(assignment.source, assignment.line, assignment.written, problem)
        self.warnings.append(warning)

    def _misfit(self, assignment: Assignment) -> str:
        path, current = assignment.path, self.current(assignment.path)
        problem = f"expected {expectation(shape(path))}"
        if holds_secret(path):
            return f"{problem}; it is ignored"
        problem += f", found {assignment.given.described()}"
        if current is NODEFAULT:
            return f"{problem}; it is ignored"
        return f"{problem}; using {_shown(current)}"

    def _check_patterns(self, assignment: Assignment, patterns: tuple[str, ...]) -> None:
        _, bad = split_patterns(patterns)
        if bad:
            names = quoted(", ".join(bad))
            self.warn(
                assignment,
                f"{names} can be no name of a variable, not even with * and ?; "
                "the default patterns are used in its place",
            )


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
