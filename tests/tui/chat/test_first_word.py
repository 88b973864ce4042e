"""Before the first word: what goes on, how far, how fast and how long stand where it will be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from ollm_tui.core.provider import ChatRequest, Completed, Preparing, StreamEvent, TextDelta
from ollm_tui.providers.scripted import Scripted
from ollm_tui.tui.chat.first_word import Waiting
from tests.tui.conftest import OpenApp
from tests.tui.jobs_desk import until
from tests.tui.seen import WRITING_MARK, drawn_stream, prompt, settled


class Slow(Scripted):
    """Reads the prompt until it is told to answer, and answers in two parts."""

    def __init__(self) -> None:
        super().__init__([])
        self.may_say = asyncio.Event()
        self.may_end = asyncio.Event()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        yield Preparing("reading the prompt", 0.5)
        await self.may_say.wait()
        yield TextDelta("The first line.\n\nThe second")
        await self.may_end.wait()
        yield TextDelta(" line.")
        yield Completed(finish="stop")


async def test_waiting_and_writing_are_seen_where_the_answer_is(open_app: OpenApp) -> None:
    slow = Slow()
    async with open_app(slow) as (app, pilot):
        prompt(app).put("hello")
        await pilot.press("enter")
        await until(pilot, lambda: "┃ reading the prompt · 50 %" in " ".join(drawn_stream(app)))
        line = next(line for line in drawn_stream(app) if "50 %" in line)
        assert " tokens · " in line and line.endswith(" s")
        slow.may_say.set()
        await until(pilot, lambda: f"┃ The second{WRITING_MARK}" in drawn_stream(app))
        assert "reading" not in " ".join(drawn_stream(app))
        assert "┃ The first line." in drawn_stream(app)
        slow.may_end.set()
        await settled(app, pilot)
        assert "┃ The second line." in " ".join(drawn_stream(app)) and WRITING_MARK not in " ".join(
            drawn_stream(app)
        )


def test_the_rate_is_told_once_enough_is_read() -> None:
    moment = 0.0
    waiting = Waiting(lambda: moment)
    waiting.begin("waiting for the model")
    waiting.note("reading the prompt", 0.0)
    moment = 2.0
    assert waiting.words(4000) == "reading the prompt · 0 % · 0 of 4.0k tokens · 2 s"
    waiting.note("reading the prompt", 0.25)
    assert (
        waiting.words(4000) == "reading the prompt · 25 % · 1.0k of 4.0k tokens · 500 tok/s · 2 s"
    )


def test_what_was_known_before_the_reply_began_stays() -> None:
    waiting = Waiting(lambda: 0.0)
    waiting.note("loading the model", None)
    waiting.begin("waiting for the model")
    assert waiting.words(0) == "loading the model · 0 s"
