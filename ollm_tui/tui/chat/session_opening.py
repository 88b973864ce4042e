"""Which conversation the chat screen shows: the first one, another one, one followed live."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING

from ollm_tui.core.errors import OllmError, SessionBusy, StoreError, UsageError
from ollm_tui.core.events import AutoSnapshotCreated, SnapshotCreated, SnapshotEvent, SnapshotFailed
from ollm_tui.tui.jobs.shell_line import name_of
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.tui.chat.followed_session import Following
    from ollm_tui.tui.chat.screen import ChatScreen


async def tell(chat: ChatScreen, conversation: Conversation) -> None:
    """One line in the stream for each; they are recorded at their place."""
    if chat.app.conversation is not conversation:
        return
    jobs = chat.app.jobs
    for job in await jobs.settle(conversation):
        name = name_of(jobs.shown(job))
        whose = f"the model's {name}" if job.by_model else f"!{name}"
        how = job.note.partition("; ")[2] or "it ended with it"
        text = f"{whose} was running when the program ended: {how}"
        if chat.app.conversation is conversation:
            chat.transcript.add(Entry(f"left-{job.id}", "note", text))


Opening = Callable[[], Awaitable[tuple["Conversation", tuple[str, ...]]]]
LOOKED_AFTER_SECONDS = 0.5
"""What ran when the program ended is looked for when the first keys have been answered."""


class SessionOpening:
    """Opens conversations for one chat screen. If one cannot be opened, the other one stays."""

    def __init__(self, chat: ChatScreen) -> None:
        self._chat = chat
        self.following: Following | None = None
        """The session of another window, while it is watched."""
        self._is_warned = False
        """Whether it was said that snapshots cannot be taken, and none could be since."""

    async def first(self) -> None:
        """Begin or resume, as the command line asked for."""
        chat = self._chat
        chat.app.workspace.snapshots.topic.subscribe(self._note_snapshot)
        try:
            conversation, problems = await chat.app.open_conversation(chat.app.workspace)
        except SessionBusy as busy:
            chat.lines.doing = ""
            await self._follow(busy.session_id)
        except OllmError as error:
            self._tell_failure(error)
        else:
            chat.show_conversation(conversation, (*chat.app.warnings, *problems))
            self._look_for_jobs(conversation)
            if chat.app.memory.sidebar_is_open():
                await chat.action_command("session.sidebar", "as-before")
        chat.app.workspace.history.feed()
        await chat.app.workspace.snapshots.empty_old_deleted()

    async def switch(self, opening: Opening) -> None:
        """Open another conversation in the place of this one."""
        chat = self._chat
        if chat.is_busy:
            raise UsageError("the model is still answering", "Esc stops it")
        old = chat.app.conversation
        if old and old.unsaved:
            await old.save()
            if old.unsaved:
                raise StoreError("this session is not saved yet", "make room on the disk first")
        conversation, problems = await opening()
        await chat.drafts.flush()
        chat.prompt.restore("")
        chat.show_conversation(conversation, problems)
        self._look_for_jobs(conversation)
        if old:
            await old.close()

    async def session(self, session_id: str) -> None:
        """Open a stored session; one that another window has open is followed live."""
        chat = self._chat
        conversation = chat.app.conversation
        if not conversation or conversation.session_id != session_id:
            try:
                await self.switch(lambda: chat.app.workspace.resume(session_id))
            except SessionBusy:
                await self._follow(session_id)
        chat.prompt.focus()

    def end_following(self) -> None:
        """A conversation is shown now."""
        if self.following:
            self.following.stop()
            self.following = None

    def take_over(self) -> None:
        """Something was sent: where a session is followed, go on with it in a fork."""
        if self.following:
            self._chat.run_worker(self.following.go_on(), group="open")

    def _note_snapshot(self, event: SnapshotEvent) -> None:
        """What the program wanted to take by itself and could not is told in the stream: once,
        until there is one again. What the user asked for is answered where it was asked."""
        conversation = self._chat.app.conversation
        if conversation is None or event.session_id != conversation.session_id:
            return
        if isinstance(event, AutoSnapshotCreated | SnapshotCreated):
            self._is_warned = False
        elif isinstance(event, SnapshotFailed) and event.reason not in ("", "manual"):
            if not self._is_warned:
                self._chat.turn_display.note_ephemeral(event)
            self._is_warned = True

    def _look_for_jobs(self, conversation: Conversation) -> None:
        """Of a session that is opened again, tell what ran when the program ended: later, for
        nobody waits for it."""
        if not len(conversation.state):
            return

        async def tell() -> None:
            left = await asyncio.to_thread(import_module, "ollm_tui.tui.chat.session_opening")
            await left.tell(self._chat, conversation)

        self._chat.set_timer(
            LOOKED_AFTER_SECONDS, lambda: self._chat.run_worker(tell(), group="shell")
        )

    async def _follow(self, session_id: str) -> None:
        # Loaded when first used, as commands are.
        made = import_module("ollm_tui.tui.chat.followed_session").Following(self._chat, session_id)
        await made.begin()
        self.end_following()
        self.following = made

    def _tell_failure(self, error: OllmError) -> None:
        chat = self._chat
        chat.lines.doing = ""
        text = f"{error.message}\n{error.hint}".strip()
        chat.transcript.add(Entry("open", "error", text))
        keys = ("session.new", "new session"), ("session.picker", "sessions")
        more = ("model.choose", "models"), ("app.leave", "quit")
        chat.lines.tell(chat.lines.hints.line(*keys, *more))
