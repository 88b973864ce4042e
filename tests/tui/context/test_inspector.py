"""The inspector at the right: what it shows, from which width on, and that it is remembered."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Scripted
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.context.inspector import Inspector
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, send, state

ANSWER = [TextDelta("Good morning"), Completed(finish="stop")]


def conversation(app: OllmApp) -> Conversation:
    assert app.conversation
    return app.conversation


def inspected(app: OllmApp) -> str:
    """What the inspector shows; empty where it is not seen."""
    panes = [pane for pane in chat(app).query(Inspector) if pane.display]
    return "\n".join(str(pane.render()) for pane in panes)


async def until(pilot: Pilot[int], app: OllmApp, words: str) -> None:
    while words not in inspected(app):
        await pilot.pause(0.02)


async def test_it_follows_context_goal_and_jobs(open_app: OpenApp) -> None:
    async with open_app(Scripted([ANSWER]), size=(170, 40)) as (app, pilot):
        assert inspected(app) == ""
        await pilot.press("alt+i")
        await until(pilot, app, "No goal")
        await send(app, pilot, "hello")
        await until(pilot, app, "yours")
        assert f"{conversation(app).context().count.total} of 8,192" in inspected(app)
        await send(app, pilot, "/goal ship it")
        await send(app, pilot, "/goal step write tests")
        await until(pilot, app, "· write tests")
        await send(app, pilot, "/goal tick 1")
        await until(pilot, app, "✓ write tests")
        await send(app, pilot, "!echo here")
        await until(pilot, app, "1  echo here")
        await pilot.press("alt+i")
        await pilot.pause()
        assert inspected(app) == ""


@pytest.mark.more
async def test_a_narrow_terminal_has_no_room_for_it_and_says_so(open_app: OpenApp) -> None:
    async with open_app(size=(120, 40)) as (app, pilot):
        await pilot.press("alt+i")
        await pilot.pause()
        assert inspected(app) == "" and "160 columns" in state(app)


async def test_it_is_there_at_the_next_start_and_waits_for_room(open_app: OpenApp) -> None:
    async with open_app(size=(170, 40)) as (app, pilot):
        await pilot.press("alt+i")
        await until(pilot, app, "Context")
    async with open_app(size=(120, 40)) as (app, pilot):
        assert inspected(app) == ""
        await pilot.resize_terminal(170, 40)
        await until(pilot, app, "Context")
        await pilot.press("f2")  # what else is remembered stays as it was chosen
        await pilot.pause()
        assert app.memory.inspector_is_open()


@pytest.mark.more
async def test_a_heading_opens_the_whole_of_it(open_app: OpenApp) -> None:
    async with open_app(size=(170, 40)) as (app, pilot):
        await pilot.press("alt+i")
        await until(pilot, app, "Context")
        await pilot.pause()
        await pilot.click(Inspector, offset=(3, 0))
        await pilot.pause()
        assert app.screen is not chat(app)
