"""The settings and the sessions as commands need them: no provider, and nothing too early."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_tui.core.session import SessionSummary
from ollm_tui.services.session_catalogue import SessionCatalogue
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings
from ollm_tui.storage.index import SessionIndex
from ollm_tui.storage.layout import StoreLayout

if TYPE_CHECKING:
    from ollm_tui.services.session_library import SessionLibrary


def load() -> Loaded:
    """The settings in force; what is wrong with them goes to the error stream, a line each."""
    loaded = load_settings(os.environ, Path.cwd(), {})
    for warning in loaded.warnings:
        sys.stderr.write(f"ollm: warning: {warning}\n")
    return loaded


def open_library() -> SessionLibrary:
    """The sessions of the store in force, to be read and changed."""
    from ollm_tui.services.session_library import SessionLibrary

    return SessionLibrary.at(_layout())


def open_catalogue() -> SessionCatalogue:
    """The same sessions, to be listed; one is only opened if it changed since the last time."""
    layout = _layout()

    def read(session_id: str) -> SessionSummary:
        from ollm_tui.services.session_library import SessionLibrary

        return SessionLibrary.at(layout).summary(session_id)

    return SessionCatalogue(layout, SessionIndex(layout.index), read)


def _layout() -> StoreLayout:
    loaded = load()
    return StoreLayout(loaded.locations.sessions(loaded.settings))
