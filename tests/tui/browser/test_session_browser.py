"""The browser on real files: find, look into, open, change, delete and bring back sessions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static
from textual.worker import WorkerCancelled

from ollm_tui.core.session.message import Message
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.browser.screen import SessionBrowser
from ollm_tui.tui.browser.session_actions import SessionActions
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.browser.session_pane import FindLine, RenameLine
from ollm_tui.tui.browser.session_preview import PreviewStream, SessionPreview
from ollm_tui.tui.kit.live_keys import LiveKeys
from tests.cases import some
from tests.engine.conftest import workspace_on
from tests.tui.browser.session_samples import ThemedApp, fill

NOTHING = "nothing yet"
NEW_SESSION = "a new one"


class Picked:
    """An open browser, as a test looks at it; it stands in for the chat beside it too."""

    def __init__(self, app: ThemedApp, pilot: Pilot[Any], names: list[str], store: Workspace):
        self.app = app
        self.pilot = pilot
        self.names = names
        self.workspace = store
        self.result: str | None = NOTHING
        self.went_to: str | None = None

    async def go_to(self, point: Point) -> None:
        self.went_to = point.session_id

    async def begin_new(self) -> None:
        self.went_to = NEW_SESSION

    def bring(self, messages: Sequence[Message], session_id: str) -> None:
        raise AssertionError("nothing is brought along here")

    def now(self) -> ContextSnapshot | None:
        return None

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        for _ in range(2):  # what was read may have more to be read
            await self.pilot.pause(0.02)
            with suppress(WorkerCancelled):  # what was being read for a browser that is closed
                await self.app.workers.wait_for_complete()  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        await self.pilot.pause()

    @property
    def list(self) -> SessionList:
        return self.app.screen.query_one(SessionList)

    @property
    def line(self) -> str | None:
        return self.list.highlighted.text if self.list.highlighted else None

    @property
    def keys(self) -> str:
        return "  ".join(self.app.screen.query_one(LiveKeys).hints)

    @property
    def preview(self) -> str:
        facts = self.app.screen.query(SessionPreview).first().query(Static)
        stream = self.app.screen.query_one(PreviewStream)
        lines = [stream.render_line(y).text.strip() for y in range(stream.size.height)]
        return "\n".join([*(str(fact.content) for fact in facts), *lines])

    async def titles(self) -> list[str]:
        return [summary.title for summary in await self.workspace.sessions()]


@asynccontextmanager
async def picker(
    home: Path, size: tuple[int, int] = (120, 30), sessions: int | None = None
) -> AsyncGenerator[Picked]:
    names = fill(home) if sessions is None else fill(home, [f"s{n}" for n in range(sessions)])
    workspace = workspace_on(home, (), Settings())
    app = ThemedApp()
    async with app.run_test(size=size) as pilot:
        picked = Picked(app, pilot, names, workspace)

        def keep(_: None) -> None:
            picked.result = picked.went_to

        current = names[1] if len(names) > 1 else None
        screen = SessionBrowser(SessionActions(workspace), picked, current)
        await app.push_screen(screen, keep)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        await picked.settle()
        yield picked
    await workspace.close()


async def test_it_opens_on_the_current_session_ready_to_find(home: Path) -> None:
    async with picker(home) as picked:
        assert isinstance(picked.app.focused, FindLine)
        assert picked.line == "regex for logs"
        assert "Enter continue" in picked.keys and "↓ more actions" in picked.keys


async def test_typing_finds_and_enter_opens(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("g", "r", "i", "d")
        assert picked.line == "css grid puzzle"
        await picked.press("enter")
        assert picked.result == picked.names[2]


@pytest.mark.more
async def test_escape_first_forgets_the_words_then_closes(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("g", "r")
        assert "Esc back" in picked.keys
        await picked.press("escape")
        assert picked.app.screen.query_one(FindLine).value == "" and picked.result == NOTHING
        assert "Esc close" in picked.keys
        await picked.press("escape")
        assert picked.result is None


@some(1, "key", ("f3", "ctrl+s"))
async def test_the_key_that_opened_it_closes_it(home: Path, key: str) -> None:
    async with picker(home) as picked:
        await picked.press(key)
        assert picked.result is None


async def test_the_preview_shows_facts_and_the_last_words(home: Path) -> None:
    async with picker(home) as picked:
        for expected in ("regex for logs", "qwen · ollama", "2 messages · 5.2k tokens"):
            assert expected in picked.preview
        assert "/home/me/uploader" in picked.preview
        assert "What about regex for logs?" in picked.preview
        await picked.press("down", "down")
        assert "Much about css grid puzzle." in picked.preview
        assert "regex" not in picked.preview


@pytest.mark.more
async def test_a_narrow_screen_has_no_preview(home: Path) -> None:
    async with picker(home, (80, 24)) as picked:
        assert not picked.app.screen.query_one(SessionPreview).display
        assert picked.list.size.width == 80
        await picked.pilot.resize_terminal(120, 24)
        await picked.settle()
        assert picked.app.screen.query_one(SessionPreview).display
        assert "What about regex for logs?" in picked.preview


async def test_tab_goes_to_the_messages_and_back_to_the_list(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("tab")
        assert "B rewind before it" in picked.keys
        await picked.press("tab")
        assert picked.app.focused is picked.list


@pytest.mark.more
async def test_the_keys_of_the_list_work_when_it_has_the_focus(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("down")
        assert picked.app.focused is picked.list and picked.line == "regex for logs"
        assert "r rename" in picked.keys and "/ find" in picked.keys
        await picked.press("n")
        assert picked.result == NEW_SESSION


@pytest.mark.more
async def test_a_letter_that_is_no_key_goes_back_to_finding(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("down", "c", "s")
        assert picked.app.screen.query_one(FindLine).value == "cs"
        assert picked.line == "css grid puzzle"


@pytest.mark.more
async def test_up_from_the_first_line_goes_back_to_finding(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("down", "up")
        assert picked.app.focused is picked.list and picked.line == "retry logic"
        await picked.press("up")
        assert isinstance(picked.app.focused, FindLine)


async def test_a_session_is_renamed_in_place(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("down", "r")
        assert isinstance(picked.app.focused, RenameLine)
        await picked.press("N", "e", "w", "enter")
        assert await picked.titles() == ["retry logic", "New", "css grid puzzle", "parser, 2nd try"]
        assert picked.line == "New" and picked.keys == "Renamed · u undo"
        assert picked.preview.startswith("New\n")
        await picked.press("r", "x", "escape")
        assert picked.line == "New" and picked.result == NOTHING


async def test_a_session_is_pinned_and_unpinned(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("down", "down", "p")
        assert picked.list.render_line(0).text.strip() == "Pinned"
        assert picked.line == "css grid puzzle" and "Pinned" in picked.keys
        assert [s.title for s in await picked.workspace.sessions() if s.pinned] == [picked.line]
        await picked.press("p")
        assert picked.keys == "Unpinned"
        assert not [s for s in await picked.workspace.sessions() if s.pinned]


async def test_deleted_sessions_come_back_one_after_the_other(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("down", "delete")
        assert picked.keys == "Deleted “regex for logs” · u undo"
        assert picked.line == "css grid puzzle", "the line that took its place"
        await picked.press("delete")
        assert await picked.titles() == ["retry logic", "parser, 2nd try"]
        await picked.press("u")
        assert picked.line == "css grid puzzle"
        assert picked.keys == "Restored “css grid puzzle”"
        await picked.press("u")
        assert picked.line == "regex for logs"
        assert len(await picked.titles()) == 4
        await picked.press("u")
        assert picked.keys.startswith("Nothing to undo")


async def test_a_fork_is_highlighted_and_can_be_opened(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("down", "f")
        assert picked.line == "regex for logs (fork)"
        await picked.press("enter")
        assert picked.result not in (*picked.names, None, NOTHING)


@pytest.mark.more
async def test_what_fails_is_said_in_one_line_and_changes_nothing(home: Path) -> None:
    async with picker(home) as picked:
        conversation, _ = await picked.workspace.resume(picked.names[1])
        await picked.press("down", "delete")
        assert picked.keys == "The session is open · switch to another, or /close it"
        assert len(await picked.titles()) == 4
        await conversation.close()


@pytest.mark.more
async def test_another_process_writing_a_session_is_said(home: Path) -> None:
    other = workspace_on(home, (), Settings())
    async with picker(home) as picked:
        conversation, _ = await other.resume(picked.names[1])
        await picked.press("down", "p")
        assert "Another" in picked.keys
        await conversation.close()
    await other.close()


async def test_a_damaged_session_says_why_and_hides_no_other(home: Path) -> None:
    names = fill(home, ["good", "bad"])
    StoreLayout(home / "sessions").session(names[1]).write_text("{not json")
    workspace = workspace_on(home, (), Settings())
    app = ThemedApp()
    async with app.run_test(size=(120, 30)) as pilot:
        picked = Picked(app, pilot, names, workspace)
        await app.push_screen(SessionBrowser(SessionActions(workspace), picked, names[1]))  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        await picked.settle()
        assert picked.list.highlighted and picked.list.highlighted.mark.endswith("●")
        assert "! Cannot read" in picked.preview and "doctor --repair" in picked.preview
        await picked.press("g", "o", "o", "d")
        assert "What about good?" in picked.preview
    await workspace.close()


async def test_an_empty_store_teaches(home: Path) -> None:
    async with picker(home, sessions=0) as picked:
        assert "No sessions yet" in picked.list.render_line(0).text
        await picked.press("enter", "down", "enter", "d", "p", "delete", "right", "tab")
        assert picked.result == NOTHING


@pytest.mark.more
async def test_the_words_to_find_by_lose_their_controls(home: Path) -> None:
    async with picker(home) as picked:
        picked.app.screen.query_one(FindLine).insert_text_at_cursor("g\x1b]52;c;eA==\x07rid\n")
        await picked.settle()
        assert picked.app.screen.query_one(FindLine).value.strip() == "grid"
        assert picked.line == "css grid puzzle"


@pytest.mark.more
async def test_sixty_columns_are_enough(home: Path) -> None:
    async with picker(home, (60, 20)) as picked:
        await picked.press("down", "r")
        assert picked.list.size.width == 60 and picked.list.size.height >= 12
        assert picked.app.screen.query_one(LiveKeys).size.height <= 3


async def test_the_trash_has_what_was_deleted(home: Path) -> None:
    async with picker(home) as picked:
        await picked.press("down", "delete")
        [note] = SessionLibrary.at(StoreLayout(home / "sessions")).trashed()
        assert note.title == "regex for logs"


async def test_a_store_that_cannot_be_written_is_said_and_nothing_is_lost(home: Path) -> None:
    async with picker(home) as picked:
        StoreLayout(home / "sessions").trash.write_text("a file in the place of the directory")
        await picked.press("down", "delete")
        assert picked.keys.startswith("Storage error")
        assert len(await picked.titles()) == 4
