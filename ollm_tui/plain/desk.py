"""What the commands of the plain chat work on: the conversation, what is around it, the lines."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TextIO

from ollm_tui.core.compression_events import AnyCompressionEvent
from ollm_tui.core.events import AnyTurnEvent
from ollm_tui.core.intake import visible
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.jobs.session_jobs import SessionJobs
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.headless import Headless


class Surroundings(Protocol):
    """Holds the open conversation, and opens what is behind it."""

    conversation: Conversation | None

    def open_workspace(self) -> Workspace:
        """Return the workspace, opened when it is first asked for."""
        ...

    def open_jobs(self) -> SessionJobs:
        """Return the jobs, opened when they are first asked for."""
        ...


@dataclass
class Desk:
    """The open conversation and the two streams that are written to."""

    around: Surroundings
    read_line: Callable[[str], str]
    out: TextIO
    err: TextIO
    is_leaving: bool = False

    @property
    def conversation(self) -> Conversation:
        """The conversation that is open now."""
        assert self.around.conversation is not None
        return self.around.conversation

    @property
    def workspace(self) -> Workspace:
        """The workspace of the conversation."""
        return self.around.open_workspace()

    def say(self, text: str) -> None:
        """Print one line, or several; controls of the terminal are made visible."""
        self.write("".join(f"{visible(line)}\n" for line in text.splitlines()))

    def write(self, text: str) -> None:
        """Print a text as it is."""
        self.out.write(text)
        self.out.flush()

    async def switch(self, opened: Awaitable[Conversation]) -> None:
        """Open another conversation in the place of this one; if that fails, this one stays."""
        left, self.around.conversation = self.conversation, await opened
        await left.close()
        self.conversation.tools.can_ask = True
        self.conversation.on_overflow = "compress"

    async def show(self, events: AsyncGenerator[AnyTurnEvent | AnyCompressionEvent, None]) -> None:
        """Print what a turn or a compression does; Ctrl+C stops it."""
        with self.stopped_by_ctrl_c(self.conversation.cancel):
            await asyncio.ensure_future(Headless("text", self.out, self.err).show(events))

    @contextmanager
    def stopped_by_ctrl_c(self, stop: Callable[[], object]) -> Generator[None]:
        """Have Ctrl+C call `stop` for a while, instead of ending the program."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, stop)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
