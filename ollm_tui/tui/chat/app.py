"""The program itself: leaving it, for good or for a while."""

from __future__ import annotations

from ollm_tui.tui.chat.screen import ChatScreen


async def leave(chat: ChatScreen, _argument: str) -> None:
    """Leave; everything said is on disk already."""
    await chat.app.action_quit()


def suspend(chat: ChatScreen, _argument: str) -> None:
    """Back to the shell; fg brings the program back."""
    chat.app.action_suspend_process()
