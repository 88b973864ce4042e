"""Snapshots: take one, go back to one or to a message, and the browser they are found in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Message
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.browser.commands import open_browser
from ollm_tui.tui.browser.snapshot_choices import snapshot_name
from ollm_tui.tui.chat.going_back import ChatPoints, end_before_turn, end_of_turn
from ollm_tui.tui.chat.screen import ChatScreen


async def take(chat: ChatScreen, argument: str) -> None:
    """Keep the context as it is, under a name if one is given."""
    taken = await chat.conversation.snapshots.take(argument)
    chat.reload_sidebar()
    key = chat.lines.hints.keys("session.picker")[0]
    name = f" “{visible(taken.name)}”" if taken.name else ""
    chat.lines.tell(f"snapshot{name} taken: {key} or /restore brings you back here")


async def restore(chat: ChatScreen, argument: str) -> None:
    """Go back to a snapshot of this session, by its name or id; without one, choose."""
    if not argument:
        open_browser(chat, at_snapshots=True)
        return
    found = await _found(chat, argument)
    await ChatPoints(chat).go_to(found)


async def back(chat: ChatScreen, _argument: str) -> None:
    """Have the conversation end after the turn of the message under the cursor."""
    await _go(chat, end_of_turn)


async def before(chat: ChatScreen, _argument: str) -> None:
    """Have the conversation end before the turn of the message under the cursor."""
    await _go(chat, end_before_turn)


async def _go(chat: ChatScreen, end: Callable[[Sequence[Message], str], str]) -> None:
    branch = chat.conversation.state.branch()
    ids = {message.id for message in branch}
    chosen = [key for key in chat.transcript.cursor.keys if key in ids]
    if not chosen:
        raise UsageError("no message is chosen", "Alt+Up moves to one")
    point = Point(chat.conversation.session_id, message=end(branch, chosen[0]))
    await ChatPoints(chat).go_to(point)


async def _found(chat: ChatScreen, words: str) -> Point:
    """The one snapshot that is called so, or whose id begins so."""
    own = await chat.conversation.snapshots.list()
    wanted = words.casefold()
    for fits in (_is_called, _has_in_its_name):
        named = [each for each in own if fits(each, wanted)]
        if len(named) == 1 or (named and fits is _is_called):
            return Point(named[0].session_id, named[0].id)
    try:
        return Point(*await chat.app.workspace.snapshots.find(words))
    except StoreError as error:
        hint = "/restore alone shows all of them"
        raise UsageError(f"there is no one snapshot {visible(words)!r}", hint) from error


def _is_called(snapshot: SnapshotSummary, words: str) -> bool:
    return snapshot_name(snapshot).casefold() == words


def _has_in_its_name(snapshot: SnapshotSummary, words: str) -> bool:
    return words in snapshot_name(snapshot).casefold()
