"""Retention moves what is over the limits to the trash, and nothing else, ever."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.services.sessions.retention import enforce_retention, surplus
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import stored_session


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    """Five sessions: day-1 was active yesterday, day-5 five days ago."""
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    for days in range(1, 6):
        moment = clock.iso(datetime.now(UTC) - timedelta(days=days))
        session = replace(stored_session(f"day-{days}"), messages=(), tool_calls=(), head=None)
        library.add(replace(session, start_time=moment, last_activity=moment))
    return library


def names(library: SessionLibrary) -> list[str]:
    return sorted(each.session_id for each in library.catalogue.summaries())


def moved(
    library: SessionLibrary,
    keep: int = 0,
    max_age: timedelta | None = None,
    spare: frozenset[str] = frozenset(),
) -> list[str]:
    out = enforce_retention(library, keep=keep, max_age=max_age, spare=spare)
    return [each.session_id for each in out]


def test_the_oldest_move_to_the_trash_and_can_come_back(library: SessionLibrary) -> None:
    assert moved(library, keep=3) == ["day-5", "day-4"]
    assert names(library) == ["day-1", "day-2", "day-3"]
    assert {note.reason for note in library.trashed()} == {"only the newest 3 are kept"}
    library.restore("day-5")
    assert names(library) == ["day-1", "day-2", "day-3", "day-5"]


def test_no_limit_moves_nothing(library: SessionLibrary) -> None:
    assert moved(library) == moved(library, keep=0) == moved(library, keep=5) == []


def test_what_was_silent_for_too_long_moves(library: SessionLibrary) -> None:
    assert moved(library, max_age=timedelta(days=3, hours=12)) == ["day-5", "day-4"]
    assert moved(library, keep=2, max_age=timedelta(days=2, hours=12)) == ["day-3"]


def test_pinned_sessions_count_and_stay(library: SessionLibrary) -> None:
    library.change("day-5", pinned=True)
    library.change("day-4", pinned=True)
    assert moved(library, keep=3) == ["day-3", "day-2"]
    assert moved(library, keep=1, max_age=timedelta(hours=1)) == ["day-1"]
    assert names(library) == ["day-4", "day-5"]


def test_the_session_in_use_and_those_open_elsewhere_stay(library: SessionLibrary) -> None:
    writer, _ = SessionLibrary.at(library.store.layout).store.open("day-5")
    assert moved(library, keep=1, spare=frozenset({"day-4"})) == ["day-3", "day-2"]
    writer.close()
    assert names(library) == ["day-1", "day-4", "day-5"]


def test_what_cannot_be_read_is_neither_moved_nor_counted(library: SessionLibrary) -> None:
    layout = library.store.layout
    layout.session("empty").write_bytes(b"")
    layout.session("folder").mkdir()
    os.mkfifo(layout.journal("fifo"))
    layout.session("newer").write_text(
        layout.session("day-5").read_text().replace('"schemaVersion":2', '"schemaVersion":9')
    )
    for name in ("empty", "folder"):
        os.utime(layout.session(name), (0, 0))
    assert set(moved(library, keep=2)) == {"day-3", "day-4", "day-5"}
    assert names(library) == ["day-1", "day-2", "empty", "fifo", "folder", "newer"]


def test_sessions_of_earlier_programs_are_neither_moved_nor_counted(
    library: SessionLibrary,
) -> None:
    older = library.store.layout.older_sessions
    older.mkdir()
    (older / "ancient.json").write_text('{"messages": [], "startTime": "2001-01-01T00:00:00Z"}')
    assert moved(library, keep=4) == ["day-5"]
    assert names(library) == ["ancient", "day-1", "day-2", "day-3", "day-4"]


def test_a_look_at_the_surplus_moves_nothing(library: SessionLibrary) -> None:
    assert [each.summary.session_id for each in surplus(library, keep=4)] == ["day-5"]
    assert len(names(library)) == 5


def test_each_session_over_a_limit_says_which_one(library: SessionLibrary) -> None:
    over = surplus(library, keep=4, max_age=timedelta(days=3, hours=12))
    assert [(each.summary.session_id, each.reason) for each in over] == [
        ("day-5", "only the newest 4 are kept"),
        ("day-4", "older than 3 days"),
    ]
