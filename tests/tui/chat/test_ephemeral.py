"""An ephemeral session on the screen: what is said of it is true, and its snapshots are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.provider import TextDelta
from ollm_tui.settings.schema import Retention, Settings
from tests.tui.browser_desk import Desk
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, send, state

EPHEMERAL = Settings(retention=Retention(mode="ephemeral"))
SCRIPT = [[TextDelta("one")], [TextDelta("two")], [TextDelta("three")]]


async def test_the_status_line_says_that_nothing_is_kept(open_app: OpenApp) -> None:
    async with open_app(SCRIPT, settings=EPHEMERAL) as (app, pilot):
        assert "ephemeral" in state(app)
        await send(app, pilot, "hello")
        assert "ephemeral" in state(app) and "saved" not in state(app)
        await send(app, pilot, "/save")
        assert "Ephemeral sessions are not saved · /export" in state(app)


async def test_a_snapshot_of_it_is_where_it_is_said_to_be(open_app: OpenApp, home: Path) -> None:
    async with open_app(SCRIPT, settings=EPHEMERAL, size=(100, 30)) as (app, pilot):
        on = Desk(app, pilot)
        await send(app, pilot, "swordfish")
        await on.press("ctrl+t")
        assert "returns here" in state(app)
        await send(app, pilot, "and more")
        await send(app, pilot, "/restore")
        await on.settle()
        assert "swordfish" in on.screen and "1 session · 1 snapshot" in on.screen
        await on.press("enter")
        assert [message.text for message in chat(app).chat.conversation.state.branch()] == [
            *("swordfish", "one")
        ]
        await on.press("f2")
        assert "swordfish" in shown(app) and "No sessions yet" not in shown(app)
    assert not list((home / "sessions").rglob("*.j*"))


@pytest.mark.more
async def test_it_is_forked_in_memory_and_the_first_one_stays(
    open_app: OpenApp, home: Path
) -> None:
    async with open_app(SCRIPT, settings=EPHEMERAL, size=(100, 30)) as (app, pilot):
        on = Desk(app, pilot)
        await send(app, pilot, "swordfish")
        first = chat(app).chat.conversation.session_id
        await send(app, pilot, "and more")
        await on.press("alt+up", "k", "k", "f")
        assert "you are in the new session, not saved either" in state(app)
        fork = chat(app).chat.conversation
        assert [message.text for message in fork.state.branch()] == ["swordfish", "one"]
        assert fork.session_id != first and "ephemeral" in state(app)
        await on.press("f3")
        assert "2 sessions" in on.screen
        await on.press("escape", "ctrl+n")
        await send(app, pilot, "swordfish again")
        assert not chat(app).chat.conversation.is_kept
        await on.press("f3")
        assert "3 sessions" in on.screen
        await chat(app).open_session(first)
        await on.press("escape")
        assert len(chat(app).chat.conversation.state.branch()) == 4
    assert not list((home / "sessions").rglob("*.j*"))
