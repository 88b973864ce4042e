"""The settings and the sessions as commands need them: no provider, and nothing too early."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_tui.core.errors import SettingsError
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.services.sessions.session_catalogue import SessionCatalogue
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings
from ollm_tui.storage.sessions.session_index import SessionIndex
from ollm_tui.storage.store_layout import StoreLayout

if TYPE_CHECKING:
    from ollm_tui.services.sessions.session_library import SessionLibrary


def read_settings() -> Loaded:
    """The settings in force here. SettingsError if there is no home or no here any more."""
    try:
        here = Path.cwd()
    except FileNotFoundError as error:
        raise SettingsError("the current directory is gone", "go to another one") from error
    return load_settings(os.environ, here, {})


def load() -> Loaded:
    """The same; what is wrong with them goes to the error stream, a line each."""
    loaded = read_settings()
    warn_of(loaded)
    return loaded


def warn_of(loaded: Loaded) -> None:
    """What is wrong with the settings, a line each on the error stream."""
    for warning in loaded.warnings:
        sys.stderr.write(f"ollm: warning: {warning}\n")


def open_library(loaded: Loaded | None = None) -> SessionLibrary:
    """The sessions of the store in force, to be read and changed."""
    from ollm_tui.services.safety.encryption import cipher_for
    from ollm_tui.services.sessions.session_library import SessionLibrary

    loaded = loaded or load()
    home = loaded.locations.home
    cipher = cipher_for(loaded.settings, home, os.environ, passphrase_prompt())
    return SessionLibrary.at(_layout(loaded), cipher)


def open_catalogue() -> SessionCatalogue:
    """The same sessions, to be listed; one is only opened if it changed since the last time."""
    loaded = load()
    if loaded.settings.retention.encrypt_at_rest:
        return open_library(loaded).catalogue
    layout = _layout(loaded)

    def read(session_id: str) -> SessionSummary:
        from ollm_tui.services.sessions.session_library import SessionLibrary

        return SessionLibrary.at(layout).summary(session_id)

    return SessionCatalogue(layout, SessionIndex(layout.index), read)


def passphrase_prompt() -> Callable[[str], str] | None:
    """How to ask for a passphrase; None where nobody is there to be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    from getpass import getpass

    return getpass


def _layout(loaded: Loaded) -> StoreLayout:
    return StoreLayout(loaded.locations.sessions(loaded.settings))
