"""A line for an answer, and yes or no."""

from __future__ import annotations

import pytest
from textual import events

from ollm_tui.tui.kit.question import Confirmation, Question
from tests.tui.dialog_host import NOTHING_YET, Host, shown


async def test_the_answer_can_be_edited_and_is_given() -> None:
    app = Host(Question("New title\nOf this session", "old", "rename"))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert "Enter rename" in shown(app)
        assert "Of this session" in shown(app)
        await pilot.press("end", "e", "r", "enter")
        assert app.given == "older"


async def test_escape_gives_no_answer() -> None:
    app = Host(Question("New title", "old"))
    async with app.run_test() as pilot:
        await pilot.press("x", "escape")
        assert app.given is None


async def test_an_answer_with_a_fault_is_not_taken_until_it_is_mended() -> None:
    app = Host(Question("How many", check=lambda a: "" if a.isdigit() else "expected a number"))
    async with app.run_test() as pilot:
        await pilot.press("x", "enter")
        await pilot.pause()
        assert "expected a number" in shown(app)
        assert app.given is NOTHING_YET
        await pilot.press("backspace", "7")
        await pilot.pause()
        assert "expected a number" not in shown(app)
        await pilot.press("enter")
        assert app.given == "7"


@pytest.mark.parametrize(("key", "given"), (("y", True), ("n", False), ("escape", False)))
async def test_yes_and_no_answer_a_confirmation(key: str, given: bool) -> None:
    app = Host(Confirmation("Delete it?", "It goes to the trash."))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert "It goes to the trash." in shown(app)
        await pilot.press("x", "enter", "space")
        assert app.given is NOTHING_YET
        await pilot.press(key)
        assert app.given is given


async def test_a_key_typed_before_the_question_was_seen_does_not_answer_it() -> None:
    early = events.Key("y", "y")
    app = Host(Confirmation("Delete it?"))
    async with app.run_test() as pilot:
        await pilot.pause()
        app.post_message(early)
        await pilot.pause()
        assert app.given is NOTHING_YET
        await pilot.press("y")
        assert app.given is True
