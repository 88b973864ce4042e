"""The commands for sessions and snapshots: begin, open, rename, pin, save, export, go back."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Message
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.services.export.export_file import export_to
from ollm_tui.tui.browser.screen import SessionBrowser
from ollm_tui.tui.browser.session_actions import SessionActions
from ollm_tui.tui.browser.session_name import named_session
from ollm_tui.tui.browser.sidebar import ChatSidebar
from ollm_tui.tui.browser.title_making import AUTO, TITLE, make_title
from ollm_tui.tui.browser.words import (
    ALT_UP_SELECTS_ONE,
    ASK_THE_DOCTOR,
    ASKING_FOR_A_TITLE,
    EXPORT_INSTEAD,
    IS_EPHEMERAL,
    NO_MESSAGE_SELECTED,
    NOTHING_TO_EXPORT_YET,
    NOTHING_TO_SAVE_YET,
    RESTORE_LISTS_ALL,
    SEND_FIRST,
    TITLE_OF_THIS_SESSION,
    snapshot_name,
)
from ollm_tui.tui.chat.chat_points import ChatPoints, end_before_turn, end_of_turn
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.kit.question import Question

SHORT_ID = 8
"""Characters of an id that are enough to find a session by."""
LONGEST_NAME = 60
"""Characters of the name of an exported file."""


async def new(chat: ChatPort, _argument: str) -> None:
    """Begin another conversation with the model that answers now."""
    choice = chat.opened and chat.opened.choice

    async def begin() -> tuple[Conversation, tuple[str, ...]]:
        workspace = chat.app.workspace
        if choice is None:
            return await workspace.begin(), ()
        return await workspace.begin(provider=choice.provider.name, model=choice.model), ()

    chat = await chat.switch(begin)
    chat.prompt.focus()


async def clear(chat: ChatPort, _argument: str) -> None:
    """Begin another conversation, by the name other programs have for it; nothing is deleted."""
    left = chat.opened
    await new(chat, "")
    if left and len(left.state) and left.is_kept:
        kept = f"New session · /load {left.session_id[:SHORT_ID]} reopens the last one"
        chat.screen.call_after_refresh(chat.front().tell, kept)


def picker(chat: ChatPort, _argument: str) -> None:
    """Look through all sessions and snapshots, and go to one."""
    open_browser(chat)


def open_browser(chat: ChatPort, *, at_snapshots: bool = False) -> None:
    """Open the browser, at the snapshots of this session if that is wanted."""
    conversation = chat.opened
    current = conversation.session_id if conversation else None

    points = ChatPoints(chat)

    def show_changes(_: None) -> None:
        chat.lines.show_facts()
        chat.reload_sidebar()
        points.offer_files()

    browser = SessionBrowser(_actions(chat), points, current, at_snapshots=at_snapshots)
    chat.ask(browser, show_changes)


async def load(chat: ChatPort, argument: str) -> None:
    """Open a session by its id or the words of its title, or choose one."""
    if argument:
        await chat.open_session(await named_session(chat, argument))
    else:
        picker(chat, "")


async def sidebar(chat: ChatPort, argument: str) -> None:
    """Show the sessions beside the stream and go there; from there, hide them.

    `as-before` shows them as they were left: the prompt keeps the focus, and on a narrow
    terminal, where they would stand in the place of the conversation, nothing is shown.
    """
    if argument == "as-before":
        if not chat.screen.has_class("narrow") and not chat.screen.query(ChatSidebar):
            await _show_sidebar(chat)
            is_unasked = chat.app.memory.sidebar_is_open() is None
            chat.screen.query_one(ChatSidebar).set_class(is_unasked, "-unasked")
        return
    is_left_alone = any(
        pane.display and not pane.has_focus_within for pane in chat.screen.query(ChatSidebar)
    )
    is_open = is_left_alone or await _show_sidebar(chat)
    chat.screen.query_one(ChatSidebar).remove_class("-unasked")
    if is_open:
        chat.screen.query_one(ChatSidebar).begin()
    else:
        chat.prompt.focus()
    await asyncio.to_thread(chat.app.memory.keep_sidebar, is_open)


async def _show_sidebar(chat: ChatPort) -> bool:
    """Show the sidebar, or hide it if it is shown; returns whether it is shown now."""
    if not chat.screen.query(ChatSidebar):
        pane = ChatSidebar(chat.front, _actions(chat), unicode=chat.app.abilities.unicode)
        await chat.mount_beside(pane, first=True)
        pane.display = False
    pane = chat.screen.query_one(ChatSidebar)
    pane.display = not pane.display
    pane.set_class(pane.display, "-shown")
    chat.screen.set_class(pane.display, "with-sidebar")
    chat.reload_sidebar()
    return pane.display


async def rename(chat: ChatPort, argument: str) -> None:
    """Give this session another title; --auto has the model make one."""
    conversation = chat.conversation
    if argument == AUTO:
        chat.tell(ASKING_FOR_A_TITLE)
        chat.screen.run_worker(chat.attempt(lambda: make_title(chat)), group=TITLE)
        return

    async def use(title: str | None) -> None:
        if title is not None:
            await chat.app.workspace.rename(conversation.session_id, title)
            chat.lines.show_facts()
            chat.reload_sidebar()

    if argument:
        await use(argument)
        return

    async def attempt(title: str | None) -> None:
        await chat.attempt(lambda: use(title))

    title = visible(conversation.state.header.title)
    chat.ask(Question(TITLE_OF_THIS_SESSION, title, "rename"), attempt)


async def star(chat: ChatPort, _argument: str) -> None:
    """Pin this session, so that it stays on top and is never cleaned up; or no longer."""
    pinned = not chat.conversation.state.header.pinned
    await chat.app.workspace.pin(chat.conversation.session_id, pinned)
    chat.reload_sidebar()
    kept = ", never cleaned up" if chat.conversation.is_kept else ""
    chat.tell(f"Pinned: stays on top{kept}" if pinned else "Unpinned")


async def save(chat: ChatPort, _argument: str) -> None:
    """Write everything into the session file, also what could not be written so far."""
    conversation = chat.conversation
    if not len(conversation.state):
        raise UsageError(NOTHING_TO_SAVE_YET, SEND_FIRST)
    if not conversation.is_kept:
        raise UsageError(IS_EPHEMERAL, EXPORT_INSTEAD)
    await conversation.save()
    if conversation.unsaved:
        raise StoreError(f"{conversation.unsaved} records still unsaved", ASK_THE_DOCTOR)
    chat.lines.unsaved = ""
    chat.lines.show_saving()
    chat.tell("Saved")


async def export(chat: ChatPort, argument: str) -> None:
    """Write the conversation into a file; its ending says in which form."""
    conversation = chat.conversation
    if not len(conversation.state):
        raise UsageError(NOTHING_TO_EXPORT_YET, SEND_FIRST)
    name = argument or file_name(conversation.state.header.title, conversation.session_id)
    state = conversation.state
    keeps_outputs = chat.app.loaded.settings.retention.store_tool_outputs
    host = chat.app.workspace.additions.extensions
    file = await export_to(
        name,
        state.session(),
        state.branch(),
        keeps_outputs=keeps_outputs,
        further=host.export if host else None,
    )
    chat.tell(f"Exported to {visible(str(file))}")


def file_name(title: str, session_id: str) -> str:
    """Return a name for the file of a session: its title in plain letters, else its id."""
    letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:LONGEST_NAME].rstrip("-")
    return f"{words or session_id[:SHORT_ID]}.md"


def _actions(chat: ChatPort) -> SessionActions:
    """Return the actions all lists share: what one deleted, another can bring back."""
    return chat.app.part(SessionActions, lambda: SessionActions(chat.app.workspace))


async def take(chat: ChatPort, argument: str) -> None:
    """Keep the context as it is, under a name if one is given."""
    taken = await chat.conversation.snapshots.take(argument)
    chat.reload_sidebar()
    key = chat.lines.hints.keys("session.picker")[0]
    name = f" “{visible(taken.name)}”" if taken.name else ""
    chat.tell(f"Snapshot{name} taken · {key} or /restore returns here")


async def restore(chat: ChatPort, argument: str) -> None:
    """Go back to a snapshot of this session, by its name or id; without one, choose."""
    if not argument:
        open_browser(chat, at_snapshots=True)
        return
    found = await _found(chat, argument)
    await ChatPoints(chat).go_to(found)


async def back(chat: ChatPort, _argument: str) -> None:
    """Have the conversation end after the turn of the message under the cursor."""
    await _go(chat, end_of_turn)


async def before(chat: ChatPort, _argument: str) -> None:
    """Have the conversation end before the turn of the message under the cursor."""
    await _go(chat, end_before_turn)


async def _go(chat: ChatPort, end: Callable[[Sequence[Message], str], str]) -> None:
    branch = chat.conversation.state.branch()
    ids = {message.id for message in branch}
    chosen = [key for key in chat.transcript.cursor.keys if key in ids]
    if not chosen:
        raise UsageError(NO_MESSAGE_SELECTED, ALT_UP_SELECTS_ONE)
    point = Point(chat.conversation.session_id, message=end(branch, chosen[0]))
    await ChatPoints(chat).go_to(point)


async def _found(chat: ChatPort, words: str) -> Point:
    """Return the snapshot with this name, with this in its name, or whose id begins so.

    UsageError if there is none, or more than one and none has exactly this name.
    """
    own = await chat.conversation.snapshots.list()
    wanted = words.casefold()
    for fits in (_is_called, _has_in_its_name):
        named = [each for each in own if fits(each, wanted)]
        # Of several with the same name the newest is meant; the list begins with it.
        if len(named) == 1 or (named and fits is _is_called):
            return Point(named[0].session_id, named[0].id)
    try:
        return Point(*await chat.app.workspace.snapshots.find(words))
    except StoreError as error:
        hint = RESTORE_LISTS_ALL
        raise UsageError(f"No single snapshot matches {visible(words)!r}", hint) from error


def _is_called(snapshot: SnapshotSummary, words: str) -> bool:
    return snapshot_name(snapshot).casefold() == words


def _has_in_its_name(snapshot: SnapshotSummary, words: str) -> bool:
    return words in snapshot_name(snapshot).casefold()


ACTIONS: Mapping[str, Action] = {
    "snapshot.take": take,
    "snapshot.restore": restore,
    "snapshot.back": back,
    "snapshot.before": before,
    "session.new": new,
    "session.clear": clear,
    "session.picker": picker,
    "session.load": load,
    "session.sidebar": sidebar,
    "session.rename": rename,
    "session.star": star,
    "session.save": save,
    "session.export": export,
}
