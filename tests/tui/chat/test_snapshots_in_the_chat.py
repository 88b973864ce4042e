"""Snapshots from the chat: taken, gone back to by name, and undone; the sidebar shows them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from ollm_tui.core.provider import TextDelta
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.providers.scripted import Script
from ollm_tui.services.snapshots.snapshot_library import DELETED_DAYS, SnapshotLibrary
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.browser.sidebar import ChatSidebar
from ollm_tui.tui.chat.chat_points import ChatPoints
from ollm_tui.tui.kit.live_keys import LiveKeys
from tests.cases import some
from tests.tui.browser_desk import Desk, desk
from tests.tui.browser_samples import fill_with_snapshots, full_id
from tests.tui.chat.test_chat_commands import answers
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, state, stream
from tests.tui.typing_in import type_in

MAIN = ["q0", "a0", "q1", "a1", "q2", "a2", "q3", "a3", "q4", "a4"]


async def say(on: Desk, text: str) -> None:
    await type_in(on.pilot, text)
    await on.press("enter")


def sidebar(on: Desk) -> list[str]:
    pane = on.app.screen.query_one(ChatSidebar).session_list
    return [pane.render_line(y).text.strip() for y in range(8)]


async def test_a_snapshot_is_taken_by_key_and_by_name_and_says_so(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("ctrl+t")
        assert state(on.app).startswith("Snapshot taken · Ctrl+S or /restore returns here")
        await say(on, "/snapshot [b]before the rewrite")
        assert "Snapshot “[b]before the rewrite” taken" in state(on.app)
        names = [each.name for each in await chat(on.app).chat.conversation.snapshots.list()]
        assert names[:2] == ["[b]before the rewrite", ""]


@pytest.mark.more
async def test_of_an_empty_conversation_none_is_taken(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        on = Desk(app, pilot)
        await on.press("ctrl+t")
        assert state(app).startswith("No messages yet · send a message first")


@some(1, "words", ("before the log", "THE LOG", "snap0028"))
async def test_restore_finds_a_snapshot_by_its_name_or_id(
    open_app: OpenApp, home: Path, words: str
) -> None:
    async with desk(open_app, home) as on:
        await say(on, f"/restore {words}")
        assert on.branch == MAIN[:6]
        assert "Back at “before the log”" in state(on.app)


@pytest.mark.more
async def test_a_list_that_was_opened_before_the_session_goes_back_in_it(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        conversation = chat(on.app).chat.conversation
        points = ChatPoints(chat(on.app).bring_to_front(None))
        chat(on.app).show_conversation(conversation, ())
        found = next(
            each for each in await conversation.snapshots.list() if each.name == "before the log"
        )
        await points.go_to(Point(found.session_id, found.id))
        assert chat(on.app).chat.conversation is conversation
        assert on.branch == MAIN[:6] and points.now()


@pytest.mark.more
async def test_restore_says_when_no_snapshot_is_called_so(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await say(on, "/restore nothing")
        assert state(on.app).startswith("No single snapshot matches 'nothing'")
        assert on.branch == MAIN


async def test_what_is_said_after_going_back_goes_on_from_there(
    open_app: OpenApp, home: Path
) -> None:
    script: Script = answers("Then so.")
    async with desk(open_app, home, script=script) as on:
        await say(on, "/restore before the log")
        await say(on, "Without the log, then?")
        assert on.branch[:6] == MAIN[:6] and len(on.branch) == 8
        assert stream(on.app)[-1] == "┃ Then so."


async def test_b_ends_the_conversation_after_the_turn_and_u_takes_it_back(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("alt+up", "k", "k", "k", "k", "k")
        assert "b rewind here" in state(on.app) and "B rewind before" in state(on.app)
        assert chat(on.app).transcript.cursor.key == "q3"
        await on.press("b")
        assert on.branch == MAIN[:8]
        assert "/undo reverts it · 2 messages kept as a branch" in state(on.app)
        assert stream(on.app)[-2].startswith("┃ Part 17 fails"), "then the line of the compression"
        await on.press("alt+up", "u")
        assert on.branch == MAIN and state(on.app).startswith("Rewind undone · ")


async def test_get_back_to_before_i_pasted_that_log(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press("escape", "escape", "k", "k", "k")
        assert chat(on.app).transcript.cursor.key == "q3"
        await on.press("B")
        assert on.branch == MAIN[:6]
        assert not any("log" in line for line in stream(on.app))


@pytest.mark.more
async def test_before_the_first_message_there_is_nothing_to_go_back_to(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("alt+up", "g", "B")
        assert state(on.app).startswith("Nothing before that message")
        await on.press("G", "b")
        assert state(on.app).startswith("Already there")
        await say_in_prompt(on, "/back")
        assert state(on.app).startswith("No message selected")


async def say_in_prompt(on: Desk, text: str) -> None:
    await on.press("escape")
    await say(on, text)


async def test_undo_takes_back_whatever_was_last(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await say(on, "/restore before the log")
        await say(on, "/undo")
        assert on.branch == MAIN, "the restore was last"
        assert state(on.app).startswith("Restore undone · ")
        await say(on, "/undo")
        metadata = chat(on.app).chat.conversation.state.header.metadata
        assert metadata.compression_history[0].undone_at, "then the compression before it"
        await say(on, "/undo")
        assert "No compression to undo" in state(on.app)


async def test_nothing_is_gone_back_to_while_the_model_answers(
    open_app: OpenApp, home: Path
) -> None:
    script: Script = [[TextDelta("A"), asyncio.Event()]]
    async with desk(open_app, home, script=script) as on:
        await type_in(on.pilot, "more")
        await on.pilot.press("enter")
        await on.pilot.pause(0.1)
        await type_in(on.pilot, "/restore before the log")
        await on.pilot.press("enter")
        await on.pilot.pause(0.1)
        assert "Still answering" in state(on.app)
        chat(on.app).chat.conversation.cancel()
        await on.settle()
        assert on.branch[:10] == MAIN


async def test_the_sidebar_shows_the_snapshots_of_the_open_session_and_enter_restores(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f2")
        lines = sidebar(on)
        assert lines[1].startswith("▸ retry logic")
        assert [line[:3] for line in lines[2:6]] == ["├ ◇", "├ ◆", "├ ◇", "└ ◇"]
        await on.press("down", "down")
        assert "Enter restore here" in " ".join(on.app.screen.query_one(LiveKeys).hints)
        await on.press("enter")
        assert on.branch == MAIN[:6] and on.app.focused is prompt(on.app)
        await on.press("ctrl+t")
        assert len([line for line in sidebar(on) if "◆" in line]) == 2


@pytest.mark.more
async def test_a_snapshot_in_the_sidebar_is_deleted_and_brought_back(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f2", "down", "down", "delete")
        assert len(await on.app.workspace.snapshots.list(full_id(0))) == 3
        await on.press("u")
        assert len(await on.app.workspace.snapshots.list(full_id(0))) == 4


@pytest.mark.more
async def test_editing_a_message_brings_along_again_what_it_had(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, script=answers("Yes.")) as on:
        await on.press("f3", "down", "end", "tab", "g", "escape", "escape")
        await say(on, " is that right?")
        asked = chat(on.app).chat.conversation.state.branch()[-2]
        assert "[earlier message 1] is that right?" in asked.text
        await on.press("escape", "escape", "e")
        assert "[earlier message 1 · 1 line" in prompt(on.app).text


@pytest.mark.more
async def test_what_was_deleted_long_ago_goes_for_good_after_the_start(
    open_app: OpenApp, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_with_snapshots(home)
    library = SnapshotLibrary.at(StoreLayout(home / "sessions"))
    library.delete(full_id(0), "snap0028")
    async with open_app(session_id=full_id(0)):
        assert [each.summary.id for each in library.deleted()] == ["snap0028"]
    later = time.time_ns() + (DELETED_DAYS + 1) * 24 * 3600 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: later)
    async with open_app(session_id=full_id(0)):
        assert library.deleted() == []
        assert len(library.list(full_id(0))) == 3


@some(
    1,
    ("width", "told"),
    [
        (140, "· the model was gemma3:4b · F7 switches"),
        (80, "model was gemma3:4b (F7) · /undo reverts it"),
    ],
)
async def test_after_going_back_it_is_said_which_model_answered_then(
    open_app: OpenApp, home: Path, width: int, told: str
) -> None:
    async with desk(open_app, home, size=(width, 40)) as on:
        conversation = chat(on.app).chat.conversation
        await on.app.workspace.switch_model(conversation, None, "tiny")
        await say(on, "/restore before the log")
        assert told in state(on.app) and "/undo reverts it" in state(on.app)
        assert conversation.choice.model == "tiny", "going back does not change who answers"


@pytest.mark.more
async def test_where_the_same_model_answers_nothing_is_said_of_it(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, size=(140, 40)) as on:
        await say(on, "/snapshot mine")
        await say(on, "/restore mine")
        assert "Back at “mine”" in state(on.app) and "model" not in state(on.app)
