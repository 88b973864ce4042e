"""Settings gathered from files, environment variables and arguments, laid over one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec
from msgspec import NODEFAULT

from ollm_tui.settings.config_file import UnusableFile, read_config
from ollm_tui.settings.environment_source import read_environment, text_given
from ollm_tui.settings.given import Assignment, Given, GivenEntry, GivenList
from ollm_tui.settings.keys import (
    accepts,
    default,
    expectation,
    is_branch,
    nested,
    resolved,
    shape,
    unknown_key,
)
from ollm_tui.settings.loaded import KeyPath, Layer, Loaded, Source
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.project_rules import loosens, may_set
from ollm_tui.settings.schema import Settings
from ollm_tui.settings.warning import (
    SettingsWarning,
    dotted,
    holds_secret,
    place,
    printable,
    quoted,
)


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


MAX_WARNINGS_PER_FILE = 50


def gather(
    places: Locations, environ: Mapping[str, str], arguments: Mapping[str, object]
) -> Loaded:
    """Read all sources and lay them over one another."""
    # Later sources win. Some keys of a project's file are compared with what the user has set.
    layering = Layering(printable(str(places.user_config)))
    _take_file(layering, "user", places.user_config)
    if places.project_config is not None:
        _take_file(layering, "project", places.project_config)
    found, warnings = read_environment(environ)
    _take(layering, "environment", found, warnings)
    found, warnings = _read_arguments(arguments)
    _take(layering, "argument", found, warnings)
    return Loaded(layering.settings(), tuple(layering.warnings), layering.sources(), places)


def _take(
    layering: Layering,
    layer: Layer,
    found: Sequence[Assignment],
    warnings: Sequence[SettingsWarning],
) -> None:
    layering.warnings.extend(warnings)
    for assignment in found:
        layering.take(layer, assignment)


def _take_file(layering: Layering, layer: Layer, path: Path) -> None:
    file = printable(str(path))
    # Collected apart, so that many problems in one file do not hide those of another.
    earlier, layering.warnings = layering.warnings, []
    try:
        text = read_config(path)
        if text is not None:
            # yaml is slow to import
            from ollm_tui.settings.yaml_source import read_yaml

            _take(layering, layer, *read_yaml(text, file))
    except UnusableFile as error:
        problem = f"{error.problem}; the file is skipped"
        layering.warnings.append(SettingsWarning(file, error.line, "", problem))
    layering.warnings = earlier + _bounded(layering.warnings)


def _bounded(warnings: list[SettingsWarning]) -> list[SettingsWarning]:
    """Sort the warnings of one file by line and keep as many as a person would read."""
    ordered = sorted(warnings, key=lambda warning: warning.line or 0)
    surplus = len(ordered) - MAX_WARNINGS_PER_FILE
    if surplus <= 0:
        return ordered
    more = SettingsWarning(ordered[0].source, None, "", f"{surplus} more problems")
    return [*ordered[:MAX_WARNINGS_PER_FILE], more]


def _read_arguments(
    arguments: Mapping[str, object],
) -> tuple[list[Assignment], list[SettingsWarning]]:
    found: list[Assignment] = []
    warnings: list[SettingsWarning] = []
    for key, value in arguments.items():
        path: KeyPath = ()
        for name in key.split("."):
            path = resolved(path, name)
        if value is None:
            continue
        if shape(path) is None or is_branch(path):
            warnings.append(SettingsWarning("arguments", None, dotted((key,)), unknown_key(path)))
        else:
            found.append(Assignment(path, key, _argument_given(path, value), "arguments"))
    return found, warnings


def _argument_given(path: KeyPath, value: object) -> Given:
    if isinstance(value, list | tuple):
        return GivenList(tuple(map(str, cast(Sequence[object], value))))
    return text_given(path, str(value), quoted=True)
