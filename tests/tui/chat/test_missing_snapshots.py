"""A snapshot that cannot be taken: it is said where one looks, and nothing untrue is promised."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core.session.message import Text
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.closed_sessions import ClosedSessions
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.settings.schema import Settings, Snapshots
from ollm_tui.storage.store_layout import StoreLayout
from tests.cases import some
from tests.end_to_end.test_disk_full import full_disk
from tests.engine.compression.test_compression import gardener
from tests.engine.compression.test_compression import settings as small_window
from tests.tui.browser_desk import Desk
from tests.tui.browser_samples import full_id, rich_session
from tests.tui.chat.test_snapshots_in_the_chat import MAIN, say, say_in_prompt
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, state, stream

FULL_AT_BYTES = 200_000
"""Enough for everything but a snapshot of what was said."""
NO_ROOM = "Could not save the snapshot"
OFF = Settings(snapshots=Snapshots(enabled=False))


def fill(home: Path) -> str:
    """A session whose first message is larger than the disk will be; gives a snapshot's id."""
    session = rich_session(datetime.now(UTC))
    first = replace(session.messages[0], parts=(Text("upload " * FULL_AT_BYTES),))
    layout = StoreLayout(home / "sessions")
    library = SessionLibrary.at(layout)
    library.add(replace(session, messages=(first, *session.messages[1:])))
    closed = ClosedSessions(library, SnapshotLibrary.at(layout), Snapshots())
    taken = closed.take(full_id(0), "now")
    library.close()
    return taken.id


@asynccontextmanager
async def desk(
    open_app: OpenApp, home: Path, settings: Settings | None = None
) -> AsyncGenerator[Desk]:
    fill(home)
    opened = open_app(session_id=full_id(0), size=(120, 40), settings=settings)
    async with opened as (app, pilot):
        yield Desk(app, pilot)


def told(on: Desk) -> int:
    return sum(NO_ROOM in line for line in stream(on.app))


async def test_on_a_full_disk_going_back_to_a_message_says_so_and_can_be_undone(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        await on.press("alt+up", "k", "k", "k", "k", "k")
        with full_disk(FULL_AT_BYTES):
            await on.press("b")
            assert told(on) == 1
            assert "ree disk space" in stream(on.app)[-1] or "writable" in stream(on.app)[-1]
            assert on.branch == MAIN[:8] and "/undo reverts it" in state(on.app)
            await say_in_prompt(on, "/undo")
            assert on.branch == MAIN, "and not the compression before it"
            history = chat(on.app).chat.conversation.compression.history
            assert [each.undone_at for each in history] == [None]
            assert told(on) == 1, "once is enough"


@pytest.mark.more
async def test_on_a_full_disk_a_restore_promises_no_way_back(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as on:
        await on.press("alt+up", "k", "k", "k", "k", "k", "b")
        with full_disk(FULL_AT_BYTES):
            await say_in_prompt(on, "/restore now")
            assert on.branch == MAIN
            assert told(on) == 1
            assert "cannot be undone (no snapshot" in state(on.app)
            await say(on, "/undo")
            assert "Cannot be undone" in state(on.app)
            assert on.branch == MAIN
            history = chat(on.app).chat.conversation.compression.history
            assert [each.undone_at for each in history] == [None]


@pytest.mark.more
async def test_on_a_full_disk_a_change_of_mode_says_that_no_snapshot_was_taken(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        with full_disk(FULL_AT_BYTES):
            await say(on, "/mode planning")
            await say(on, "/mode developer")
            assert told(on) == 1
        await say(on, "/mode planning")
        with full_disk(FULL_AT_BYTES):
            await say(on, "/mode developer")
        assert told(on) == 2, "in between there was room"


async def test_what_the_user_asked_for_is_answered_where_it_was_asked(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as on:
        with full_disk(FULL_AT_BYTES):
            await on.press("ctrl+t")
        assert NO_ROOM in state(on.app)
        assert told(on) == 0


@some(1, "where", ("message", "snapshot"))
async def test_without_snapshots_the_way_back_is_only_promised_where_there_is_one(
    open_app: OpenApp, home: Path, where: str
) -> None:
    async with desk(open_app, home, OFF) as on:
        await on.press("alt+up", "k", "k", "k", "k", "k", "b")
        assert on.branch == MAIN[:8] and "/undo reverts it" in state(on.app)
        if where == "message":
            await say_in_prompt(on, "/undo")
            assert on.branch == MAIN
        else:
            await say_in_prompt(on, "/restore now")
            assert on.branch == MAIN
            assert "cannot be undone (no snapshot" in state(on.app)


@pytest.mark.more
async def test_a_compression_without_a_snapshot_before_it_says_so(
    open_app: OpenApp, home: Path
) -> None:
    layout = StoreLayout(home / "sessions")
    layout.root.mkdir(parents=True)
    layout.snapshots.write_text("no directory")
    async with open_app(gardener(), size=(120, 40), settings=small_window()) as (app, pilot):
        on = Desk(app, pilot)
        for turn in range(8):
            await say(on, f"{turn} Which soil should I take?")
        await say(on, "/compact")
        assert told(on) == 1
        assert any("folded" in line for line in stream(on.app)), "and the context is compressed"
