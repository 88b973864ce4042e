"""The settings and the library of sessions, as the commands need them: without a provider."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ollm_tui.services.session_library import SessionLibrary
from ollm_tui.settings.loader import Loaded, load_settings
from ollm_tui.storage.layout import StoreLayout


def load() -> Loaded:
    """The settings in force; what is wrong with them goes to the error stream, a line each."""
    loaded = load_settings(os.environ, Path.cwd(), {})
    for warning in loaded.warnings:
        sys.stderr.write(f"ollm: warning: {warning}\n")
    return loaded


def open_library() -> SessionLibrary:
    """The sessions of the store in force."""
    loaded = load()
    return SessionLibrary.at(StoreLayout(loaded.locations.sessions(loaded.settings)))
