"""The command that shows a session beside the one at hand, and what is taken from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.session.graft import grafted
from ollm_tui.core.session.message import Message
from ollm_tui.tui.beside.beside_pane import BesidePane, Taking
from ollm_tui.tui.beside.words import (
    BROUGHT,
    CLOSED,
    EMPTY,
    F3_SHOWS_IT,
    HOW,
    NO_ROOM,
    NO_SESSION_BESIDE_THIS_ONE,
    NOTHING_HERE,
    QUOTED,
)
from ollm_tui.tui.browser.session_name import named_session
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.kit.side_by_side import SideChanged

LEAST_COLUMNS, LEAST_LINES = 100, 30
"""Columns of the terminal for two sessions side by side, and lines for one below the other."""
OFF = "off"


async def beside(chat: ChatPort, argument: str) -> None:
    """Show a session beside the one at hand, by the beginning of its id or words of its title;
    without one, go to the session that is shown, and `off` closes it."""
    panes = chat.screen.query(BesidePane)
    name = argument.strip()
    if name == OFF or (not name and not panes):
        if not panes:
            raise UsageError(NO_SESSION_BESIDE_THIS_ONE, HOW)
        _close(chat, closes=True)
        return
    if not name:
        panes.first().stream.focus()
        return
    is_beside = _has_room_beside(chat)
    session_id = await named_session(chat, name)
    if chat.opened and chat.opened.session_id == session_id:
        raise UsageError(NOTHING_HERE, HOW)
    await panes.remove()
    pane = BesidePane(
        session_id,
        chat.app.workspace.follow(session_id),
        chat.app.transcript_styles,
        lambda taking, messages, source: _take(chat.front(), taking, messages, source),
        lambda closes: _close(chat.front(), closes=closes),
        classes="" if is_beside else "-below",
    )
    if is_beside:
        await chat.mount_beside(pane)
    else:
        await chat.screen.mount(pane, after="#middle")
    pane.stream.focus()


def _has_room_beside(chat: ChatPort) -> bool:
    """Whether two sessions fit side by side; else one below the other. UsageError where neither
    does."""
    width, height = chat.screen.size
    if width < LEAST_COLUMNS and height < LEAST_LINES:
        raise UsageError(NO_ROOM.format(LEAST_COLUMNS, LEAST_LINES), F3_SHOWS_IT)
    return width >= LEAST_COLUMNS


def _take(chat: ChatPort, taking: Taking, messages: Sequence[Message], source: str) -> None:
    """Put messages of the other session into the prompt."""
    if not messages:
        chat.tell(EMPTY)
        return
    prompt = chat.prompt
    written = prompt.written
    if taking == "bring":
        brought = grafted(messages, source, written.attachments)
        prompt.put(written.text, (*written.attachments, *brought))
        chat.tell(BROUGHT)
        return
    lines = [line for each in messages for line in clean(each.text).strip().splitlines()]
    quoted = "\n".join(f"> {line}".rstrip() for line in lines)
    text = f"{written.text.rstrip()}\n\n{quoted}\n\n".lstrip("\n")
    prompt.put(text, written.attachments)
    prompt.focus()
    chat.tell(QUOTED)


def _close(chat: ChatPort, *, closes: bool) -> None:
    """Go back to the prompt; also close what is shown beside it."""
    chat.prompt.focus()
    if closes:
        for pane in chat.screen.query(BesidePane):
            chat.tell(CLOSED.format(pane.title))
            pane.display = False  # removed a moment later
            pane.remove()
            chat.screen.post_message(SideChanged())


ACTIONS: Mapping[str, Action] = {"session.beside": beside}
