"""The chat on a session that another window has open: seen live, and forked by what is sent."""

from __future__ import annotations

from contextlib import aclosing

from textual.worker import Worker

from ollm_tui.core.errors import OllmError, StoreError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.services.sessions.following import Followed
from ollm_tui.tui.chat.following_view import FollowingView, take_over
from ollm_tui.tui.chat.screen import NARROW, PLACEHOLDER, ChatScreen
from ollm_tui.tui.chat.status import StatusLine, TitleLine
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.stream.transcript.entry import Entry


class Following:
    """Stands in the place of a conversation until one is opened."""

    def __init__(self, chat: ChatScreen, session_id: str) -> None:
        self._chat = chat
        self.session_id = session_id
        self._view = FollowingView(chat.transcript)
        self._worker: Worker[None] | None = None
        self._is_going_on = False

    async def begin(self) -> None:
        """Close what is open and show the other session. The errors of leaving: UsageError while
        the model answers, StoreError if something could not be saved."""
        chat, old = self._chat, self._chat.app.conversation
        if chat.is_busy:
            raise UsageError("the model is still answering", "Esc stops it")
        if old and old.unsaved:
            await old.save()
            if old.unsaved:
                raise StoreError("this session is not saved yet", "make room on the disk first")
        await chat.drafts.flush()
        chat.app.conversation = None
        chat.drafts.switch_to(None)
        chat.transcript.show(())
        chat.lines.show_doing("")
        if old:
            chat.prompt.restore("")
            await old.close()
        self._worker = chat.run_worker(self._show(), group="follow", exclusive=True)

    def stop(self) -> None:
        """Look no longer; another session is shown now."""
        if self._worker:
            self._worker.cancel()
        self._chat.prompt.placeholder = PLACEHOLDER

    async def go_on(self) -> None:
        """Something was sent and waits: continue here, in a fork while the other window is open.

        If that fails it goes on waiting.
        """
        if self._is_going_on:
            return
        self._is_going_on = True
        try:
            opened = await take_over(self._chat.app.workspace, self.session_id)
        except OllmError as error:
            self._chat.lines.complain(error)
            return
        finally:
            self._is_going_on = False
        self.stop()
        self._chat.show_conversation(*opened)

    async def _show(self) -> None:
        changes = self._view.show(self._chat.app.workspace.follow(self.session_id))
        try:
            async with aclosing(changes):
                async for followed in changes:
                    self._tell(followed)
        except OllmError as error:
            text = f"{error.message}\n{error.hint}".strip()
            self._chat.transcript.add(Entry("followed", "error", text))

    def _tell(self, followed: Followed) -> None:
        """Title, gauge and prompt say what this is, and what sending does."""
        chat, header = self._chat, followed.state.header
        title, words = visible(header.title) or "Untitled", self._view.words
        if chat.size.width < NARROW:
            words = words.removeprefix("read-only, ")  # the line below says that too
        chat.query_one(TitleLine).show_names(title, words)
        chat.query_one(Gauge).show_words(f"read-only: {self._view.prompt_words}")
        chat.query_one(StatusLine).show(right="read-only")
        chat.prompt.placeholder = self._view.prompt_words
