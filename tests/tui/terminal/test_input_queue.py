"""Keys wait for the keys before them, but never for what only a key can end."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Event, Key
from textual.message import Message

from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.question import Question
from ollm_tui.tui.terminal.input_queue import InputQueue
from tests.cases import some


class Wished(Message):
    """A key was pressed that asks something; sent on its way up, as commands are."""


class Host(App[None]):
    """Asks a question when F2 is pressed, and waits for the answer where it was pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "ask", priority=True),
        Binding("f3", "wish"),
        Binding("f4", "slowly", priority=True),
        Binding("f5", "fail", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str | None] = []
        self._input = InputQueue(self, super().on_event, self._handle_exception)

    def compose(self) -> ComposeResult:
        yield LineInput()

    async def on_event(self, event: Event) -> None:
        if InputQueue.takes(event):
            await self._input.add(event)
        else:
            await super().on_event(event)

    async def action_ask(self) -> None:
        answer = asyncio.get_running_loop().create_future()
        self.push_screen(Question("What?"), answer.set_result)
        self.answers.append(await answer)

    def action_wish(self) -> None:
        self.query_one(LineInput).post_message(Wished())

    async def on_wished(self) -> None:
        self.push_screen(Question("What?"), self.answers.append)

    async def action_slowly(self) -> None:
        for _ in range(200):
            await asyncio.sleep(0)
        self.query_one(LineInput).value = "done "

    def action_fail(self) -> None:
        raise ValueError("wrong")

    def type(self, *keys: str) -> None:
        """Keys as they come from a terminal that sends them all at once."""
        for key in keys:
            event = Key(key, key if len(key) == 1 else None)
            event.set_sender(self)
            self.post_message(event)

    @property
    def text(self) -> str:
        return self.screen_stack[0].query_one(LineInput).value


@some(1, "key", ("f2", "f3"))
async def test_the_keys_behind_a_question_answer_it_even_if_it_is_waited_for(key: str) -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.type("x", key, "a", "b", "backspace", "c", "enter", "y")
        while app.text != "xy":
            await pilot.pause(0.01)
        assert app.answers == ["ac"]


async def test_letters_wait_for_an_action_that_takes_its_time() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.type("x", "f4", "end", "a", "home", "b")
        while len(app.text) < len("bdone a"):
            await pilot.pause(0.01)
        assert app.text == "bdone a"


async def test_an_action_that_fails_ends_the_program_as_any_error_does() -> None:
    app = Host()
    with pytest.raises(ValueError, match="wrong"):
        async with app.run_test() as pilot:
            app.type("f5")
            while app.return_code is None:
                await pilot.pause(0.01)
