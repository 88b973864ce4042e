"""Repair: what can be read of a damaged session, copied into a new one."""

from __future__ import annotations

from ollm_tui.core.errors import SessionDamaged, SessionNotFound
from ollm_tui.core.session.session import new_session_id
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.sessions.salvage import salvage


def repair(library: SessionLibrary, session_id: str) -> str | None:
    """The id of the copy; None if nothing could be read. The damaged files stay as they are."""
    session = salvage(library.store.layout, session_id, new_session_id())
    return library.add(session) if session else None


def damaged(library: SessionLibrary) -> list[str]:
    """The sessions that cannot be read, or of which a file cannot."""
    found: list[str] = []
    for name in library.store.directory.fingerprints():
        try:
            if library.load(name).damaged:
                found.append(name)
        except SessionDamaged:
            found.append(name)
        except SessionNotFound:
            continue  # gone by now, or it never began
    return found
