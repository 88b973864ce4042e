"""A model that repeats itself: what is told, and what can be said to it."""

from __future__ import annotations

from typing import Any

import pytest

from ollm_tui.core.provider import ToolCallArrived
from ollm_tui.core.session.message import ToolCallPart
from ollm_tui.providers.scripted import Step
from ollm_tui.settings.schema import LoopDetection, Settings
from ollm_tui.tui.app import OllmApp
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.seen import prompt, send, settled, state, stream
from tests.tui.tool_desk import (
    DONE,
    approval,
    ask,
    loop_bar,
    page,
    prompt_has_focus,
    reader,
    runner,
    says,
    tools_open,
    until,
)
from tests.tui.typing_in import type_in

ASKING = Settings(loop_detection=LoopDetection(nudge=False))


def again(count: int, name: str = "read_file", **args: Any) -> list[list[Step]]:
    """Replies that all ask for the same."""
    return [
        [
            ToolCallArrived(
                ToolCallPart(call_id=f"c{number}", name=name, args=args or {"path": "a.py"})
            ),
            DONE,
        ]
        for number in range(count)
    ]


def calls_made(app: OllmApp) -> int:
    return sum("read_file a.py" in line and "↻" not in line for line in stream(app))


async def test_it_says_what_repeats_and_leaves_the_focus_where_it_is(open_app: OpenApp) -> None:
    async with tools_open(open_app, again(9), reader(), settings=ASKING) as (app, pilot):
        await ask(app, pilot)
        await loop_bar(app, pilot)
        seen = page(app)
        assert '↻ paused The model called read_file("a.py") 3 times' in seen
        assert "Alt+A, then s stop o once more a allow read_file t tell the model" in seen
        assert "b rewind to your question" in seen, "nothing was changed, so there is no snapshot"
        assert prompt_has_focus(app) and "paused" in state(app)
        await type_in(pilot, "soat")
        assert prompt(app).text == "soat"


@some(1, "key", ("s", "escape"))
async def test_stopping_ends_the_turn_and_leaves_a_note(open_app: OpenApp, key: str) -> None:
    async with tools_open(open_app, again(9), reader(), settings=ASKING) as (app, pilot):
        await ask(app, pilot)
        bar = await loop_bar(app, pilot)
        await pilot.press("alt+a", key)
        await settled(app, pilot)
        assert not bar.display and prompt_has_focus(app)
        note = " ".join(stream(app)[-2:])
        assert "↻ The model called" in note and note.endswith("· stopped")


async def test_once_more_lets_it_go_on_and_asks_again(open_app: OpenApp) -> None:
    async with tools_open(open_app, again(9), reader(), settings=ASKING, size=(120, 40)) as (
        app,
        pilot,
    ):
        await ask(app, pilot)
        await loop_bar(app, pilot)
        before = calls_made(app)
        await pilot.press("alt+a", "o")
        await until(pilot, lambda: "4 times" in page(app))
        await loop_bar(app, pilot)
        assert calls_made(app) == before + 1
        await pilot.press("escape")
        await settled(app, pilot)


@pytest.mark.more
async def test_what_is_allowed_is_not_asked_again(open_app: OpenApp) -> None:
    script = [*again(6), says("done")]
    async with tools_open(open_app, script, reader(), settings=ASKING, size=(120, 40)) as (
        app,
        pilot,
    ):
        await ask(app, pilot)
        await loop_bar(app, pilot)
        await pilot.press("alt+a", "a")
        await settled(app, pilot)
        assert stream(app)[-1] == "┃ done" and calls_made(app) == 6
        assert any("allowed for this session" in line for line in stream(app))


async def test_the_model_is_told_in_the_users_words(open_app: OpenApp) -> None:
    script = [*again(3), says("sorry")]
    async with tools_open(open_app, script, reader(), settings=ASKING) as (app, pilot):
        await ask(app, pilot)
        bar = await loop_bar(app, pilot)
        await pilot.press("alt+a", "t")
        await pilot.pause()
        assert "Try something else" in page(app), "a sentence is there already"
        await pilot.press("ctrl+a", "ctrl+k")
        await type_in(pilot, "read b.py")
        await pilot.press("enter")
        await settled(app, pilot)
        assert stream(app)[-2:] == ["▌ read b.py", "┃ sorry"] and not bar.display


async def test_escape_leaves_the_words_and_the_bar_waits_on(open_app: OpenApp) -> None:
    async with tools_open(open_app, again(9), reader(), settings=ASKING) as (app, pilot):
        await ask(app, pilot)
        bar = await loop_bar(app, pilot)
        await pilot.press("alt+a", "t", "escape")
        await pilot.pause()
        assert bar.display and app.focused is bar


async def test_back_goes_to_the_snapshot_before_it(open_app: OpenApp) -> None:
    script = again(9, "exec", code="make")
    async with tools_open(open_app, script, runner(), settings=ASKING) as (app, pilot):
        await ask(app, pilot)
        for _ in range(3):
            await approval(app, pilot)
            await pilot.press("y")
            await pilot.pause(0.1)
        await loop_bar(app, pilot)
        assert "b rewind to ◆ before it" in page(app)
        await pilot.press("alt+a", "b")
        await settled(app, pilot)
        await settled(app, pilot)
        assert "Back at" in state(app)
        assert not any("exec make · exit 0" in line for line in stream(app)[2:])


@pytest.mark.more
async def test_where_nothing_was_changed_back_goes_to_the_question(open_app: OpenApp) -> None:
    async with tools_open(open_app, again(9), reader(), settings=ASKING) as (app, pilot):
        await ask(app, pilot)
        await loop_bar(app, pilot)
        await pilot.press("alt+a", "b")
        await settled(app, pilot)
        await settled(app, pilot)
        assert "Back at" in state(app)
        assert not any("▸ read_file" in line for line in stream(app))


async def test_the_first_time_the_model_is_told_by_itself(open_app: OpenApp) -> None:
    async with tools_open(open_app, [*again(3), says("sorry")], reader()) as (app, pilot):
        await send(app, pilot, "go")
        told = [line for line in stream(app) if line.startswith("to the model: You called")]
        assert len(told) == 1 and stream(app)[-1] == "┃ sorry"


async def test_a_loop_is_still_told_of_when_the_session_is_opened_again(open_app: OpenApp) -> None:
    script = [*again(3), says("sorry")]
    async with tools_open(open_app, script, reader(), settings=ASKING) as (app, pilot):
        await ask(app, pilot)
        await loop_bar(app, pilot)
        await pilot.press("alt+a", "o")
        await settled(app, pilot)
        assert app.conversation
        session_id = app.conversation.session_id
    async with open_app(session_id=session_id, size=(120, 40)) as (app, _):
        loops = [place for place, line in enumerate(stream(app)) if line.startswith("↻ The model")]
        assert len(loops) == 1 and stream(app)[-1] == "┃ sorry"
        assert loops[0] < len(stream(app)) - 1
