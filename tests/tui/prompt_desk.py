"""The prompt with what stands around it, and nothing else: for tests of the parts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.events import Paste
from textual.message import Message
from textual.pilot import Pilot

from ollm_tui.tui.chat.message_queue import MessageQueue
from ollm_tui.tui.prompt.completion import Completion
from ollm_tui.tui.prompt.completion_list import CompletionList
from ollm_tui.tui.prompt.prompt import Prompt

COMPLETIONS = (
    Completion("help", "", "Help"),
    Completion("theme", "[name]", "Choose the colours", lambda: ("dark", "dracula", "light")),
    Completion("rename", "[title]", "Rename this session"),
    Completion("redo", "", "Do it again"),
)


class Desk(App[None]):
    """Wires the parts as a screen does, and keeps what the prompt said."""

    CSS = "#prompt { height: 3; border: round $panel; } Screen { align-vertical: bottom; }"

    def __init__(self, completions: Sequence[Completion]) -> None:
        super().__init__()
        self.said: list[Message] = []
        self.edited: list[str] = []
        self._completions = completions

    def compose(self) -> ComposeResult:
        yield MessageQueue()
        yield CompletionList()
        yield Prompt("Type a message", self._completions)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @property
    def waiting(self) -> MessageQueue:
        return self.query_one(MessageQueue)

    def on_mount(self) -> None:
        self.prompt.focus()

    def on_prompt_edited(self, event: Prompt.Edited) -> None:
        self.edited.append(event.text)

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        self.said.append(event)

    def on_prompt_command_sent(self, event: Prompt.CommandSent) -> None:
        self.said.append(event)

    def on_prompt_refused(self, event: Prompt.Refused) -> None:
        self.said.append(event)

    def on_prompt_leave_requested(self, event: Prompt.LeaveRequested) -> None:
        self.said.append(event)

    def on_prompt_suggested(self, event: Prompt.Suggested) -> None:
        self.query_one(CompletionList).show(event.options, event.chosen)

    def on_completion_list_picked(self, event: CompletionList.Picked) -> None:
        self.prompt.pick(event.index)

    def on_message_queue_changed(self, event: MessageQueue.Changed) -> None:
        self.prompt.can_take_back = event.count > 0

    def on_prompt_take_back_requested(self) -> None:
        if sent := self.waiting.messages.take_back():
            self.prompt.restore(sent.draft)


@asynccontextmanager
async def desk(
    completions: Iterable[Completion] = COMPLETIONS, size: tuple[int, int] = (80, 24)
) -> AsyncGenerator[tuple[Desk, Pilot[None]]]:
    """The parts on a screen."""
    app = Desk(tuple(completions))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


async def paste(app: Desk, pilot: Pilot[None], text: str) -> None:
    """Paste as a terminal does."""
    app.prompt.post_message(Paste(text))
    await pilot.pause()


def lines_of(count: int) -> str:
    """A text of that many lines."""
    return "\n".join(f"line {number}" for number in range(1, count + 1))
