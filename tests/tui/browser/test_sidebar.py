"""The sidebar: it shows the sessions and says what is wanted with them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import TextArea

from ollm_tui.engine.snapshots.points import Point
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.browser.session_pane import FindLine, RenameLine
from ollm_tui.tui.browser.sidebar import Sidebar
from ollm_tui.tui.kit.live_keys import LiveKeys
from tests.cases import some
from tests.engine.conftest import workspace_on
from tests.tui.browser.session_samples import ThemedApp, fill

HERE = Point("the highlighted one")


class Screen(ThemedApp):
    """The sidebar beside a place to write."""

    def __init__(self) -> None:
        super().__init__()
        self.sidebar = Sidebar()
        self.wanted: list[Message] = []

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self.sidebar
            yield TextArea()

    @on(SessionList.Opened)
    @on(SessionList.RenameRequested)
    @on(SessionList.PinRequested)
    @on(SessionList.DeleteRequested)
    @on(SessionList.ForkRequested)
    @on(SessionList.NewRequested)
    @on(SessionList.UndoRequested)
    def note(self, event: Message) -> None:
        self.wanted.append(event)

    @property
    def keys(self) -> str:
        return " ".join(self.query_one(LiveKeys).hints)

    @property
    def line(self) -> str | None:
        highlighted = self.sidebar.session_list.highlighted
        return highlighted.text if highlighted else None


@asynccontextmanager
async def shown(home: Path, *titles: str) -> AsyncGenerator[tuple[Screen, Pilot[Any], list[str]]]:
    names = fill(home, titles) if titles else fill(home)
    workspace = workspace_on(home, (), Settings())
    app = Screen()
    async with app.run_test(size=(80, 24)) as pilot:
        app.sidebar.show_sessions(await workspace.sessions(), names[0])
        app.sidebar.begin()
        await pilot.pause()
        yield app, pilot, names
    await workspace.close()


async def test_it_begins_on_the_open_session(home: Path) -> None:
    async with shown(home) as (app, _, _names):
        assert app.line == "retry logic"
        assert app.focused is app.sidebar.session_list


@some(
    2,
    ("key", "wanted"),
    [
        ("enter", SessionList.Opened(HERE)),
        ("p", SessionList.PinRequested(HERE, True)),
        ("backspace", SessionList.DeleteRequested(HERE, "regex for logs")),
        ("delete", SessionList.DeleteRequested(HERE, "regex for logs")),
        ("f", SessionList.ForkRequested(HERE)),
        ("n", SessionList.NewRequested()),
        ("u", SessionList.UndoRequested()),
    ],
)
async def test_every_key_says_what_is_wanted(home: Path, key: str, wanted: Message) -> None:
    async with shown(home) as (app, pilot, names):
        await pilot.press("down", key)
        await pilot.pause()
        [event] = app.wanted
        expected = {
            name: Point(names[1]) if value == HERE else value
            for name, value in vars(wanted).items()
            if not name.startswith("_")
        }
        assert type(event) is type(wanted)
        assert {name: getattr(event, name) for name in expected} == expected


async def test_a_title_is_typed_in_place(home: Path) -> None:
    async with shown(home) as (app, pilot, names):
        await pilot.press("r")
        assert isinstance(app.focused, RenameLine) and app.focused.value == "retry logic"
        await pilot.press("end", "!", "enter")
        await pilot.pause()
        [event] = app.wanted
        assert isinstance(event, SessionList.RenameRequested)
        assert (event.point, event.title) == (Point(names[0]), "retry logic!")
        assert app.focused is app.sidebar.session_list


@some(1, "keys", (["x", "escape"], ["enter"], ["delete", "enter"]))
async def test_no_other_title_is_no_wish(home: Path, keys: list[str]) -> None:
    async with shown(home) as (app, pilot, _):
        await pilot.press("r", *keys)
        await pilot.pause()
        assert app.wanted == []
        assert app.focused is app.sidebar.session_list


@some(1, "keys", (["slash", "c", "s", "s"], ["c", "s", "s"]))
async def test_a_slash_or_a_letter_that_is_no_key_finds(home: Path, keys: list[str]) -> None:
    async with shown(home) as (app, pilot, names):
        assert not app.query_one(FindLine).is_on_screen
        await pilot.press(*keys)
        await pilot.pause()
        assert app.query_one(FindLine).value == "css"
        assert app.line == "css grid puzzle" and "Esc back" in app.keys
        await pilot.press("enter")
        await pilot.pause(0.02)
        [event] = app.wanted
        assert isinstance(event, SessionList.Opened) and event.point == Point(names[2])


async def test_escape_ends_finding_and_shows_all_again(home: Path) -> None:
    async with shown(home) as (app, pilot, _):
        await pilot.press("slash", "c", "s", "s", "escape")
        await pilot.pause()
        assert app.focused is app.sidebar.session_list
        assert app.query_one(FindLine).value == ""
        assert app.sidebar.session_list.virtual_size.height > 4
        assert app.line == "css grid puzzle"


@pytest.mark.more
async def test_the_arrow_goes_down_from_the_words_to_the_list(home: Path) -> None:
    async with shown(home) as (app, pilot, _):
        await pilot.press("slash", "e", "down", "down")
        assert app.focused is app.sidebar.session_list
        assert app.line == "regex for logs"


@pytest.mark.more
async def test_another_list_keeps_the_highlight(home: Path) -> None:
    async with shown(home) as (app, pilot, names):
        await pilot.press("down", "down")
        workspace = workspace_on(home, (), Settings())
        await workspace.rename(names[2], "another title")
        app.sidebar.show_sessions(await workspace.sessions(), names[0])
        await workspace.close()
        assert app.line == "another title"


async def test_the_keys_are_shown_while_they_matter(home: Path) -> None:
    async with shown(home) as (app, pilot, _):
        assert "Enter open" in app.keys and "r rename" in app.keys and "Del delete" in app.keys
        await pilot.press("r")
        assert "save" in app.keys and "r rename" not in app.keys
        await pilot.press("escape")
        app.query_one(TextArea).focus()
        await pilot.pause()
        assert not app.query_one(LiveKeys).display


@pytest.mark.more
async def test_what_was_done_is_said_until_the_highlight_moves(home: Path) -> None:
    async with shown(home) as (app, pilot, _):
        app.sidebar.tell("pinned")
        await pilot.pause()
        assert app.keys == "pinned"
        await pilot.press("down")
        await pilot.pause()
        assert "Enter open" in app.keys


async def test_without_sessions_it_says_how_one_begins(home: Path) -> None:
    async with shown(home) as (app, pilot, _):
        app.sidebar.show_sessions([])
        await pilot.press("enter", "p", "d", "f", "r")
        await pilot.pause()
        assert app.wanted == []
        first = app.sidebar.session_list.render_line(0).text
        assert first.strip().startswith("No sessions yet")


@pytest.mark.more
async def test_brackets_in_titles_are_only_text(home: Path) -> None:
    hostile = "[@click=app.bell()]x[/]"
    async with shown(home, hostile, "[/") as (app, pilot, _):
        await pilot.press("r")
        await pilot.pause()
        assert app.query_one(RenameLine).value == hostile
        app.sidebar.tell(f"deleted {hostile}")
        await pilot.pause()
        assert hostile in app.query_one(LiveKeys).render().plain
