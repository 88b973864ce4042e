"""Which conversation the chat screen shows: the first one, another one, one followed live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from ollm_tui.core.errors import OllmError, SessionBusy, StoreError
from ollm_tui.core.events import AutoSnapshotCreated, SnapshotCreated, SnapshotEvent, SnapshotFailed
from ollm_tui.tui.chat.port import ChatPort, Opening
from ollm_tui.tui.chat.status import WITH_SIDEBAR
from ollm_tui.tui.chat.welcome import Welcome
from ollm_tui.tui.chat.words import FREE_DISK_SPACE, NOT_SAVED_YET
from ollm_tui.tui.command_actions import action_of
from ollm_tui.tui.conversations.words import cache_words
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.engine.project.workspace import Workspace
    from ollm_tui.engine.turn.engine_line import CacheLost
    from ollm_tui.tui.browser.recent_sessions import RecentSession
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
        self._is_told_of_cache = False
        self._is_warned = False
        """Whether the user was told that snapshots fail, and none could be taken since."""

    async def first(self) -> None:
        """Begin or resume, as the command line asked for."""
        host, app = self._host, self._host.app
        await app.load_services()
        await asyncio.to_thread(_load_display)
        app.workspace.snapshots.topic.subscribe(self._note_snapshot)
        app.workspace.lines.lost.subscribe(self._note_cache)
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
            await self.open_sidebar()
            if app.memory.inspector_is_open():
                await host.action_command("context.inspector", "as-before")
            await self._begin(host.chat)
        finally:
            self.is_first_open = True
        app.workspace.history.feed()
        await app.workspace.snapshots.empty_old_deleted()

    async def open_sidebar(self) -> None:
        """Open the sidebar as it was left; where nobody chose, if the terminal is wide enough."""
        is_open = self._host.app.memory.sidebar_is_open()
        if self._host.app.size.width >= WITH_SIDEBAR if is_open is None else is_open:
            await asyncio.to_thread(action_of, "session.sidebar")  # loads a lot
            await self._host.action_command("session.sidebar", "as-before")

    async def offer_recent(self) -> None:
        """Offer the sessions used last on the first screen, while no other one is open."""
        host = self._host
        welcome = host.screen.query_one(Welcome)
        recent_sessions = await asyncio.to_thread(_load_recent)
        async for recent in recent_sessions(host.app.workspace):
            is_alone = all(each.is_shown for each in host.standings())
            welcome.offer(recent if is_alone else ())

    async def _begin(self, chat: OpenChat) -> None:
        """Ask or choose what the command line said. A stored draft stays in the prompt."""
        beginning = self._host.app.beginning
        if beginning.picks_session:
            await self._host.action_command("session.picker")
        if question := beginning.question:
            draft = chat.prompt.draft
            chat.prompt.restore(question)
            await chat.prompt.action_send()
            if not chat.prompt.text:
                chat.prompt.restore(draft)

    async def switch(self, opening: Opening) -> None:
        """Open another conversation in the place of this one. If something runs in this one, it
        goes on there.

        StoreError if this one cannot be saved, and whatever `opening` raises.
        """
        host, old = self._host, self._host.chat
        await self._save(old)
        conversation, problems = await opening()
        await host.drafts.flush()
        # The draft stays with the conversation that is left; it is on disk now.
        host.chat.prompt.restore("")
        left = host.chat  # another one may have been brought to the front meanwhile
        host.show_conversation(conversation, problems)
        self._look_for_jobs(host.chat)
        # Closed last: where the other one cannot be opened, this one is still usable.
        await self.release(left)
        host.app.note_opened()

    async def show(self, chat: OpenChat) -> None:
        """Show a conversation that is open already; the one that was shown stays open."""
        host = self._host
        if chat is host.chat:
            return
        await host.drafts.flush()
        host.chat.prompt.restore("")
        host.show_again(chat)

    async def release(self, chat: OpenChat) -> None:
        """Close a conversation that was left, unless something runs or waits in it."""
        if chat.opened and chat.is_at_rest:
            self._host.forget(chat)
            await chat.opened.close()

    async def _save(self, chat: OpenChat) -> None:
        old = chat.opened
        if old and old.unsaved and chat.is_at_rest:
            await old.save()
            if old.unsaved:
                raise StoreError(NOT_SAVED_YET, FREE_DISK_SPACE)

    async def resume(self, session_id: str) -> None:
        """Show a session that is open here, or open it. SessionBusy if another window has it."""
        host = self._host
        if chat := host.find_open(session_id):
            await self.show(chat)
        else:
            await self.switch(lambda: host.app.workspace.resume(session_id))

    async def session(self, session_id: str) -> None:
        """Open a stored session; one that another window has open is followed live."""
        try:
            await self.resume(session_id)
        except SessionBusy:
            await self._follow(session_id)
        self._host.chat.prompt.focus()

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
        chat = self._host.find_open(event.session_id)
        if chat is None:
            return
        if isinstance(event, AutoSnapshotCreated | SnapshotCreated):
            self._is_warned = False
        elif isinstance(event, SnapshotFailed) and event.reason not in ("", "manual"):
            if not self._is_warned:
                chat.when_shown(lambda: chat.turn_display.note_missing_snapshot(event))
            self._is_warned = True

    def _note_cache(self, lost: CacheLost) -> None:
        """Tell once what it costs to go back and forth on a server with one slot."""
        chat = self._host.find_open(lost.session_id)
        if not self._is_told_of_cache and chat and chat.opened:
            self._is_told_of_cache = True
            tokens = chat.opened.live_tokens.tokens
            self._host.lines.tell(cache_words(chat.title, tokens))

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

        # This fails where the open session cannot be left; nothing has changed then.
        left = self._host.chat
        await self._save(left)
        await self._host.drafts.flush()
        following = Following(self._host, session_id)
        self.end_following()
        following.begin()
        await self.release(left)
        self.following = following

    def _tell_failure(self, error: OllmError) -> None:
        chat = self._host.chat
        self._host.lines.doing = ""
        text = error.lines
        chat.transcript.add(Entry("open", "error", text))
        keys = ("session.new", "new session"), ("session.picker", "sessions")
        more = ("model.choose", "models"), ("app.leave", "quit")
        chat.tell(chat.lines.hints.line(*keys, *more))


def _load_left_jobs() -> Callable[[ChatPort], Awaitable[None]]:
    """Import what tells of left jobs; for a thread, because that loads the engine's jobs, too."""
    from ollm_tui.tui.jobs.left_jobs import tell_left_jobs

    return tell_left_jobs


def _load_display() -> None:
    """Import what shows a conversation; in a thread, so that keys are heard meanwhile."""
    from ollm_tui.tui.chat import turn_display

    del turn_display  # only its being loaded counts


def _load_recent() -> Callable[[Workspace], AsyncGenerator[Sequence[RecentSession], None]]:
    """Import what reads the sessions used last; in a thread, for the same reason."""
    from ollm_tui.tui.browser.recent_sessions import recent_sessions

    return recent_sessions
