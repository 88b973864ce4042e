"""The settings as they were loaded: their values, where each comes from, and what was wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from ollm_tui.settings.locations import Locations
from ollm_tui.settings.schema import Settings
from ollm_tui.settings.warning import SettingsWarning, dotted

KeyPath = tuple[str, ...]
"""A key by its names from the root, as in files: ("compression", "threshold")."""
Layer = Literal["default", "user", "project", "environment", "argument"]


class Source(msgspec.Struct, frozen=True):
    """Where the value of a key comes from."""

    layer: Layer
    place: str
    """FILE:LINE, the environment variable, or the argument."""


class SettingsChange(msgspec.Struct, frozen=True):
    """One key that a project's file would change; both values are printable."""

    path: KeyPath
    before: str
    after: str
    place: str
    """FILE:LINE."""

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.before} → {self.after}"


class ProjectSettings(msgspec.Struct, frozen=True):
    """What a project's own file says: what it would change, and what of it never counts."""

    file: str
    digest: str
    """A hash of everything in the file that may count: trust holds for exactly this."""
    is_trusted: bool | None
    """The user's answer about this content; None if there is none yet."""
    changes: tuple[SettingsChange, ...]
    """What is different with it, also while it is not trusted."""
    problems: tuple[SettingsWarning, ...]
    """The keys that are refused, unknown or wrong, with the reason."""

    @property
    def awaits_answer(self) -> bool:
        """Whether the user has to be asked: it would change something, and they were not yet."""
        return self.is_trusted is None and bool(self.changes)

    @property
    def notice(self) -> str:
        """What the user should know of it at the start, in one line; empty if nothing."""
        if self.awaits_answer:
            return "this folder's settings are not used: not trusted yet"
        if self.problems and self.is_trusted is not False:
            return f"{self.file}: some settings are not used; ollm config check shows why"
        return ""


Trusts = Callable[[Locations, str], bool | None]
"""Returns the user's answer about a project's settings with this digest; None if there is none."""


class Loaded(msgspec.Struct, frozen=True):
    """The settings, with their sources and the warnings about them."""

    settings: Settings
    warnings: tuple[SettingsWarning, ...]
    sources: Mapping[KeyPath, Source]
    """Where each key comes from; keys at their default are left out."""
    locations: Locations
    project: ProjectSettings | None = None
    """What the project's own file says; None if it says nothing."""
