"""All settings from all places: default < user < project < environment < arguments.

Nothing in a file or variable can keep the program from starting; what is wrong with them
comes back as warnings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from ollm_tui.settings.aliases import resolved
from ollm_tui.settings.config_file import UnusableFile, read_config
from ollm_tui.settings.environment_source import read_environment, text_given
from ollm_tui.settings.given import Assignment, Given, GivenList
from ollm_tui.settings.keys import KeyPath, is_branch, shape
from ollm_tui.settings.layering import Layer, Layering, Source
from ollm_tui.settings.locations import Locations, find_locations
from ollm_tui.settings.schema import Settings
from ollm_tui.settings.suggestions import unknown_key
from ollm_tui.settings.warning import SettingsWarning, dotted, printable

MAX_WARNINGS_PER_FILE = 50


class Loaded(msgspec.Struct, frozen=True):
    """The settings, and what there is to say about them."""

    settings: Settings
    warnings: tuple[SettingsWarning, ...]
    sources: Mapping[KeyPath, Source]
    """Where each key comes from; keys at their default are not named."""
    locations: Locations


def load_settings(environ: Mapping[str, str], cwd: Path, arguments: Mapping[str, object]) -> Loaded:
    """The effective settings. SettingsError only where there is no home directory.

    `arguments` maps dotted keys ("retention.mode") to values; None is "not given".
    """
    places = find_locations(environ, cwd)
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
    earlier, layering.warnings = layering.warnings, []
    try:
        text = read_config(path)
        if text is not None:
            from ollm_tui.settings.yaml_source import (  # noqa: PLC0415 - yaml is slow to import
                read_yaml,
            )

            _take(layering, layer, *read_yaml(text, file))
    except UnusableFile as error:
        problem = f"{error.problem}; the file is skipped"
        layering.warnings.append(SettingsWarning(file, error.line, "", problem))
    layering.warnings = earlier + _bounded(layering.warnings)


def _bounded(warnings: list[SettingsWarning]) -> list[SettingsWarning]:
    """The warnings of one file by line, as many as somebody would read."""
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
