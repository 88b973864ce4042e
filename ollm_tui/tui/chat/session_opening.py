"""Which conversation the chat screen shows: the first one, another one, one followed live."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ollm_tui.core.errors import OllmError, SessionBusy, StoreError, UsageError
from ollm_tui.core.events import AutoSnapshotCreated, SnapshotCreated, SnapshotEvent, SnapshotFailed
from ollm_tui.tui.chat.port import ChatPort, Opening
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.tui.chat.followed_session import Following
    from ollm_tui.tui.chat.open_chat import ChatHost, OpenChat


LOOKED_AFTER_SECONDS = 0.5
"""How long after opening a session the jobs that were left running are looked for: the first keys
come before that."""


class SessionOpening:
    """Opens conversations for one chat screen. If one cannot be opened, the one before it stays."""

    def __init__(self, host: ChatHost) -> None:
        self._host = host
        self.is_first_open = False
        """Whether the first conversation was opened, or could not be. Until then it is not known
        whose draft is being written."""
        self.following: Following | None = None
        """The session of another window while it is followed."""
        self._is_warned = False
        """Whether the user was told that snapshots fail, and none could be taken since."""

    async def first(self) -> None:
        """Begin or resume, as the command line asked for."""
        host, app = self._host, self._host.app
        await app.load_services()
        app.workspace.snapshots.topic.subscribe(self._note_snapshot)
        try:
            conversation, problems = await app.open_conversation(app.workspace)
        except SessionBusy as busy:
            host.lines.doing = ""
            await self._follow(busy.session_id)
        except OllmError as error:
            self._tell_failure(error)
        else:
            extensions = app.workspace.additions.extensions
            missing = (app.theme_problem,) if app.theme_problem and not extensions else ()
            host.show_conversation(conversation, (*missing, *app.warnings, *problems))
            app.note_opened()
            self._look_for_jobs(host.chat)
            if app.memory.sidebar_is_open():
                await host.action_command("session.sidebar", "as-before")
            await self._begin(host.chat)
        finally:
            self.is_first_open = True
        app.workspace.history.feed()
        await app.workspace.snapshots.empty_old_deleted()

    async def _begin(self, chat: OpenChat) -> None:
        """Ask or choose what the command line said. A stored draft stays in the prompt."""
        question, picks_session = self._host.app.beginning
        if picks_session:
            await self._host.action_command("session.picker")
        if question:
            draft = chat.prompt.draft
            chat.prompt.restore(question)
            await chat.prompt.action_send()
            if not chat.prompt.text:
                chat.prompt.restore(draft)

    async def switch(self, opening: Opening) -> None:
        """Open another conversation in the place of this one.

        UsageError while the model answers, StoreError if this one cannot be saved, and whatever
        `opening` raises.
        """
        host, old = self._host, self._host.chat.opened
        if host.chat.is_busy:
            raise UsageError("the model is still answering", "Esc stops it")
        if old and old.unsaved:
            await old.save()
            if old.unsaved:
                raise StoreError("this session is not saved yet", "make room on the disk first")
        conversation, problems = await opening()
        if host.chat.is_busy:  # something was sent while the other one was being opened
            await conversation.close()
            raise UsageError("the model is still answering", "Esc stops it")
        await host.drafts.flush()
        # The draft stays with the conversation that is left; it is on disk now.
        host.chat.prompt.restore("")
        host.show_conversation(conversation, problems)
        self._look_for_jobs(host.chat)
        # Closed last: where the other one cannot be opened, this one is still usable.
        if old:
            await old.close()
        host.app.note_opened()

    async def session(self, session_id: str) -> None:
        """Open a stored session; one that another window has open is followed live."""
        host, opened = self._host, self._host.chat.opened
        if not opened or opened.session_id != session_id:
            try:
                await self.switch(lambda: host.app.workspace.resume(session_id))
            except SessionBusy:
                await self._follow(session_id)
        host.chat.prompt.focus()

    def end_following(self) -> None:
        """Stop following: a conversation is shown now."""
        if self.following:
            self.following.stop()
            self.following = None

    def take_over(self) -> None:
        """Go on with a followed session, or with a fork of it, after something was sent."""
        if self.following:
            self._host.screen.run_worker(self.following.go_on(), group="open")

    def _note_snapshot(self, event: SnapshotEvent) -> None:
        """Tell in the stream that a snapshot could not be taken by itself: once, until one could be
        taken again. A snapshot the user asked for is answered where it was asked for."""
        chat = self._host.chat
        conversation = chat.opened
        if conversation is None or event.session_id != conversation.session_id:
            return
        if isinstance(event, AutoSnapshotCreated | SnapshotCreated):
            self._is_warned = False
        elif isinstance(event, SnapshotFailed) and event.reason not in ("", "manual"):
            if not self._is_warned:
                chat.turn_display.note_missing_snapshot(event)
            self._is_warned = True

    def _look_for_jobs(self, chat: OpenChat) -> None:
        """Tell, a little later, which jobs of the session ran when the program ended."""
        if not len(chat.conversation.state):
            return

        async def tell() -> None:
            tell_left_jobs = await asyncio.to_thread(_load_left_jobs)
            await tell_left_jobs(chat)

        screen = self._host.screen
        screen.set_timer(LOOKED_AFTER_SECONDS, lambda: screen.run_worker(tell(), group="shell"))

    async def _follow(self, session_id: str) -> None:
        # Imported late: most conversations never need it.
        from ollm_tui.tui.chat.followed_session import Following

        following = Following(self._host, session_id)
        # This fails where the open session cannot be left; nothing has changed then.
        await following.begin()
        self.end_following()
        self.following = following

    def _tell_failure(self, error: OllmError) -> None:
        chat = self._host.chat
        chat.lines.doing = ""
        text = f"{error.message}\n{error.hint}".strip()
        chat.transcript.add(Entry("open", "error", text))
        keys = ("session.new", "new session"), ("session.picker", "sessions")
        more = ("model.choose", "models"), ("app.leave", "quit")
        chat.tell(chat.lines.hints.line(*keys, *more))


def _load_left_jobs() -> Callable[[ChatPort], Awaitable[None]]:
    """Import what tells of left jobs; for a thread, because that loads the engine's jobs, too."""
    from ollm_tui.tui.jobs.left_jobs import tell_left_jobs

    return tell_left_jobs
