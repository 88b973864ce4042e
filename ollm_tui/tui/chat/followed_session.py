"""The chat on a session that another window has open: shown live, and forked by what is sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from textual.worker import Worker

from ollm_tui.core.errors import OllmError, SessionBusy
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Metadata
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.services.sessions.following import Followed
from ollm_tui.tui.chat.open_chat import ChatHost
from ollm_tui.tui.chat.status import NARROW, StatusLine, TitleLine
from ollm_tui.tui.chat.words import FOLLOWS, FORKS, GOES_ON, LEFT_ALONE, LOOKS
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.stream.entries.compression_entries import with_compressions
from ollm_tui.tui.stream.entries.message_entries import (
    branch_entries,
    details_of,
    entry_of,
    model_note,
    stamp_of,
)
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.transcript import Transcript

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.engine.project.workspace import Workspace


async def take_over(workspace: Workspace, session_id: str) -> tuple[Conversation, tuple[str, ...]]:
    """Open a followed session itself if nobody writes it any more, else a fork of it.

    Also returns what of it could not be read. Raises StoreError or ProviderError.
    """
    try:
        return await workspace.resume(session_id)
    except SessionBusy:
        return await workspace.resume(await workspace.fork(session_id))


class FollowedStream:
    """Feeds a transcript from a followed session. What the user reads stays where it is."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._metadata = Metadata()
        self.is_held = True
        """Whether the other window still has the session open."""

    @property
    def words(self) -> str:
        """What the title line says beside the title of the session."""
        return FOLLOWS if self.is_held else LEFT_ALONE

    @property
    def prompt_words(self) -> str:
        """What the empty prompt says: what sending would do."""
        return FORKS if self.is_held else GOES_ON

    async def show(self, changes: AsyncGenerator[Followed, None]) -> AsyncGenerator[Followed, None]:
        """Show each change, then yield it for whoever shows the title. Ends with StoreError if the
        session cannot be read any more."""
        async with aclosing(changes):
            async for followed in changes:
                self.take(followed)
                yield followed

    def take(self, followed: Followed) -> None:
        """Show one change."""
        state, was_held = followed.state, self.is_held
        self.is_held = followed.is_held
        branch = state.branch() if state.header.head else []
        shown = [key for key in self._transcript.keys if key in state]
        covered = {key for entry in self._transcript.stack.entries for key in entry.covers}
        # Results of tools stand in the replies that asked for them.
        has_results = any(each.role == "tool" and each.id not in covered for each in branch)
        branch = [message for message in branch if message.id not in covered]
        is_longer = shown == [message.id for message in branch[: len(shown)]]
        if not is_longer or not shown or has_results or self._is_marked_otherwise(state):
            self._show_all(state)
            return
        for number, message in enumerate(branch):
            # With its writer gone, an answer that was growing is an interrupted one.
            has_ended = was_held and not followed.is_held and message.status == "streaming"
            if number >= len(shown):
                self._add(message, state)
            elif message.id in followed.changed or has_ended:
                self._update(self._entry(message, state), message)

    def _is_marked_otherwise(self, state: SessionState) -> bool:
        """Whether pins, folds or compressions changed, which may show at any message."""
        before, self._metadata = self._metadata, state.header.metadata
        return before is not self._metadata and _marks(before) != _marks(self._metadata)

    def _show_all(self, state: SessionState) -> None:
        top = self._top()
        self._metadata = state.header.metadata
        entries = branch_entries(state) if state.header.head else []
        for entry in entries:
            if entry.key in state:
                self._let_grow(entry, state[entry.key])
        keys = [key for entry in entries for key in (entry.key, *entry.covers)]
        self._transcript.show(with_compressions(entries, self._metadata, keys))
        if top in self._transcript.keys:
            self._transcript.go_to(top)

    def _top(self) -> str:
        """Return the key of the topmost visible entry; empty where the bottom is followed."""
        at = None if self._transcript.is_following else self._transcript.entry_at(0)
        return self._transcript.keys[at[0]] if at else ""

    def _entry(self, message: Message, state: SessionState) -> Entry:
        return self._let_grow(entry_of(message, state), message)

    def _let_grow(self, entry: Entry, message: Message) -> Entry:
        """Show an answer that is still being written elsewhere as growing, not as interrupted."""
        if message.status == "streaming" and self.is_held:
            entry.footer, entry.growing = "", True
        return entry

    def _add(self, message: Message, state: SessionState) -> None:
        parent = state.parent(message.id)
        note = model_note(state, parent, message.id, message.model or "") if parent else None
        if note and message.model:
            self._transcript.add(note)
        self._transcript.add(self._entry(message, state))

    def _update(self, entry: Entry, message: Message) -> None:
        """Draw only the new words where the text just grew; else replace the entry."""
        before = self._transcript.entry(entry.key)
        if not entry.text.startswith(before.text) or _folds(entry) != _folds(before):
            opened = {fold.key for fold in before.folds if fold.is_open}
            for fold in entry.folds:
                fold.is_open = fold.key in opened
            self._transcript.replace(entry)
            return
        if more := entry.text[len(before.text) :]:
            self._transcript.grow(entry.key, more)
        if not entry.growing:
            self._transcript.finish(entry.key, entry.footer, details_of(message), stamp_of(message))


