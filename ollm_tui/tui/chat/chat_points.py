"""Going to another point of a session and back, and bringing messages along from there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import (
    SessionDamaged,
    SessionNotFound,
    SessionReadOnly,
    StoreError,
    UsageError,
)
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.graft import grafted
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Restore
from ollm_tui.core.session.session_state import recorded_calls
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.chat.files_back import at_message, offer_files
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.chat.words import (
    ALREADY_THERE,
    CHOOSE_A_SNAPSHOT,
    CHOOSE_AN_EARLIER_POINT,
    FORKED,
    MESSAGE_GONE,
    NEW_SESSION_INSTEAD,
    NO_UNDO_RESTORE,
    NOTHING_BEFORE_THAT_MESSAGE,
    SEARCH_AGAIN,
    SESSION_DELETED,
    UNDO_RESTORE,
)
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.stream.entries.message_entries import said_before, shown_at
from ollm_tui.tui.stream.transcript.spots import Words

LONGEST_TITLE, LEAST_TITLE = 40, 12
"""The most and the least characters that the title of a snapshot may take."""
BESIDE_TITLE = 46
"""Cells that the words around the title need, and the text on the right of the line."""
NOBODY = "unknown"
"""The model of a snapshot that does not say which one answered."""


class ChatPoints:
    """What lists of sessions and snapshots ask of the chat."""

    def __init__(self, chat: ChatPort) -> None:
        self._port = chat
        self._restored: ContextSnapshot | None = None
        """The point the conversation went back to, until its files are offered."""

    @property
    def _chat(self) -> ChatPort:
        # A list can be open while the first conversation is still being opened behind it.
        return self._port.front()

    async def go_to(self, point: Point) -> None:
        """Open a session, and set it back to a snapshot or a message of it.

        Raises OllmError; SessionBusy if another process has the session open: it can be followed,
        but not set back.
        """
        chat = self._chat
        if not (point.snapshot or point.message):
            await chat.open_session(point.session_id)
            return
        snapshot = None
        if point.snapshot:  # read first: what is damaged is no reason to leave
            snapshot = await chat.app.workspace.points.at(point)
        if chat.opened is None or chat.conversation.session_id != point.session_id:
            try:
                chat = await chat.resume(point.session_id)
            except (SessionNotFound, SessionDamaged, SessionReadOnly) as error:
                await self._begin_from(point, error)
                return
            chat.prompt.focus()
        if chat.is_busy:
            raise UsageError(STILL_ANSWERING, STOP_FIRST)
        conversation = chat.conversation
        before = {message.id for message in conversation.state.branch()}
        then: ContextSnapshot | None = None
        if snapshot:
            note = await conversation.snapshots.restore(snapshot)
        elif point.message == conversation.state.header.head:
            raise UsageError(ALREADY_THERE, CHOOSE_AN_EARLIER_POINT)
        else:
            then = at_message(conversation, point.message)
            note = await conversation.snapshots.go_back(point.message)
        self._show()
        aside = len(before.difference(message.id for message in conversation.state.branch()))
        kept = f" · {counted(aside, 'message')} kept as a branch" if aside else ""
        undo = UNDO_RESTORE if note.can_be_undone else NO_UNDO_RESTORE
        back = f"Back at {self._title(note)} · {undo}"
        self._tell(*self._with_model(snapshot, back, kept, undo))
        self._restored = snapshot or then
        self.offer_files()

    def offer_files(self) -> None:
        """Offer to bring back the files of the last restore, once no other screen is on top."""
        if self._restored and self._chat.screen.is_current:
            offer = partial(offer_files, self._chat, self._restored)
            self._restored = None
            self._chat.screen.run_worker(offer, group="files", exclusive=True)

    async def open_at(self, point: Point, words: Words | None = None) -> None:
        """Open a session at a message or where something was run, with words marked. The branch of
        the message becomes the current one. Raises OllmError."""
        chat = await self._chat.open_session(point.session_id)
        branch = chat.transcript.keys
        if not chat.is_following:
            branch = [message.id for message in chat.conversation.state.branch()]
        note, target = "", point.message
        if target not in branch:
            run_at = await self._run_at(point)
            if run_at is None:
                branch = await self._switch_to(target)
                note = "Switched to the branch of this message"
            else:
                target = run_at
        chat.transcript.finder.look_for(words)
        chat.transcript.focus()
        chat.screen.call_after_refresh(self._stand_on, target, branch, note)

    async def fork(self, point: Point) -> None:
        """Go on from a point in a new session. Raises OllmError."""
        workspace = self._chat.app.workspace
        copy = await workspace.points.fork(point)
        chat = await self._chat.switch(lambda: workspace.resume(copy))
        chat.prompt.focus()
        self._tell(FORKED)

    async def _begin_from(self, point: Point, error: StoreError) -> None:
        """Go on in a new session from a snapshot whose own session is gone, or damaged."""
        is_gone = isinstance(error, SessionNotFound)
        if not point.snapshot:
            if not is_gone:
                raise error
            raise SessionNotFound(SESSION_DELETED, CHOOSE_A_SNAPSHOT)
        copy = await self._chat.app.workspace.points.fork(point)
        await self._chat.open_session(copy)
        why = "was deleted" if is_gone else "is read-only"
        self._tell(f"The session {why}: continuing in a new one")

    async def undo(self) -> None:
        """Take back the last restore. UsageError if there is none."""
        snapshots = self._chat.conversation.snapshots
        what = "Restore" if snapshots.standing and snapshots.standing.snapshot else "Rewind"
        note = await snapshots.undo_restore()
        self._show()
        self._tell(f"{what} undone · {self._title(note)}")
        self._restored = await snapshots.get(note.snapshot) if note.snapshot else None
        self.offer_files()

    async def begin_new(self) -> None:
        """Begin a new session."""
        await self._chat.command("session.new")

    def bring(self, messages: Sequence[Message], session_id: str) -> None:
        """Put messages of another session into the prompt, each as a chip."""
        prompt = self._chat.prompt
        written = prompt.written
        brought = grafted(messages, session_id, written.attachments)
        prompt.put(written.text, (*written.attachments, *brought))

    async def ask_history(self, words: str) -> None:
        """Have the model answer from earlier sessions. Raises OllmError."""
        await self._chat.command("search.ask", words)

    def now(self) -> ContextSnapshot | None:
        """Return the context of the open conversation; None if nothing was said."""
        conversation = self._chat.opened
        return conversation.snapshots.now() if conversation and len(conversation.state) else None

    async def _run_at(self, point: Point) -> str | None:
        """Return the key of the entry for something that was run, or of what was said before it;
        None where the point is a message."""
        state = await self._chat.app.workspace.points.state(point.session_id)
        call = recorded_calls(state).apart.get(point.message)
        if call is None or point.message in self._chat.transcript.keys:
            return call and point.message
        return said_before(call.timestamp, state.branch()) or ""

    async def _switch_to(self, message_id: str) -> list[str]:
        """Make the branch of a message the current one; returns the ids of its messages.

        UsageError if the message is gone.
        """
        conversation = self._chat.conversation
        if message_id not in conversation.state:
            raise UsageError(MESSAGE_GONE, SEARCH_AGAIN)
        await conversation.switch_to(conversation.state.latest_leaf(message_id))
        self._show()
        return [message.id for message in conversation.state.branch()]

    def _stand_on(self, message_id: str, branch: Sequence[str], note: str) -> None:
        """Move to a message and show a note. To be called after a refresh: before that the stream
        has no height, and the move of the focus would show key hints over the note."""
        transcript = self._chat.transcript
        key = shown_at(message_id, branch, transcript.keys)
        if key:
            transcript.go_to(key)
            transcript.cursor.move_to(key, reveal=False)
        if note:
            self._tell(note)

    def _title(self, note: Restore) -> str:
        """Return the title of a restore, short enough that the way back is seen beside it."""
        words = visible(clean(note.title))
        most = max(min(self._chat.screen.size.width - BESIDE_TITLE, LONGEST_TITLE), LEAST_TITLE)
        return f"“{words if len(words) <= most else words[: most - 1] + '…'}”"

    def _with_model(
        self, snapshot: ContextSnapshot | None, back: str, kept: str, undo: str
    ) -> tuple[str, ...]:
        """Return the line after going back, and shorter ones. They name the model that answered
        then, as going back does not change who answers."""
        then = snapshot.metadata.model if snapshot else NOBODY
        if then in (NOBODY, self._chat.conversation.choice.model):
            return (back + kept,)
        model, key = visible(clean(then)), self._chat.lines.hints.keys("model.choose")[0]
        words, short = f"the model was {model} · {key} switches", f"model was {model}"
        return (
            f"{back}{kept} · {words}",
            f"{back} · {words}",
            f"{back} · {short} ({key})",
            f"{short} ({key}) · {undo}",
        )

    def _tell(self, *texts: str) -> None:
        """Show the first text that fits, after a refresh: the move of the focus shows key hints,
        which would replace it."""
        self._chat.screen.call_after_refresh(self._chat.tell, *texts)

    def _show(self) -> None:
        chat = self._chat
        chat.editing = None
        chat.show_branch()
        chat.lines.show_facts()
        chat.reload_sidebar()


def end_of_turn(branch: Sequence[Message], message_id: str) -> str:
    """Return the last message of the turn a message belongs to."""
    at = _index(branch, message_id)
    while at + 1 < len(branch) and branch[at + 1].role != "user":
        at += 1
    return branch[at].id


def end_before_turn(branch: Sequence[Message], message_id: str) -> str:
    """Return the last message before the turn of a message. UsageError in the first turn."""
    at = _index(branch, message_id)
    while at > 0 and branch[at].role != "user":
        at -= 1
    if at == 0:
        raise UsageError(NOTHING_BEFORE_THAT_MESSAGE, NEW_SESSION_INSTEAD)
    return branch[at - 1].id


def _index(branch: Sequence[Message], message_id: str) -> int:
    return next(at for at, message in enumerate(branch) if message.id == message_id)
