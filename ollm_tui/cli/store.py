"""Opening the settings and the stored sessions for commands, without providers and as late as
possible.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ollm_tui.core.errors import SettingsError
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.warning import SettingsWarning, printable
from ollm_tui.storage.store_layout import StoreLayout, make_private

if TYPE_CHECKING:
    from ollm_tui.core.session.session import SessionSummary
    from ollm_tui.services.sessions.session_catalogue import SessionCatalogue
    from ollm_tui.services.sessions.session_library import SessionLibrary


def read_settings() -> Loaded:
    """Load the settings for the current directory. SettingsError if it or the home is missing."""
    try:
        here = Path.cwd()
    except FileNotFoundError as error:
        raise SettingsError(
            "the current directory no longer exists", "change to another one"
        ) from error
    return load_settings(os.environ, here, {}, _trusts)


def shut_out_others(loaded: Loaded) -> Loaded:
    """Shut a data folder that others can look into; the settings then have a warning of it."""
    home = loaded.locations.home
    if not make_private(home):
        return loaded
    told = "was readable by others; now private"
    warning = SettingsWarning("data folder", None, printable(str(home)), told)
    return msgspec.structs.replace(loaded, warnings=(*loaded.warnings, warning))


def load() -> Loaded:
    """Load the settings and print a line on the error stream for each thing wrong with them."""
    loaded = shut_out_others(read_settings())
    warn_of(loaded)
    return loaded


def warn_of(loaded: Loaded) -> None:
    """Print a line on the error stream for each thing wrong with the user's settings."""
    for warning in loaded.warnings:
        sys.stderr.write(f"ollm: warning: {warning}\n")


def tell_of_project(loaded: Loaded) -> None:
    """Print one line on the error stream if the project has settings that do not count."""
    if loaded.project and loaded.project.notice:
        hint = " (open ollm here to review them)" if loaded.project.awaits_answer else ""
        sys.stderr.write(f"ollm: {loaded.project.notice}{hint}\n")


def open_library(loaded: Loaded | None = None) -> SessionLibrary:
    """Open the stored sessions for reading and changing."""
    from ollm_tui.services.safety.encryption import cipher_for
    from ollm_tui.services.sessions.session_library import SessionLibrary

    loaded = loaded or load()
    home = loaded.locations.home
    cipher = cipher_for(loaded.settings, home, os.environ, passphrase_prompt())
    return SessionLibrary.at(
        _layout(loaded),
        cipher,
        keeps_outputs=loaded.settings.retention.store_tool_outputs,
        most_megabytes=loaded.settings.sessions.max_megabytes,
        memory=home,
    )


def open_catalogue() -> SessionCatalogue:
    """Open the stored sessions for listing; only those that changed since last time are read."""
    # Late: the chat reads its settings here, and shows its screen before it looks at the store.
    from ollm_tui.services.sessions.session_catalogue import SessionCatalogue
    from ollm_tui.storage.sessions.session_index import SessionIndex

    loaded = load()
    # With encryption a cipher is needed, which only the library brings along.
    if loaded.settings.retention.encrypt_at_rest:
        return open_library(loaded).catalogue
    layout = _layout(loaded)

    # The library is imported only if a session has to be read: mostly the index has them all.
    def read(session_id: str) -> SessionSummary:
        from ollm_tui.services.sessions.session_library import SessionLibrary

        return SessionLibrary.at(layout).summary(session_id)

    return SessionCatalogue(layout, SessionIndex(layout.index), read)


def passphrase_prompt() -> Callable[[str], str] | None:
    """Return the function that asks for a passphrase; None without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    from getpass import getpass

    return getpass


def _trusts(places: Locations, digest: str) -> bool | None:
    # Imported late: most folders have no settings of their own.
    from ollm_tui.services.safety.project_trust import Trust

    return Trust(places.home).accepts_settings(places.project, digest)


def _layout(loaded: Loaded) -> StoreLayout:
    return StoreLayout(loaded.locations.sessions(loaded.settings))
