"""The library: sessions are found, renamed, copied and removed, and none is in the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import AmbiguousId, SessionNotFound, SessionTooLarge, StoreError
from ollm_tui.core.session.message import Message, Text, ToolCallPart
from ollm_tui.core.session.session import Session, ToolCall, ToolResult
from ollm_tui.services.sessions.retention import enforce_retention
from ollm_tui.services.sessions.session_catalogue import READ_AT_ONCE
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.session_repair import damaged
from ollm_tui.storage.sessions import session_end
from ollm_tui.storage.sessions.trash import TrashNote
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import LARGE, begin, go_on, stored_session, texts, user_message

NAME = "subject"


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    return SessionLibrary.at(StoreLayout(tmp_path / "sessions"))


def names(library: SessionLibrary) -> list[str]:
    return sorted(each.session_id for each in library.catalogue.summaries())


def newest_first(library: SessionLibrary) -> list[str]:
    marks = library.store.directory.fingerprints()
    return sorted(marks, key=lambda name: max(marks[name][1], marks[name][3]), reverse=True)


def test_without_an_index_the_newest_sessions_are_listed_before_all_are_read(
    library: SessionLibrary,
) -> None:
    count = 2 * READ_AT_ONCE + 1
    for number in range(count):
        name = f"s{number:03}"
        library.add(stored_session(name))
        os.utime(library.store.layout.session(name), (number, number))
    library.store.layout.index.unlink(missing_ok=True)
    catalogue = SessionLibrary.at(library.store.layout).catalogue
    assert {each.session_id for each in catalogue.known(5)} <= set(newest_first(library)[:100])
    assert len(catalogue.known(count)) == READ_AT_ONCE
    assert [len(listed) for listed in catalogue.reading()] == [2 * READ_AT_ONCE, count]
    assert len(catalogue.known(count)) == count


def test_a_session_that_is_only_opened_is_listed_without_being_read_again(
    library: SessionLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(stored_session(NAME))
    writer, _ = library.store.open(NAME)
    monkeypatch.setattr(library.store, "load", pytest.fail)
    assert names(library) == [NAME]
    writer.close()


def test_an_empty_store_is_listed_without_being_made(library: SessionLibrary) -> None:
    assert names(library) == []
    assert library.trashed() == []
    assert library.catalogue.latest() is None
    assert not library.store.layout.sessions.exists()
    assert not library.store.layout.trash.exists()


def test_a_session_is_found_by_the_beginning_of_its_id(library: SessionLibrary) -> None:
    for name in ("abc1", "abc2", "abcd", "x"):
        library.add(stored_session(name))
    assert library.catalogue.resolve("abc1") == "abc1"
    assert library.catalogue.resolve("ABCD") == "abcd"
    assert library.catalogue.resolve("x") == "x"
    with pytest.raises(AmbiguousId):
        library.catalogue.resolve("abc")
    for unknown in ("", "y", "../x", "abc1x"):
        with pytest.raises(SessionNotFound):
            library.catalogue.resolve(unknown)


def test_a_change_keeps_the_time_of_the_last_activity(library: SessionLibrary) -> None:
    begin(library.store, NAME, user_message("m1"))
    before = library.load(NAME).state.header.last_activity
    library.change(NAME, title="other", pinned=True, tags=["a"])
    header = library.load(NAME).state.header
    assert (header.title, header.pinned, header.tags) == ("other", True, ("a",))
    assert header.last_activity == before
    assert library.catalogue.summaries()[0].title == "other"


def test_a_change_that_makes_no_sense_changes_nothing(library: SessionLibrary) -> None:
    library.add(stored_session(NAME))
    before = library.store.layout.session(NAME).read_bytes()
    with pytest.raises(ValueError, match="title"):
        library.change(NAME, title=5)
    assert library.store.layout.session(NAME).read_bytes() == before
    library.change(NAME, title="other")


def forked_session() -> Session:
    asking = replace(
        user_message("asks", parent_id="old-2"),
        role="assistant",
        parts=(ToolCallPart("call-2", "read_file", {}),),
    )
    call = ToolCall("call-2", "read_file", {}, ToolResult(LARGE), clock.now())
    session = stored_session(NAME)
    return replace(
        session,
        messages=(*session.messages, user_message("aside", parent_id="old-1"), asking),
        tool_calls=(*session.tool_calls, call),
        head="asks",
    )


def test_a_fork_has_the_branch_and_its_tool_calls_and_the_source_stays(
    library: SessionLibrary,
) -> None:
    library.add(forked_session())
    before = library.store.layout.session(NAME).read_bytes()
    fork = library.load(library.fork(NAME)).state
    assert list(texts(fork)) == ["old-1", "old-2", "asks"]
    assert [call.id for call in fork.tool_calls] == ["call-1", "call-2"]
    assert fork.tool_calls[1].result.llm_content == fork["old-2"].text == LARGE
    assert (fork.header.forked_from, fork.header.title) == (NAME, "before (fork)")
    early = library.load(library.fork(NAME, "aside")).state
    assert list(texts(early)) == ["old-1", "aside"]
    assert [call.id for call in early.tool_calls] == ["call-1"]
    assert library.store.layout.session(NAME).read_bytes() == before
    with pytest.raises(StoreError, match="no message"):
        library.fork(NAME, "unknown")


def test_a_session_that_is_open_elsewhere_can_be_forked(library: SessionLibrary) -> None:
    begin(library.store, NAME, user_message("m1"))
    writer, _ = library.store.open(NAME)
    assert list(texts(library.load(library.fork(NAME)).state)) == ["m1"]
    writer.close()


def test_a_session_whose_id_is_taken_gets_another(library: SessionLibrary) -> None:
    library.add(stored_session(NAME, title="first"))
    other = library.add(stored_session(NAME, title="second"))
    assert names(library) == sorted([NAME, other])
    assert library.load(NAME).state.header.title == "first"
    assert library.load(other).state.header.title == "second"


def test_deleting_what_is_not_there_does_no_harm(library: SessionLibrary) -> None:
    library.add(stored_session("other"))
    library.delete(NAME)
    assert names(library) == ["other"]
    assert [path.name for path in library.store.layout.trash.iterdir()] == [".lock"]


def test_a_session_that_disappears_while_it_is_listed_is_not_listed(
    library: SessionLibrary,
) -> None:
    library.add(stored_session(NAME))
    library.add(stored_session("other"))
    library.store.layout.index.unlink(missing_ok=True)
    again = SessionLibrary.at(library.store.layout)
    order = newest_first(again)

    def delete_the_second(number: int, total: int) -> None:
        assert total == 2
        if number == 1:
            library.delete(order[1])

    listed = again.catalogue.summaries(delete_the_second)
    assert [each.session_id for each in listed] == order[:1]


def test_what_never_began_is_cleared_up_after_an_hour(library: SessionLibrary) -> None:
    library.add(stored_session("other"))
    layout = library.store.layout
    for name in ("stale", "torn", "held"):
        layout.journal(name).touch()
        layout.side_files(name).mkdir()
    layout.journal("torn").write_bytes(b"0123abcd 1 {")
    layout.journal("damaged").write_bytes(b"garbage\n")
    begin(library.store, "begun", user_message("m1"))
    writer = library.store.create("held")
    writer.lock()
    long_ago = time.time() - 2 * 3600
    for path in layout.sessions.glob("*.journal"):
        os.utime(path, (long_ago, long_ago))
    layout.journal("fresh").touch()
    enforce_retention(library)
    writer.close()
    left = {path.name for path in layout.sessions.iterdir()}
    assert {"begun.journal", "damaged.journal", "fresh.journal", "held.files"} <= left
    assert not {"stale.journal", "stale.files", "torn.journal", "torn.files"} & left
    assert names(library) == ["begun", "damaged", "other"]


def test_the_trash_is_emptied_of_what_is_older_than_a_month(library: SessionLibrary) -> None:
    for name, moment in (
        ("old", "2020-01-01T00:00:00.000000Z"),
        ("new", clock.now()),
        ("unknown", clock.EPOCH),
    ):
        library.add(stored_session(name))
        writer, _ = library.store.open(name)
        library.store.trash.put(TrashNote(name, "title", "a test", moment))
        writer.close()
    library.empty_old_trash()
    assert sorted(note.session_id for note in library.trashed()) == ["new", "unknown"]


def test_going_on_after_a_restore_continues_the_numbers(library: SessionLibrary) -> None:
    begin(library.store, NAME, user_message("m1"))
    for number in range(3):
        library.discard(NAME, "a test")
        library.restore(NAME)
        go_on(library.store, NAME, user_message(f"later-{number}"))
    assert list(texts(library.load(NAME).state)) == ["m1", "later-0", "later-1", "later-2"]


def huge(library: SessionLibrary) -> None:
    """Store a session of more than one megabyte."""
    messages: list[Message] = []
    for number in range(60):
        parent = messages[-1].id if messages else None
        said = (Text(f"word{number} " * 3_000),)
        messages.append(Message(f"m{number}", "user", said, clock.now(), parent))
    session = replace(stored_session(NAME), messages=tuple(messages), head="m59", title="Long")
    library.add(session)


def test_a_session_that_is_too_large_is_refused_with_a_way_on(tmp_path: Path) -> None:
    layout = StoreLayout(tmp_path / "sessions")
    huge(SessionLibrary.at(layout))
    layout.index.unlink()
    library = SessionLibrary.at(layout, most_megabytes=1)
    for refused in (library.load, library.store.open):
        with pytest.raises(SessionTooLarge, match=r"too large to open: 1\.\d MB") as error:
            refused(NAME)
        assert error.value.hint == f"ollm sessions fork {NAME} continues from its end"
    (listed,) = library.catalogue.summaries()
    assert (listed.title, listed.session_id) == ("(too large)", NAME)
    assert damaged(library) == []
    assert SessionLibrary.at(layout).load(NAME).state.header.head == "m59"


def test_a_fork_goes_on_from_the_end_of_a_session_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_end, "END_BYTES", 100_000)
    layout = StoreLayout(tmp_path / "sessions")
    huge(SessionLibrary.at(layout))
    library = SessionLibrary.at(layout, most_megabytes=1)
    state = library.load(library.fork(NAME)).state
    assert [message.id for message in state.branch()] == ["m56", "m57", "m58", "m59"]
    assert state.branch()[0].parent_id is None
    assert (state.header.title, state.header.forked_from) == ("Long (fork)", NAME)


def test_a_session_that_is_too_large_can_be_deleted(tmp_path: Path) -> None:
    layout = StoreLayout(tmp_path / "sessions")
    huge(SessionLibrary.at(layout))
    library = SessionLibrary.at(layout, most_megabytes=1)
    library.delete(NAME)
    assert names(library) == []
