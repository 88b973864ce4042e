"""The index may be damaged, locked, read-only or gone: the list is the same."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import go_on, stored_session, user_message

NAMES = ["one", "three", "two"]


@pytest.fixture
def layout(tmp_path: Path) -> StoreLayout:
    """A store of three sessions that its index knows."""
    layout = StoreLayout(tmp_path / "sessions")
    library = SessionLibrary.at(layout)
    for name in NAMES:
        library.add(stored_session(name, title=f"title of {name}"))
    library.catalogue.summaries()
    library.close()
    return layout


def listed(layout: StoreLayout) -> dict[str, str]:
    with closing(SessionLibrary.at(layout)) as library:
        return {each.session_id: each.title for each in library.catalogue.summaries()}


TITLES = {name: f"title of {name}" for name in NAMES}


def with_bytes(data: bytes, at: int) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(at)
            file.write(data)

    return damage


def execute(script: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)

    return damage


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"garbage" * 1000),
    "half of it": lambda path: os.truncate(path, path.stat().st_size // 2),
    "a torn header": with_bytes(b"\0" * 10, 0),
    "zeros in a page": with_bytes(b"\0" * 2000, 4096),
    "garbage in a page": with_bytes(b"\xa5" * 2000, 4096),
    "garbage in all pages": with_bytes(b"\xa5" * 12000, 1000),
    "no table": execute("DROP TABLE sessions"),
    "another table": execute("DROP TABLE sessions; CREATE TABLE sessions (x)"),
    "another version": execute("PRAGMA user_version = 77"),
    "a value that is none": execute("UPDATE sessions SET shown = x'c1'"),
    "half a value": execute("UPDATE sessions SET shown = substr(shown, 1, 20)"),
    "a text for a value": execute("UPDATE sessions SET shown = 'broken'"),
    "a text that is none": execute("UPDATE sessions SET shown = CAST(x'fffe' AS TEXT)"),
    "the log of another": execute(
        "PRAGMA journal_mode = WAL; UPDATE sessions SET number = -number"
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_made_anew(layout: StoreLayout, damage: str) -> None:
    DAMAGE[damage](layout.index)
    assert listed(layout) == TITLES
    assert listed(layout) == TITLES
    with closing(sqlite3.connect(layout.index)) as connection:
        assert len(connection.execute("SELECT session_id FROM sessions").fetchall()) == 3


def test_an_index_damaged_while_it_is_open_costs_nothing(layout: StoreLayout) -> None:
    with closing(SessionLibrary.at(layout)) as library:
        library.catalogue.summaries()
        layout.index.write_bytes(b"garbage" * 3000)
        library.change("one", title="changed")
        found = {each.session_id: each.title for each in library.catalogue.summaries()}
        assert found == TITLES | {"one": "changed"}


@pytest.fixture(params=["EXCLUSIVE", "IMMEDIATE"])
def locked_index(layout: StoreLayout, request: pytest.FixtureRequest) -> Iterator[StoreLayout]:
    """The index in the middle of somebody's endless change."""
    with closing(sqlite3.connect(layout.index)) as connection:
        connection.execute(f"BEGIN {request.param}")
        yield layout
        connection.rollback()


def test_a_locked_index_keeps_nobody_from_working(locked_index: StoreLayout) -> None:
    layout = locked_index
    go_on(SessionLibrary.at(layout).store, "one", user_message("later"))
    assert listed(layout) == TITLES
    with closing(SessionLibrary.at(layout)) as library:
        library.change("two", title="changed")
        library.delete("three")
    assert listed(layout) == {"one": "title of one", "two": "changed"}


def test_a_locked_index_is_not_taken_for_a_damaged_one(locked_index: StoreLayout) -> None:
    before = locked_index.index.stat().st_ino
    listed(locked_index)
    assert locked_index.index.stat().st_ino == before


def test_an_index_that_cannot_be_written_keeps_nobody_from_working(layout: StoreLayout) -> None:
    layout.index.unlink()
    layout.index.mkdir()
    with closing(SessionLibrary.at(layout)) as library:
        library.change("two", title="changed")
        library.discard("three", "a test")
    assert listed(layout) == {"one": "title of one", "two": "changed"}
    assert layout.index.is_dir()


def test_a_changed_session_is_seen_by_its_files(layout: StoreLayout) -> None:
    with closing(SessionLibrary.at(layout)) as library:
        before = {each.session_id: each.message_count for each in library.catalogue.summaries()}
        go_on(SessionLibrary.at(layout).store, "one", user_message("later"))
        layout.session("two").unlink()
        after = {each.session_id: each.message_count for each in library.catalogue.summaries()}
    assert before == dict.fromkeys(NAMES, 2)
    assert after == {"one": 3, "three": 2}


def test_the_latest_session_comes_first(layout: StoreLayout) -> None:
    go_on(SessionLibrary.at(layout).store, "three", user_message("later"))
    go_on(SessionLibrary.at(layout).store, "one", user_message("latest"))
    assert list(listed(layout)) == ["one", "three", "two"]
    assert list(listed(layout)) == ["one", "three", "two"]
