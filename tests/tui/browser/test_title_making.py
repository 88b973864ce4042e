"""Titles made by the model: when asked for, by themselves, and never over a title given by hand."""

from __future__ import annotations

import pytest

from ollm_tui.settings.schema import Sessions, Settings
from ollm_tui.tui.app import OllmApp
from tests.tui.conftest import OpenApp
from tests.tui.seen import send, state
from tests.tui.tool_desk import says, until

AUTO = Settings(sessions=Sessions(auto_title=True))


def name_of(app: OllmApp) -> str:
    assert app.conversation
    return app.conversation.state.header.title


async def test_the_model_names_the_session_when_asked(open_app: OpenApp) -> None:
    script = [says("fine"), says('"Locks in \x1b[2JSQLite."\nmore')]
    async with open_app(script) as (app, pilot):
        await send(app, pilot, "hello there")
        assert name_of(app) == "hello there"
        await send(app, pilot, "/rename --auto")
        await until(pilot, lambda: name_of(app) == "Locks in SQLite")
        assert app.conversation and len(app.conversation.state) == 2, "nothing of it is said"


@pytest.mark.more
async def test_a_model_without_a_title_leaves_the_old_one(open_app: OpenApp) -> None:
    async with open_app([says("fine"), says("***")]) as (app, pilot):
        await send(app, pilot, "hello there")
        await send(app, pilot, "/rename --auto")
        await until(pilot, lambda: "gave no title" in state(app))
        assert name_of(app) == "hello there"


async def test_a_session_is_named_after_its_first_answer_where_the_settings_say_so(
    open_app: OpenApp,
) -> None:
    script = [says("fine"), says("Locks in SQLite"), says("good"), says("New title")]
    async with open_app(script, settings=AUTO) as (app, pilot):
        await send(app, pilot, "hello there")
        await until(pilot, lambda: name_of(app) == "Locks in SQLite")
        await send(app, pilot, "and more")
        assert name_of(app) == "Locks in SQLite"


@pytest.mark.more
async def test_no_model_names_a_session_unasked_without_the_setting(open_app: OpenApp) -> None:
    async with open_app([says("fine"), says("Locks in SQLite")]) as (app, pilot):
        await send(app, pilot, "hello there")
        assert name_of(app) == "hello there"
