"""Recording feeds the index by itself, later and elsewhere, and never waits for it."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from ollm_tui.core import clock
from ollm_tui.core.errors import StoreError
from ollm_tui.core.events import MessageRecorded, SessionCreated, SessionSaved, StoreEvent
from ollm_tui.core.search import Query, Term
from ollm_tui.core.session.record import Created
from ollm_tui.services.search.indexing import IndexFeed
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.topic import Topic
from ollm_tui.storage.search.message_index import FoundMessage, MessageIndex, erase_sessions
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import added, begin, empty_session, user_message


class Gathered:
    """Takes the place of the index: remembers what it was asked to read."""

    def __init__(self) -> None:
        self.asked: list[frozenset[str]] = []
        self.came = threading.Event()

    def refresh(self, names: Collection[str]) -> None:
        self.asked.append(frozenset(names))
        self.came.set()


def test_records_that_follow_each_other_are_read_once() -> None:
    topic, gathered = Topic[StoreEvent](), Gathered()
    feed = IndexFeed(topic, gathered.refresh, quiet_seconds=0.05)
    topic.publish(SessionCreated("one"))
    for number in range(50):
        topic.publish(MessageRecorded("one", f"m{number}"))
    topic.publish(SessionSaved("two"))
    assert gathered.came.wait(10)
    feed.close()
    assert gathered.asked == [{"one", "two"}]


def test_there_is_no_thread_before_the_first_record_and_none_after_the_end() -> None:
    topic, gathered = Topic[StoreEvent](), Gathered()
    before = threading.active_count()
    feed = IndexFeed(topic, gathered.refresh, quiet_seconds=60)
    assert threading.active_count() == before
    topic.publish(MessageRecorded("one", "m"))
    assert threading.active_count() == before + 1
    feed.close()
    assert threading.active_count() == before
    assert gathered.asked == []


def test_an_index_that_is_in_use_is_tried_again_with_the_next_record() -> None:
    topic, came, refused = Topic[StoreEvent](), threading.Event(), threading.Event()

    def refresh(names: Collection[str]) -> None:
        if not refused.is_set():
            refused.set()
            raise StoreError("another ollm is writing the search index")
        came.set()

    feed = IndexFeed(topic, refresh, quiet_seconds=0.01)
    topic.publish(MessageRecorded("one", "m"))
    assert refused.wait(10)
    topic.publish(MessageRecorded("one", "n"))
    assert came.wait(10)
    feed.close()


async def test_what_is_recorded_is_found_without_asking_for_it(tmp_path: Path) -> None:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    recording = Recording(library.store, library.index)
    history = HistorySearch(library.store, recording.topic)
    recorder = recording.create(empty_session("one"))
    await recorder.record(Created(at=clock.now(), session=empty_session("one")))
    await recorder.record(added(user_message("m", "about retries")))
    query = Query((Term("retries"),))
    while not next(history.search(query, limit=5)).total:
        await asyncio.sleep(0.05)
    await recorder.close()
    history.close()
    await recording.close()


def test_what_was_said_last_is_found_before_the_rest_is_read(tmp_path: Path) -> None:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    long = [user_message(f"more{number}", "and more" * 4000) for number in range(200)]
    for number, others in enumerate((long[:0], long)):
        begin(library.store, f"s{number}", user_message(f"m{number}", f"retries {number}"), *others)
        os.utime(library.store.layout.journal(f"s{number}"), (number, number))
    history = HistorySearch(library.store)
    found: list[list[str]] = []

    def look(done: int, total: int) -> None:
        results = next(history.search(Query((Term("retries"),)), limit=5))
        found.append([f"{done} of {total}", *sorted(hit.message_id for hit in results.hits)])

    history.refresh(look)
    history.close()
    assert found == [["1 of 2", "m1"], ["2 of 2", "m0", "m1"]]


def test_texts_with_and_without_spaces_are_written_to_the_index_together(tmp_path: Path) -> None:
    """Each statement of its own makes FTS5 write out what it has, and merge it later."""
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    said = [user_message(f"m{at}", f"{at} 検索" if at % 2 else f"{at} retries") for at in range(10)]
    begin(library.store, "one", *said)
    history = HistorySearch(library.store)
    history.refresh()
    counts = [next(history.search(Query((Term(w),)), limit=9)).total for w in ("検索", "retries")]
    history.close()
    assert counts == [5, 5]
    with closing(sqlite3.connect(library.store.layout.search)) as connection:
        segments = connection.execute("SELECT count(DISTINCT segid) FROM words_idx").fetchone()
    assert segments == (1,)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"garbage" * 3000),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:20_000]),
    "another version": lambda path: _execute(path, "PRAGMA user_version = 99"),
    "no table": lambda path: _execute(path, "DROP TABLE texts"),
    "no words": lambda path: _execute(path, "DROP TABLE words"),
}


def _execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_made_anew(tmp_path: Path, damage: str) -> None:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    begin(library.store, "one", user_message("m", "about retries"))
    history = HistorySearch(library.store)
    history.refresh()
    history.close()
    DAMAGE[damage](library.store.layout.search)
    history = HistorySearch(library.store)
    history.refresh()
    *_, results = history.search(Query((Term("retries"),)), limit=5)
    assert [hit.message_id for hit in results.hits] == ["m"]
    history.close()


def test_an_index_that_is_damaged_while_it_is_open_is_made_anew(tmp_path: Path) -> None:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    begin(library.store, "one", user_message("m", "about retries"))
    history = HistorySearch(library.store)
    history.refresh()
    _execute(library.store.layout.search, "DROP TABLE words")
    *_, results = history.search(Query((Term("retries"),)), limit=5)
    assert [hit.message_id for hit in results.hits] == ["m"]
    history.close()


@pytest.mark.parametrize("table", ["texts", "messages", "sessions"])
def test_an_index_that_finds_what_it_does_not_have_is_made_anew(tmp_path: Path, table: str) -> None:
    """As pages of a file that was overwritten may tell, without an error of SQLite."""
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    begin(library.store, "one", user_message("m", "about retries"))
    history = HistorySearch(library.store)
    history.refresh()
    _execute(library.store.layout.search, f"DELETE FROM {table}")
    *_, results = history.search(Query((Term("retries"),)), limit=5)
    assert [hit.message_id for hit in results.hits] == ["m"]
    assert results.total == 1
    history.close()


def test_what_another_process_removes_during_a_search_costs_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    for name in ("one", "two"):
        begin(library.store, name, user_message(name, "about retries"))
    history = HistorySearch(library.store)
    history.refresh()
    path = library.store.layout.search
    look_up = MessageIndex.messages

    def after_a_removal(index: MessageIndex, numbers: Sequence[int]) -> list[FoundMessage]:
        monkeypatch.setattr(MessageIndex, "messages", look_up)
        erase_sessions(path, ("one",))
        return look_up(index, numbers)

    monkeypatch.setattr(MessageIndex, "messages", after_a_removal)
    results = next(history.search(Query((Term("retries"),)), limit=5))
    # An index made anew would have both: the files of the sessions are still there.
    assert [hit.message_id for hit in results.hits] == ["two"]
    assert results.total == 1
    history.close()


def test_where_no_file_can_be_written_the_index_is_in_memory(tmp_path: Path) -> None:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    begin(library.store, "one", user_message("m", "about retries"))
    library.store.layout.search.mkdir()
    history = HistorySearch(library.store)
    history.refresh()
    assert next(history.search(Query((Term("retries"),)), limit=5)).total == 1
    history.close()


def test_only_this_user_can_read_the_index(tmp_path: Path) -> None:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    begin(library.store, "one", user_message("m"))
    history = HistorySearch(library.store)
    history.refresh()
    history.close()
    assert library.store.layout.search.stat().st_mode & 0o777 == 0o600
