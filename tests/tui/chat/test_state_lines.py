"""The lines of the chat screen: shown as often as anybody asks."""

from __future__ import annotations

import asyncio
import gc

import pytest

from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.core.session.message import Usage
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, settled, state, title
from tests.tui.typing_in import type_in


async def test_facts_that_are_shown_twice_at_once_leave_nothing_undone(
    open_app: OpenApp, recwarn: pytest.WarningsRecorder
) -> None:
    async with open_app() as (app, pilot):
        for _ in range(3):
            chat(app).lines.show_facts()
        await pilot.pause(0.05)
        gc.collect()
        assert title(app)[0] == "New session"
    assert [str(each.message) for each in recwarn if "never awaited" in str(each.message)] == []


async def test_what_is_told_while_an_answer_ends_stays_its_time(open_app: OpenApp) -> None:
    go_on = asyncio.Event()
    answer = [TextDelta("One "), go_on, TextDelta("word."), Completed(finish="stop", usage=Usage())]
    async with open_app([answer]) as (app, pilot):
        await type_in(pilot, "go")
        await pilot.press("enter")
        await pilot.pause()
        assert chat(app).chat.is_busy
        chat(app).lines.tell("Message copied")
        go_on.set()
        await settled(app, pilot)
        assert not chat(app).chat.is_busy
        assert "Message copied" in state(app)


@some(
    1,
    ("width", "expected"),
    [
        (60, "Ctrl+P commands   F3 sessions   F1 help"),
        (80, "Ctrl+P commands   F3 sessions, snapshots   F4 search   F1 help"),
        (120, "Ctrl+P commands   F3 sessions, snapshots   F4 search   Alt+↑ read   F1 help"),
    ],
)
async def test_the_keys_of_the_prompt_fit_also_when_the_terminal_changes(
    open_app: OpenApp, width: int, expected: str
) -> None:
    async with open_app(size=(100, 24)) as (app, pilot):
        await pilot.resize_terminal(width, 24)
        await pilot.pause()
        assert state(app).strip() == expected
