"""The settings as they were loaded: their values, where each comes from, and what was wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from ollm_tui.settings.locations import Locations
from ollm_tui.settings.schema import Settings
from ollm_tui.settings.warning import SettingsWarning

KeyPath = tuple[str, ...]
"""A key by its names from the root, as in files: ("compression", "threshold")."""
Layer = Literal["default", "user", "project", "environment", "argument"]


class Source(msgspec.Struct, frozen=True):
    """Where the value of a key comes from."""

    layer: Layer
    place: str
    """FILE:LINE, the environment variable, or the argument."""


class Loaded(msgspec.Struct, frozen=True):
    """The settings, with their sources and the warnings about them."""

    settings: Settings
    warnings: tuple[SettingsWarning, ...]
    sources: Mapping[KeyPath, Source]
    """Where each key comes from; keys at their default are left out."""
    locations: Locations
