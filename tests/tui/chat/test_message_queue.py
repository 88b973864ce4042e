"""What waits while the model works: shown, in order, and taken back to be edited."""

from __future__ import annotations

import pytest

from ollm_tui.core.session.message import Attachment
from ollm_tui.tui.prompt.prompt import Prompt
from tests.tui.prompt_desk import Desk, desk, lines_of, paste
from tests.tui.typing_in import type_in


def shown(app: Desk) -> list[str]:
    waiting = app.waiting
    if not waiting.display:
        return []
    return [waiting.render_line(y).text.strip() for y in range(waiting.size.height)]


async def test_it_takes_no_room_while_nothing_waits() -> None:
    async with desk() as (app, pilot):
        assert shown(app) == []
        app.waiting.messages.add(Prompt.Sent("one"))
        await pilot.pause()
        assert len(shown(app)) == 2
        app.waiting.messages.take()
        await pilot.pause()
        assert shown(app) == [] and app.waiting.messages.count == 0


async def test_it_shows_three_how_many_more_and_the_keys() -> None:
    async with desk() as (app, pilot):
        for number in range(1, 8):
            app.waiting.messages.add(Prompt.Sent(f"message\n{number}"))
        await pilot.pause()
        assert shown(app) == [
            "next  message 1",
            "message 2",
            "message 3",
            "and 4 more",
            "↑ edit last   Esc stop and hold   Enter Enter send now",
        ]


@pytest.mark.more
async def test_a_long_message_takes_one_line_at_any_width() -> None:
    async with desk(size=(30, 20)) as (app, pilot):
        app.waiting.messages.add(Prompt.Sent("word " * 100))
        await pilot.pause()
        assert len(shown(app)) == 2 and shown(app)[0].endswith("…")


@pytest.mark.more
async def test_foreign_brackets_are_only_text() -> None:
    async with desk() as (app, pilot):
        app.waiting.messages.add(Prompt.Sent("[bold]x[/ [@click=app.quit()]y"))
        await pilot.pause()
        assert shown(app)[0] == "next  [bold]x[/ [@click=app.quit()]y"


async def test_the_first_is_next_and_the_last_is_taken_back() -> None:
    async with desk() as (app, pilot):
        one, two, three = (Prompt.Sent(text) for text in ("one", "two", "three"))
        for sent in (one, two, three):
            app.waiting.messages.add(sent)
        assert app.waiting.messages.take() is one
        assert app.waiting.messages.take_back() is three
        assert app.waiting.messages.clear() == [two]
        assert app.waiting.messages.take() is None and app.waiting.messages.take_back() is None
        await pilot.pause()


async def test_up_on_the_empty_prompt_takes_back_before_it_walks() -> None:
    async with desk() as (app, pilot):
        app.prompt.remember(["older"])
        app.waiting.messages.add(Prompt.Sent("waits"))
        await pilot.pause()
        await type_in(pilot, "x")
        await pilot.press("up")
        assert app.prompt.text == "older"
        await pilot.press("down", "backspace", "up")
        await pilot.pause()
        assert app.prompt.text == "waits" and app.waiting.messages.count == 0


async def test_a_paste_that_waits_comes_back_as_it_was() -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, lines_of(50))
        await pilot.press("enter")
        [sent] = app.said
        assert isinstance(sent, Prompt.Sent)
        app.waiting.messages.add(sent)
        await pilot.pause()
        assert shown(app)[0] == "next  [paste 1]"
        await pilot.press("up")
        await pilot.pause()
        assert app.prompt.whole_text == lines_of(50)
        await pilot.press("enter")
        assert app.said[-1] == Prompt.Sent(
            "", (Attachment(name="paste 1", media_type="text/plain", content=lines_of(50)),)
        )