def _marks(metadata: Metadata) -> tuple[object, ...]:
    return (
        metadata.pins,
        metadata.excluded,
        metadata.folded,
        metadata.compressed,
        metadata.compression_history,
    )


def _folds(entry: Entry) -> list[tuple[str, str]]:
    return [(fold.key, fold.text) for fold in entry.folds]


class Following:
    """Shows a session of another window, in the place of a conversation until one is opened."""

    def __init__(self, host: ChatHost, session_id: str) -> None:
        self._host = host
        self.session_id = session_id
        self._stream = FollowedStream(host.chat.transcript)
        self._worker: Worker[None] | None = None
        self._is_going_on = False
        self._only_looks = host.app.beginning.only_looks

    def begin(self) -> None:
        """Show the other session in the place of what is shown."""
        has_left = self._host.chat.opened is not None
        chat = self._host.bring_to_front(None, is_following=True)
        self._host.drafts.switch_to(None)
        chat.transcript.show(())
        chat.lines.show_doing("")
        if has_left:
            chat.prompt.restore("")
        if self._only_looks:
            chat.prompt.display = False
            chat.transcript.focus()
        self._worker = self._host.screen.run_worker(self._show(), group="follow", exclusive=True)

    def stop(self) -> None:
        """Stop following; another session is shown now."""
        if self._worker:
            self._worker.cancel()
        self._host.chat.invite()

    async def go_on(self) -> None:
        """Continue here what was sent, in a fork while the other window has the session open.

        If that fails, the message goes on waiting.
        """
        if self._is_going_on:
            return  # more was sent meanwhile: it waits with the first message
        self._is_going_on = True
        try:
            opened = await take_over(self._host.app.workspace, self.session_id)
        except OllmError as error:
            self._host.chat.complain(error)
            return
        finally:
            self._is_going_on = False
        self.stop()
        self._host.show_conversation(*opened)

    async def _show(self) -> None:
        changes = self._stream.show(self._host.app.workspace.follow(self.session_id))
        try:
            async with aclosing(changes):
                async for followed in changes:
                    self._tell(followed)
        except OllmError as error:
            text = error.lines
            self._host.chat.transcript.add(Entry("followed", "error", text))

    def _tell(self, followed: Followed) -> None:
        """Say in title, gauge and prompt what this session is, and what sending does."""
        chat, header = self._host.chat, followed.state.header
        title = visible(header.title) or "Untitled"
        if self._only_looks:
            chat.screen.query_one(TitleLine).show_names(title, (LOOKS,))
            chat.screen.query_one(Gauge).display = False
            return
        words = self._stream.words
        if chat.screen.size.width < NARROW:
            words = words.removeprefix("read-only, ")  # the line below says that too
        chat.screen.query_one(TitleLine).show_names(title, (words,))
        chat.screen.query_one(Gauge).show_words(f"Read-only · {self._stream.prompt_words}")
        chat.screen.query_one(StatusLine).show(right="read-only")
        chat.invite(self._stream.prompt_words)
