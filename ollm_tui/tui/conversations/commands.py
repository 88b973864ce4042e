"""The commands that go from one open conversation to another, and close one."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.core.errors import UsageError
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.chat.welcome import Welcome
from ollm_tui.tui.conversations.standing import Standing
from ollm_tui.tui.conversations.words import (
    CLOSED,
    HOW_TO_OPEN,
    NOBODY_WAITS,
    NOT_WHILE_IT_RUNS,
    ONLY_ONE,
    WHERE_QUESTIONS_ARE,
)
from ollm_tui.tui.kit.words import STOP_FIRST


async def go(chat: ChatPort, argument: str) -> None:
    """Go to an open conversation by its number or words of its title; without them, to the next.
    While the first screen is shown, its numbers count. UsageError if there is none."""
    words = argument.strip().lower()
    if not words:
        await _step(chat, 1)
        return
    if recent := chat.screen.query_one(Welcome).offered(words):
        await chat.open_session(recent)
        return
    opened = chat.standings()
    found = [each for each in opened if words in (str(each.number), each.session_id)]
    found = found or [each for each in opened if words in each.title.lower()]
    if not found:
        names = ", ".join(f"{each.number} {each.title}" for each in opened)
        raise UsageError(f"No open conversation {argument.strip()!r}", f"open: {names}")
    await chat.resume(found[0].session_id)


async def following(chat: ChatPort, _argument: str) -> None:
    """Go to the next open conversation. UsageError if there is no other."""
    await _step(chat, 1)


async def previous(chat: ChatPort, _argument: str) -> None:
    """Go to the open conversation before this one. UsageError if there is no other."""
    await _step(chat, -1)


async def _step(chat: ChatPort, by: int) -> None:
    opened = _several(chat)
    [at] = [number for number, each in enumerate(opened) if each.is_shown] or [-1]
    await chat.resume(opened[(at + by) % len(opened)].session_id)


async def last(chat: ChatPort, _argument: str) -> None:
    """Go to the session that was shown before, also to one that was closed meanwhile. UsageError
    if there is no other."""
    if session_id := chat.shown_before():
        await chat.open_session(session_id)
    else:
        await _step(chat, 1)


async def waiting(chat: ChatPort, _argument: str) -> None:
    """Go to a conversation that waits for an answer to a question. UsageError if none does."""
    asking = [each for each in chat.standings() if each.state == "waits" and not each.is_shown]
    if not asking:
        raise UsageError(NOBODY_WAITS, WHERE_QUESTIONS_ARE)
    await chat.resume(asking[0].session_id)


async def close(chat: ChatPort, _argument: str) -> None:
    """Close this conversation and show the one before it. UsageError while something runs in it,
    or if no other one is open."""
    opened = _several(chat)
    if not chat.is_at_rest:
        raise UsageError(NOT_WHILE_IT_RUNS, STOP_FIRST)
    before = chat.shown_before()
    if before in [each.session_id for each in opened]:
        await chat.resume(before)
    else:
        await _step(chat, -1)
    await chat.release()
    chat.front().tell(CLOSED)


def _several(chat: ChatPort) -> list[Standing]:
    opened = list(chat.standings())
    if len(opened) < 2 and all(each.is_shown for each in opened):
        raise UsageError(ONLY_ONE, HOW_TO_OPEN)
    return opened


ACTIONS: Mapping[str, Action] = {
    "session.go": go,
    "session.following": following,
    "session.previous": previous,
    "session.last": last,
    "session.waiting": waiting,
    "session.close": close,
}
