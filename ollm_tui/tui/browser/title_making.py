"""Titles made by the model: when asked for, or by themselves while it has nothing else to do."""

from __future__ import annotations

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.engine.conversation.title_request import (
    is_capable,
    is_named_by_hand,
    suggested_title,
)
from ollm_tui.tui.chat.port import ChatPort

AUTO = "--auto"
TITLE = "title"
"""The group of workers that ask for titles: what is sent cancels them."""


async def make_title(chat: ChatPort) -> None:
    """Ask the model for a title and use it. UsageError or ProviderError if that fails."""
    conversation = chat.conversation
    title = await suggested_title(conversation)
    await chat.app.workspace.rename(conversation.session_id, title)
    chat.lines.show_facts()
    chat.reload_sidebar()
    chat.tell(f"Renamed to {visible(title)}")


def title_when_idle(chat: ChatPort) -> None:
    """Have a session named after its first turn; a title given by hand stays, as does the one from
    the first words where the model fails."""
    conversation = chat.conversation
    is_first = sum(each.role == "user" for each in conversation.state.branch()) == 1
    if is_first and is_capable(conversation) and not is_named_by_hand(conversation):
        chat.screen.run_worker(_quietly(chat), group=TITLE, exclusive=True)


async def _quietly(chat: ChatPort) -> None:
    try:
        await make_title(chat)
    except OllmError:
        return
