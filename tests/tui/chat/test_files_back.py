"""After going back to a snapshot the files that tools changed since are offered, never forced."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from ollm_tui.engine.snapshots.points import Point
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.services.files.file_changes import FileWatch
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.chat.chat_points import ChatPoints
from ollm_tui.tui.chat.files_back import FilesBack, offer_files
from ollm_tui.tui.chat.screen import ChatScreen
from tests.cases import some
from tests.tui.browser_desk import Desk
from tests.tui.browser_samples import full_id, rich_session, take_snapshots
from tests.tui.conftest import OpenApp
from tests.tui.jobs_desk import until
from tests.tui.seen import chat, prompt, state
from tests.tui.tool_desk import FakePolicy, reader
from tests.tui.typing_in import type_in

RESTORE = "/restore before the log"
BACK = ["q0", "a0", "q1", "a1", "q2", "a2"]


class Files:
    """The project's folder, and what tools did there."""

    def __init__(self, folder: Path, layout: StoreLayout) -> None:
        self.folder = folder
        folder.mkdir()
        self.watch = FileWatch(folder, layout, full_id(0))

    def change(self) -> None:
        """A tool changes a file and makes one."""
        self.write(kept="as ever", changed="one")
        self.watch.before()
        self.write(changed="two", made="new")
        assert len(self.watch.after()) == 2

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.folder / name).write_text(text)

    @property
    def texts(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.folder.iterdir()}


@asynccontextmanager
async def opened(
    open_app: OpenApp, home: Path, size: tuple[int, int] = (100, 30), project: str = ""
) -> AsyncGenerator[tuple[Desk, Files]]:
    layout = StoreLayout(home / "sessions")
    files = Files(home.parent / "folder", layout)
    library, now = SessionLibrary.at(layout), datetime.now(UTC)
    session = replace(rich_session(now), project=project or str(files.folder))
    library.add(session)
    library.close()
    take_snapshots(home, session, now)
    toolkit = ToolKit((reader(),), cast(Any, FakePolicy()), Redactor(), files.watch, "")

    async def make(*_: object) -> ToolKit:
        return toolkit

    async with open_app(session_id=full_id(0), size=size) as (app, pilot):
        assert app.conversation
        app.conversation.tools.make_toolkit = make
        yield Desk(app, pilot), files


async def say(on: Desk, words: str) -> None:
    await type_in(on.pilot, words)
    await on.press("enter")


async def test_going_back_offers_the_files_and_y_brings_them_back(
    open_app: OpenApp, home: Path
) -> None:
    async with opened(open_app, home) as (on, files):
        files.change()
        await say(on, RESTORE)
        assert isinstance(on.app.screen, FilesBack) and on.branch == BACK
        assert "2 files since" in on.screen
        assert "restore · 3 B → 3 B" in on.screen and "created since · delete" in on.screen
        assert files.texts["changed"] == "two", "nothing happens before the answer"
        await on.press("y")
        assert isinstance(on.app.screen, ChatScreen)
        assert files.texts == {"kept": "as ever", "changed": "one"}
        assert "2 files restored" in state(on.app)


@some(1, "keys", [("b",), ("B",)])
async def test_going_back_to_a_message_offers_them_too(
    open_app: OpenApp, home: Path, keys: tuple[str, ...]
) -> None:
    async with opened(open_app, home) as (on, files):
        files.change()
        await on.press(*["alt+up"] * 5, *keys)
        await until(on.pilot, lambda: isinstance(on.app.screen, FilesBack))
        assert isinstance(on.app.screen, FilesBack) and "2 files since" in on.screen
        assert "/undo" in on.screen or "undone" in on.screen
        await on.press("y")
        assert files.texts == {"kept": "as ever", "changed": "one"}


@pytest.mark.more
async def test_a_message_of_the_browser_offers_them_too(open_app: OpenApp, home: Path) -> None:
    async with opened(open_app, home) as (on, files):
        files.change()
        await ChatPoints(chat(on.app).chat).go_to(Point(full_id(0), message="a1"))
        await until(on.pilot, lambda: isinstance(on.app.screen, FilesBack))


@pytest.mark.more
async def test_editing_an_earlier_message_offers_them_first(open_app: OpenApp, home: Path) -> None:
    async with opened(open_app, home) as (on, files):
        files.change()
        await on.press("escape", "escape", "e")
        await until(on.pilot, lambda: isinstance(on.app.screen, FilesBack))
        await on.press("n")
        assert prompt(on.app).has_focus and prompt(on.app).text
        assert files.texts["changed"] == "two"


@pytest.mark.more
async def test_nothing_is_offered_once_another_session_is_shown(
    open_app: OpenApp, home: Path
) -> None:
    async with opened(open_app, home) as (on, files):
        files.change()
        left = chat(on.app).chat
        snapshots = left.conversation.snapshots
        snapshot = await snapshots.get((await snapshots.list())[-1].id)
        await say(on, "/new")
        await offer_files(left, snapshot)
        assert isinstance(on.app.screen, ChatScreen)


@pytest.mark.more
async def test_undo_offers_the_files_as_they_were_before(open_app: OpenApp, home: Path) -> None:
    async with opened(open_app, home) as (on, files):
        files.change()
        await say(on, RESTORE)
        await on.press("y")
        await say(on, "/undo")
        assert isinstance(on.app.screen, FilesBack) and on.branch[-1] == "a4"
        await on.press("y")
        assert files.texts == {"kept": "as ever", "changed": "two", "made": "new"}


async def test_no_leaves_every_file_and_the_conversation_is_back(
    open_app: OpenApp, home: Path
) -> None:
    async with opened(open_app, home) as (on, files):
        files.change()
        before = files.texts
        await say(on, RESTORE)
        await on.press("n")
        assert isinstance(on.app.screen, ChatScreen)
        assert files.texts == before and on.branch == BACK
        await say(on, "/undo")
        assert isinstance(on.app.screen, ChatScreen), "no file changed since"


async def test_the_browser_offers_them_when_it_has_closed(open_app: OpenApp, home: Path) -> None:
    async with opened(open_app, home) as (on, files):
        files.change()
        await on.press("f3", "down", "down", "down", "down", "enter")
        assert isinstance(on.app.screen, FilesBack) and on.branch == BACK
        await on.press("down", "space", "y")
        assert files.texts == {"kept": "as ever", "changed": "one", "made": "new"}


async def test_what_others_wrote_since_is_only_overwritten_when_it_is_marked(
    open_app: OpenApp, home: Path
) -> None:
    async with opened(open_app, home) as (on, files):
        files.change()
        files.write(changed="mine")
        await say(on, RESTORE)
        assert "also changed by others" in on.screen
        await on.press("y")
        assert files.texts == {"kept": "as ever", "changed": "mine"}


@pytest.mark.more
async def test_files_of_another_project_are_never_offered(open_app: OpenApp, home: Path) -> None:
    async with opened(open_app, home, project="/home/me/uploader") as (on, files):
        files.change()
        before = files.texts
        await say(on, RESTORE)
        assert isinstance(on.app.screen, ChatScreen)
        assert on.branch == BACK and files.texts == before


@pytest.mark.more
async def test_sixty_columns_are_enough(open_app: OpenApp, home: Path) -> None:
    async with opened(open_app, home, size=(60, 20)) as (on, files):
        files.change()
        await say(on, RESTORE)
        for words in (
            "Restore files too?",
            "changed",
            "created since · delete",
            "y restore marked",
            "n keep all",
        ):
            assert words in on.screen, words
