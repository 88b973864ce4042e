"""What a project's settings file would change, and which of its keys never count."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec
from msgspec import NODEFAULT

from ollm_tui.settings.given import Assignment, GivenEntry, GivenText
from ollm_tui.settings.layering import Layering
from ollm_tui.settings.loaded import SettingsChange
from ollm_tui.settings.project_rules import may_set, refused_matter
from ollm_tui.settings.schema import BUILT_IN_PROVIDERS
from ollm_tui.settings.warning import SHOWN_CHARACTERS, SettingsWarning, printable, quoted


class Proposal(NamedTuple):
    """A project's keys laid over the user's settings, for the user to agree to."""

    accepted: Layering
    """The settings if the user agrees."""
    changes: tuple[SettingsChange, ...]
    """The keys that would have another value."""
    digest: str
    """A hash of all keys that may count and their values; comments make no difference."""
    problems: list[SettingsWarning]
    """Why keys do not count, whatever the user says."""


def propose(
    users: Layering, found: Sequence[Assignment], warnings: Sequence[SettingsWarning]
) -> Proposal:
    """Lay what a project's file sets over the user's settings; `warnings` are about the file."""
    accepted = users.copy()
    accepted.warnings = list(warnings)
    known = ("auto", *BUILT_IN_PROVIDERS, *users.settings().providers)
    for assignment in found:
        if problem := _problem(assignment, known):
            accepted.warn(assignment, problem)
        elif may_set(assignment.path):
            accepted.take("project", assignment)
    problems, accepted.warnings = accepted.warnings, list(users.warnings)
    given, sources = accepted.given_by("project"), accepted.sources()
    in_file = [path for path in dict.fromkeys(each.path for each in found) if path in given]
    changes = tuple(
        SettingsChange(path, _plain(before), _plain(after), sources[path].place)
        for path in in_file
        if (after := given[path]) != {} and (before := users.current(path)) != after
    )
    content = msgspec.json.encode(sorted((".".join(path), value) for path, value in given.items()))
    return Proposal(accepted, changes, sha256(content).hexdigest(), problems)


def _problem(assignment: Assignment, known_providers: Sequence[str]) -> str:
    """Return why a key never counts; empty if it may."""
    path, given = assignment.path, assignment.given
    if not may_set(path):
        # The fields of an entry are refused one by one; the entry needs no words.
        is_entry = isinstance(given, GivenEntry)
        return "" if is_entry else f"refused: a project may not decide {refused_matter(path)}"
    if path == ("provider",) and isinstance(given, GivenText) and given.text not in known_providers:
        known = ", ".join(map(printable, known_providers))
        return f"no provider {quoted(given.text)}; available: {known}"
    return ""


def _plain(value: object) -> str:
    """Return a value as a person would write it, printable and not too long."""
    match value:
        case None:
            text = "none"
        case bool():
            text = "on" if value else "off"
        case tuple():
            text = ", ".join(map(str, value)) or "none"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - any list
        case _:
            text = "none" if value is NODEFAULT else str(value)
    text = printable(text)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
