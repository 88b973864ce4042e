"""Settings gathered from files, environment variables and arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from ollm_tui.settings.config_file import UnusableFile, read_config
from ollm_tui.settings.environment_source import read_environment, text_given
from ollm_tui.settings.given import Assignment, Given, GivenList
from ollm_tui.settings.keys import is_branch, resolved, shape, unknown_key
from ollm_tui.settings.layering import Layering
from ollm_tui.settings.loaded import KeyPath, Layer, Loaded, ProjectSettings, Trusts
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.project_proposal import propose
from ollm_tui.settings.warning import SettingsWarning, dotted, printable

MAX_WARNINGS_PER_FILE = 50

Read = tuple[list[Assignment], list[SettingsWarning]]
"""What a source sets, and what of it cannot be read."""


def gather(
    places: Locations,
    environ: Mapping[str, str],
    arguments: Mapping[str, object],
    trusts: Trusts | None = None,
) -> Loaded:
    """Read all sources and lay them over one another; later ones win."""
    layering = Layering()
    _take(layering, "user", _read_file(places.user_config))
    layering.warnings = _bounded(layering.warnings)
    project = None
    if places.project_config is not None and any(read := _read_file(places.project_config)):
        # Compared with what the user has set, and counted only if they agreed to it.
        proposal = propose(layering, *read)
        answer = trusts(places, proposal.digest) if trusts and proposal.changes else None
        file = printable(str(places.project_config))
        problems = tuple(_bounded(proposal.problems))
        project = ProjectSettings(file, proposal.digest, answer, proposal.changes, problems)
        if answer:
            layering = proposal.accepted
    _take(layering, "environment", read_environment(environ))
    _take(layering, "argument", _read_arguments(arguments))
    settings, sources = layering.settings(), layering.sources()
    return Loaded(settings, tuple(layering.warnings), sources, places, project)


def _take(layering: Layering, layer: Layer, read: Read) -> None:
    found, warnings = read
    layering.warnings.extend(warnings)
    for assignment in found:
        layering.take(layer, assignment)


def _read_file(path: Path) -> Read:
    file = printable(str(path))
    try:
        text = read_config(path)
        if text is None:
            return [], []
        # yaml is slow to import
        from ollm_tui.settings.yaml_source import read_yaml

        return read_yaml(text, file)
    except UnusableFile as error:
        problem = f"{error.problem}; the file is skipped"
        return [], [SettingsWarning(file, error.line, "", problem)]


def _bounded(warnings: list[SettingsWarning]) -> list[SettingsWarning]:
    """Sort the warnings of one file by line and keep as many as a person would read."""
    ordered = sorted(warnings, key=lambda warning: warning.line or 0)
    surplus = len(ordered) - MAX_WARNINGS_PER_FILE
    if surplus <= 0:
        return ordered
    more = SettingsWarning(ordered[0].source, None, "", f"{surplus} more problems")
    return [*ordered[:MAX_WARNINGS_PER_FILE], more]


def _read_arguments(arguments: Mapping[str, object]) -> Read:
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
