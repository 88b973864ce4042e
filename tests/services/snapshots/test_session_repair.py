"""Repair: a copy of all that can be read; the damaged files stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.session.record import TextAppended
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.session_repair import damaged, repair
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import LARGE, begin, go_on, stored_session, texts, user_message

NAME = "subject"


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    library.add(stored_session("other"))
    return library


def everything(library: SessionLibrary) -> dict[Path, bytes]:
    files = (path for path in library.store.layout.sessions.rglob(f"{NAME}*") if path.is_file())
    return {path: path.read_bytes() for path in files}


def repaired(library: SessionLibrary) -> dict[str, str]:
    before = everything(library)
    copy = repair(library, NAME)
    assert copy
    assert everything(library) == before
    loaded = library.load(copy)
    assert loaded.problems == ()
    assert loaded.state.header.title.endswith("(repaired)")
    go_on(library.store, copy, user_message("later"))
    return texts(loaded.state)


def test_a_file_cut_off_anywhere_gives_back_every_whole_message(library: SessionLibrary) -> None:
    begin(library.store, NAME, *(user_message(f"m{number}") for number in range(4)))
    library.change(NAME, title="a title")
    path = library.store.layout.session(NAME)
    whole = path.read_bytes()
    ends = [whole.index(b"\n", whole.index(b'"id":"m%d"' % number)) - 1 for number in range(3)]
    for number, end in enumerate(ends):
        for cut in (end, end + 5):
            path.write_bytes(whole[:cut])
            assert list(repaired(library)) == [f"m{each}" for each in range(number + 1)]


def test_large_values_and_tool_calls_are_saved_too(library: SessionLibrary) -> None:
    library.add(stored_session(NAME))
    go_on(library.store, NAME, user_message("new-1"), user_message("new-2", LARGE))
    path = library.store.layout.session(NAME)
    path.write_bytes(path.read_bytes()[:-20])
    copy = repair(library, NAME)
    assert copy
    state = library.load(copy).state
    assert list(texts(state)) == ["old-1", "old-2", "new-1", "new-2"]
    assert state["old-2"].text == state["new-2"].text == LARGE
    assert [call.result.llm_content for call in state.tool_calls] == [LARGE]


@pytest.mark.parametrize("damage", [b"", b"\0" * 4096, b"garbage", b"[]", b'{"messages":[{"id":'])
def test_the_journal_is_enough(library: SessionLibrary, damage: bytes) -> None:
    begin(library.store, NAME, user_message("m1"), user_message("m2", LARGE))
    library.store.layout.session(NAME).write_bytes(damage)
    assert list(repaired(library)) == ["m1", "m2"]


def test_a_journal_without_its_beginning_is_read_from_where_it_goes_on(
    library: SessionLibrary,
) -> None:
    begin(library.store, NAME, user_message("m1"), user_message("m2"))
    journal = library.store.layout.journal(NAME)
    journal.write_bytes(journal.read_bytes().split(b"\n", 1)[1])
    assert list(repaired(library)) == ["m1", "m2"]


def test_a_record_that_was_written_twice_is_taken_once(library: SessionLibrary) -> None:
    begin(library.store, NAME, user_message("m1"))
    more = TextAppended(at="", message_id="m1", part="text", text=" and more")
    writer, loaded = library.store.open(NAME)
    entry = (loaded.state.header.journal_seq + 1, more)
    writer.append([entry])
    writer.append([entry])
    writer.close()
    assert texts(library.load(NAME).state) == {"m1": "words of m1 and more"}
    library.store.layout.session(NAME).write_bytes(b"damaged")
    assert repaired(library) == {"m1": "words of m1 and more"}


def test_messages_of_an_older_program_are_found(library: SessionLibrary) -> None:
    library.store.layout.session(NAME).write_text(
        '{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}'
    )
    assert list(repaired(library).values()) == ["Hello", "Hi"]


@pytest.mark.parametrize(
    "damage", [b"", b"\0" * 100, b"garbage", b"[[[[" * 10_000, b'{"id":' * 999]
)
def test_where_nothing_can_be_read_nothing_is_made(library: SessionLibrary, damage: bytes) -> None:
    library.store.layout.session(NAME).write_bytes(damage)
    assert repair(library, NAME) is None
    assert library.store.layout.session(NAME).read_bytes() == damage


def test_the_damaged_sessions_are_those_with_a_file_that_cannot_be_read(
    library: SessionLibrary,
) -> None:
    begin(library.store, "by-journal", user_message("m1"))
    library.store.layout.session("by-journal").write_bytes(b"")
    library.add(stored_session("by-file"))
    library.store.layout.journal("by-file").mkdir()
    library.store.layout.session(NAME).mkdir()
    begin(library.store, "torn", user_message("m1"))
    with library.store.layout.journal("torn").open("ab") as journal:
        journal.write(b"torn")
    library.store.layout.journal("never-began").write_bytes(b"0123")
    assert sorted(damaged(library)) == ["by-file", "by-journal", NAME]
