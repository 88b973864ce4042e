"""Keys that come faster than the browser reads or moves the focus do what they say, in order."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.drivers.headless_driver import HeadlessDriver

from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.browser.screen import SessionBrowser
from ollm_tui.tui.browser.session_actions import Done
from ollm_tui.tui.browser.session_pane import FindLine
from ollm_tui.tui.chat.screen import ChatScreen
from tests.tui.browser_desk import Desk, desk
from tests.tui.browser_samples import full_id
from tests.tui.conftest import OpenApp
from tests.tui.typing_in import type_in


def send(on: Desk, *keys: str) -> None:
    """Keys as a terminal delivers them: at once, without waiting for what they do."""
    driver = on.app._driver  # pyright: ignore[reportPrivateUsage] where keys come in
    assert isinstance(driver, HeadlessDriver)
    for key in keys:
        character = " " if key == "space" else key if len(key) == 1 else None
        event = events.Key(key, character)
        event.set_sender(on.app)
        driver.send_message(event)


@pytest.mark.more
async def test_down_and_up_again_in_one_go_end_where_they_began(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3")
        send(on, "down", "down", "down", "up", "up", "down")
        await on.settle()
        assert on.line == "main ●" and on.app.focused is on.browser.session_tree


async def test_enter_in_one_go_with_moves_opens_the_line_they_led_to(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "down", "end")
        assert on.line == "css grid puzzle"
        send(on, "up", "up", "up", "up", "up", "enter")
        await on.settle()
        assert isinstance(on.app.screen, ChatScreen)
        assert on.branch == ["q0", "a0", "q1", "a1", "q2", "a2"], "the snapshot before the log"


@pytest.mark.more
async def test_up_while_finding_goes_to_the_line_above(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "pagedown", "slash")
        assert isinstance(on.app.focused, FindLine)
        before = on.line
        send(on, "up", "down")
        await on.settle()
        assert on.line == before and on.app.focused is on.browser.session_tree


@pytest.mark.more
async def test_up_beyond_the_first_line_and_down_stays_on_it(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "down")
        send(on, "up", "up", "down")
        await on.settle()
        assert on.line == "retry logic for the uploader"
        send(on, "up", "up", "up", "up", "enter")
        await on.settle()
        assert isinstance(on.app.screen, ChatScreen)
        assert on.app.conversation and on.app.conversation.session_id == full_id(0)


async def test_words_typed_in_one_go_are_words_also_where_a_letter_is_a_key(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "down")
        send(on, "c", "s", "s", "space", "g", "r", "i", "d")
        await on.settle()
        assert isinstance(on.app.screen, SessionBrowser), "d compares nothing here"
        assert on.browser.query_one(FindLine).value == "css grid"
        assert on.line == "css grid puzzle"


@pytest.mark.more
async def test_tab_and_the_keys_after_it_go_to_the_messages(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "down")
        send(on, "tab", "up", "up", "up", "up")
        await on.settle()
        assert on.line == "retry logic for the uploader", "the list stays where it was"
        send(on, "enter")
        await on.settle()
        assert on.branch == ["q0", "a0", "q1", "a1", "q2", "a2"]


async def test_keys_before_the_messages_are_read_are_not_forgotten(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "down")
        send(on, "down", "tab", "k", "k", "k")
        await on.settle()
        send(on, "B")
        await on.settle()
        assert on.branch == ["q0", "a0", "q1", "a1", "q2", "a2"], "three up from the last message"


async def test_messages_of_another_line_are_never_gone_back_to(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "down")
        before = on.branch
        send(on, "end", "tab", "enter")
        await on.settle()
        # Where they were not read in time there is nothing to rewind to yet.
        assert on.branch in (before, ["q2-0", "a2-0"])


@pytest.mark.more
async def test_what_is_done_meanwhile_does_not_move_the_highlight_back(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("f3", "down")
        done = asyncio.Event()

        async def change() -> Done:
            await done.wait()
            return Done("done", Point(full_id(0)))

        on.browser.carry_out(change)
        await on.pilot.press("down", "down")
        there = on.line
        done.set()
        await on.settle()
        assert on.line == there != "retry logic for the uploader"


@pytest.mark.more
async def test_a_late_reading_does_not_move_the_highlight_to_the_newest_snapshot(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await type_in(on.pilot, "/restore")
        send(on, "enter")
        while not isinstance(on.app.screen, SessionBrowser) or not on.browser.session_tree.point:
            await on.pilot.pause(0)
        on.browser.session_tree.action_last()
        there = on.line
        await on.settle()
        assert on.line == there == "css grid puzzle"
