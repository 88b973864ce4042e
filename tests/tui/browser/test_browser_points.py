"""The browser at snapshots and branches: found, looked at, gone to, forked, changed, compared."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ollm_tui.engine.snapshots.points import Point
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.browser.diff_screen import SnapshotDiffScreen
from ollm_tui.tui.browser.screen import SessionBrowser
from ollm_tui.tui.browser.session_actions import Done
from ollm_tui.tui.browser.session_pane import FindLine
from ollm_tui.tui.browser.session_preview import SessionPreview
from ollm_tui.tui.browser.snapshot_choices import key_of, point_of
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.kit.question import Question
from tests.engine.conftest import workspace_on
from tests.services.sync.several_machines import MemoryRemote, OneMachine
from tests.tui.browser_desk import Desk, desk
from tests.tui.browser_samples import fill_with_snapshots, full_id
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, state, stream
from tests.tui.typing_in import type_in

AT_THE_LOG = ("f3", "down", "down", "down", "down")
"""To the named snapshot."""


async def test_the_open_session_shows_its_branches_and_snapshots(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3")
        assert on.line == "retry logic for the uploader"
        assert [line.strip() for line in on.lines[1:8]] == [
            "▾● retry logic for the uploader",
            "├ main ●",
            "│ ├ ◇ before compressing: Look at this log: [paste 1]",
            "│ ├ ◆ before the log",
            "│ └ ◇ before a mode switch: Where does the budget belong?",
            "└ answer: Write it down before the request is made.",
            "└ ◇ before a model switch: And what if the process restarts…",
        ] or on.lines[1:8]
        assert "3 sessions · 4 snapshots" in on.screen


async def test_snapshots_of_other_sessions_are_read_when_they_are_opened_up(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "end", "down", "end")
        assert on.line == "css grid puzzle" and not on.browser.session_tree.knows(full_id(2))
        await on.press("right")
        assert on.browser.session_tree.knows(full_id(2))
        assert "No snapshots yet. Ctrl+T takes one; so does every compression" in on.screen


@pytest.mark.more
async def test_left_goes_up_to_the_session_and_closes_it(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press(*AT_THE_LOG)
        assert on.line == "◆ before the log"
        await on.press("left")
        assert on.line == "retry logic for the uploader"
        await on.press("left")
        assert "before the log" not in "".join(on.lines)
        await on.press("right", "right")
        assert on.line == "main ●"


async def test_finding_looks_at_names_of_snapshots_below_closed_sessions(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("ctrl+n")
        await on.press("f3")
        assert "before the log" not in "".join(on.lines)
        await type_in(on.pilot, "before log")
        await on.settle()
        assert "◆ before the log" in "".join(on.lines)
        await on.press("down", "down", "down")
        assert on.line == "◆ before the log"
        await on.press("escape")
        assert on.browser.query_one(FindLine).value == ""


@pytest.mark.more
async def test_what_was_only_found_by_its_name_is_read_whole_when_it_is_opened_up(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("ctrl+n")
        await on.press("f3")
        await type_in(on.pilot, "retry")
        await on.settle()
        await on.press("escape", "down", "right")
        assert any("answer: Write it down" in line for line in on.lines)


async def test_the_preview_tells_what_is_there(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press(*AT_THE_LOG)
        assert "◆ before the log" in on.preview
        assert "6 messages · 3 yours" in on.preview and "goal “ship the uploader”" in on.preview
        # Its session is open, so it is counted as the gauge would count it after going there.
        conversation = on.app.conversation
        assert conversation
        snapshot = next(each for each in await conversation.snapshots.list() if each.name)
        there = await conversation.snapshots.get(snapshot.id)
        counted = await conversation.snapshots.counted(there)
        about = "≈" if counted.tokens_estimated else ""
        assert f"{about}{counted.token_count:,} of 8,192 tokens" in on.screen
        assert "Keep the counter with the job." in on.preview
        assert "Look at this log" not in on.preview


async def test_enter_goes_back_to_a_snapshot_and_undo_takes_it_back(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        before = on.branch
        await on.press(*AT_THE_LOG)
        assert "Enter restore here" in on.keys
        await on.press("enter")
        assert isinstance(on.app.screen, ChatScreen) and on.branch[-1] == "a2"
        assert stream(on.app)[-1].startswith("┃ Keep the counter")
        assert state(on.app).startswith("Back at “before the log” · /undo reverts it · 4 messages")
        await type_in(on.pilot, "/undo")
        await on.press("enter")
        assert on.branch == before and "undone" in state(on.app)


async def test_enter_switches_to_a_branch(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press(*AT_THE_LOG, "down", "down")
        assert on.line.startswith("answer: Write it down") and "switch to this branch" in on.keys
        assert "r rename" not in on.keys and "Del delete" not in on.keys
        await on.press("enter")
        assert on.branch[-1] == "b2"


@pytest.mark.more
async def test_a_snapshot_of_another_session_opens_that_one_first(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("ctrl+n")
        await on.press("f3")
        await type_in(on.pilot, "before the log")
        await on.settle()
        await on.press("down", "down", "enter")
        assert chat(on.app).chat.conversation.session_id == full_id(0)
        assert on.branch[-1] == "a2"


@pytest.mark.more
async def test_a_session_that_is_open_elsewhere_offers_the_fork(
    open_app: OpenApp, home: Path
) -> None:
    fill_with_snapshots(home)
    other = workspace_on(home, (), Settings())
    held, _ = await other.resume(full_id(0))
    async with open_app() as (app, pilot):
        on = Desk(app, pilot)
        await on.press("f3", "down")
        assert on.line == "retry logic for the uploader"
        await on.press("right", "right", "down", "down", "enter")
        assert isinstance(app.screen, SessionBrowser)
        assert on.keys.startswith("Open in another window · f forks")
        await on.press("f")
        assert on.line == "retry logic for the uploader (fork)"
        await on.press("enter")
        assert on.branch == ["q0", "a0", "q1", "a1", "q2", "a2"]
    await held.close()
    await other.close()


async def test_a_snapshot_is_renamed_pinned_deleted_and_all_of_it_undone(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press(*AT_THE_LOG, "r")
        await on.press("N", "e", "w", "enter")
        assert on.line == "◆ New" and on.keys == "Renamed · u undo"
        await on.press("down", "p")
        assert (
            on.line.startswith("◆ before a mode switch") and on.keys == "Pinned: never cleaned up"
        )
        await on.press("delete")
        assert on.keys == "Deleted “before a mode switch” · u undo"
        assert not any("another mode:" in line for line in on.lines)
        for expected in ("Restored", "Pin restored", "Old name restored"):
            await on.press("u")
            assert expected in on.keys
        names = [each.name for each in await on.app.workspace.snapshots.list(full_id(0))]
        assert names == ["", "before the log", "", ""]


@pytest.mark.more
async def test_a_fork_of_a_snapshot_is_a_session_of_its_own(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press(*AT_THE_LOG, "f")
        assert on.line == "retry logic for the uploader (fork)"
        assert "6 messages" in on.preview
        await on.press("enter")
        assert chat(on.app).chat.conversation.session_id != full_id(0)
        assert on.branch == ["q0", "a0", "q1", "a1", "q2", "a2"]


@pytest.mark.more
async def test_d_compares_with_the_present_and_m_then_d_compares_two(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press(*AT_THE_LOG, "d")
        assert isinstance(on.app.screen, SnapshotDiffScreen)
        assert "+ you    Look at this log: [paste 1]" in on.screen
        await on.press("escape", "m")
        assert on.keys.startswith("Marked · d on another line")
        await on.press("down")
        assert "d diff with marked" in on.keys
        await on.press("d")
        assert "− you    And what if the process restarts" in on.screen
        await on.press("escape", "up", "up", "up", "up", "d")
        assert on.keys.startswith("That is the current state")


@pytest.mark.more
async def test_x_exports_the_point(
    open_app: OpenApp, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    async with desk(open_app, home) as on:
        await on.press(*AT_THE_LOG, "x")
        assert isinstance(on.app.screen, Question)
        await on.press("enter")
        assert on.keys.startswith("Exported to")
        text = (tmp_path / "snap0028.md").read_text()
        assert "Keep the counter" in text and "Part 17" not in text
        await on.press("left", "x")
        await on.press(*"all.json", "enter")
        assert on.keys.startswith("Exported to")
        exported = json.loads((tmp_path / "all.json").read_text())
        assert len(exported["messages"]) == 11


@pytest.mark.more
async def test_y_copies_the_id(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press(*AT_THE_LOG, "y")
        assert on.keys.startswith("Snapshot id ")
        assert on.app.clipboard == "snap0028"


@pytest.mark.more
async def test_tags_and_archive_are_of_sessions_and_can_be_undone(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "down", "end", "t")
        await on.press(*"css #web", "enter")
        assert on.keys == "Tagged css web · u undo" and "#css · #web" in on.preview
        await on.press("up", "a")
        assert on.keys == "Archived · u undo"
        assert on.lines[-2:] == ["Archived", " ▸  regex for logs"] or "Archived" in on.screen
        await on.press("u")
        assert "Archived" not in on.screen
        await on.press("u")
        [summary] = [
            each for each in await on.app.workspace.sessions() if each.session_id == full_id(2)
        ]
        assert summary.tags == ()


async def test_from_its_messages_one_goes_back_to_one_or_to_before_it(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "down", "tab")
        assert "Enter rewind here" in on.keys and "B rewind before it" in on.keys
        await on.press("k", "k", "k", "B")
        assert isinstance(on.app.screen, ChatScreen)
        assert on.branch == ["q0", "a0", "q1", "a1", "q2", "a2"], "the log was the next"
        await on.press("f3", "down", "tab", "k", "k", "k", "enter")
        assert on.branch == ["q0", "a0", "q1", "a1"], "with its answer"


async def test_messages_are_brought_into_the_prompt_and_sent_as_data(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await type_in(on.pilot, "As here: ")
        await on.press("f3", "down", "end", "tab", "K", "g")
        assert on.keys.startswith("Attached 2 messages to the prompt")
        await on.press("escape", "escape")
        assert prompt(on.app).text.startswith("As here: ")
        assert "[earlier message 1 · 1 line" in prompt(on.app).text
        assert "[earlier message 2" in prompt(on.app).text
        names = [part.path for part in prompt(on.app).written.attachments]
        assert names == [f"{full_id(2)}/q2-0", f"{full_id(2)}/a2-0"]


@pytest.mark.more
async def test_restore_alone_opens_the_browser_at_the_newest_snapshot(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await type_in(on.pilot, "/restore")
        await on.press("enter")
        assert on.line.startswith("◇ before compressing")
        assert "Enter restore here" in on.keys and on.app.focused is on.browser.session_tree


@pytest.mark.more
async def test_on_sixty_columns_tab_shows_the_point_in_the_place_of_the_list(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, size=(60, 20)) as on:
        await on.press(*AT_THE_LOG)
        assert not on.browser.query_one(SessionPreview).display
        assert on.browser.session_tree.size.height >= 11
        await on.press("tab")
        assert on.browser.query_one(SessionPreview).display and "6 messages" in on.screen
        assert not on.browser.pane.display
        await on.press("escape")
        assert on.browser.pane.display and on.line == "◆ before the log"


async def test_a_damaged_snapshot_says_so_and_hides_no_other(open_app: OpenApp, home: Path) -> None:
    fill_with_snapshots(home)
    [file] = home.rglob("snapshot-snap0028.json")
    file.write_text("{torn")
    async with open_app(session_id=full_id(0), size=(120, 40)) as (app, pilot):
        on = Desk(app, pilot)
        await on.press("f3", "down", "down", "down")
        assert on.line == "! manual", "the newest file"
        await on.press("enter")
        assert isinstance(app.screen, SessionBrowser) and "Cannot read snapshot" in on.keys
        await on.press("down", "down", "enter")
        assert on.branch == ["q0", "a0", "q1", "a1"], "the others are as they were"


@pytest.mark.more
async def test_hostile_names_are_only_text(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        hostile = "[@click=app.bell()]x[/] \x1b]52;c;eA==\x07"
        await on.app.workspace.snapshots.rename(full_id(0), "snap0028", hostile)
        await on.press(*AT_THE_LOG)
        assert "[@click=app.bell()]x[/]" in on.line
        await on.press("d")
        assert "[@click=app.bell()]x[/]" in on.screen and "\x1b" not in on.screen


@pytest.mark.more
async def test_points_are_named_in_lists_by_their_ids() -> None:
    for point in (Point("s"), Point("s", "x"), Point("s", "", "m/1")):
        assert point_of(key_of(point)) == point


@pytest.mark.more
async def test_closing_it_while_it_still_reads_does_no_harm(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3")
        browser, reading = on.browser, asyncio.Event()

        async def change() -> Done:
            await reading.wait()
            return Done("done", Point(full_id(0)))

        browser.carry_out(change)
        await on.pilot.press("down", "down", "escape")
        reading.set()
        browser.show_keys()
        browser.say("nobody sees this")
        await on.settle()
        assert isinstance(on.app.screen, ChatScreen) and on.app.is_running


@pytest.mark.more
async def test_the_preview_tells_on_which_machine_a_session_went_on(
    open_app: OpenApp, home: Path, tmp_path: Path
) -> None:
    async with desk(open_app, home) as on:
        here, laptop = OneMachine(home), OneMachine(tmp_path / "laptop")
        title, remote = "css grid puzzle", MemoryRemote()
        summaries = here.library.catalogue.summaries()
        session_id = next(each.session_id for each in summaries if each.title == title)
        remote.push(here, "desk")
        remote.pull(laptop)
        laptop.say("later", session_id=session_id)
        remote.push(laptop, "laptop")
        remote.pull(here)
        await on.press("f3", *"css")
        assert title in on.preview and "continued on laptop, just now" in on.preview
        assert "on laptop · now" in on.screen
