"""Finds the session that is meant by what was typed after a command."""

from __future__ import annotations

from ollm_tui.core.errors import OllmError, SessionNotFound
from ollm_tui.core.intake import visible
from ollm_tui.tui.browser.words import F3_LISTS_ALL
from ollm_tui.tui.chat.port import ChatPort


async def named_session(chat: ChatPort, name: str) -> str:
    """Return the session that is meant: by the beginning of its id, else the latest one whose
    title has these words. SessionNotFound if there is none."""
    try:
        return await chat.app.workspace.find(name)
    except OllmError:
        words = name.lower().split()
        for session in await chat.app.workspace.sessions():
            if all(word in session.title.lower() for word in words):
                return session.session_id
    raise SessionNotFound(f"No session {visible(name)!r}", F3_LISTS_ALL)
