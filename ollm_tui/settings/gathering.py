"""Gathering settings from files, environment variables and arguments, when there are any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from ollm_tui.settings.config_file import UnusableFile, read_config
from ollm_tui.settings.environment_source import read_environment, text_given
from ollm_tui.settings.given import Assignment, Given, GivenList
from ollm_tui.settings.keys import is_branch, resolved, shape, unknown_key
from ollm_tui.settings.layering import Layering
from ollm_tui.settings.loaded import KeyPath, Layer, Loaded
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.warning import SettingsWarning, dotted, printable

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
