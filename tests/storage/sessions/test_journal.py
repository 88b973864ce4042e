"""The journal: whatever happens to its bytes, every record that is whole is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ollm_tui.core.session.encoding import encode
from ollm_tui.core.session.record import MessageAdded, TextAppended
from ollm_tui.storage.sessions.journal import journal_line, parse_journal
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import begin, go_on, texts, user_message
from tests.folders import quick_folder

NAME = "session"
GARBAGE = [b"garbage", b"00000000 4 {}", b"\xff\xfe\x00\x80", b"deadbeef", b"{}", b" " * 40]


@pytest.fixture
def store() -> Iterator[SessionStore]:
    with quick_folder() as folder:
        yield SessionStore(StoreLayout(Path(folder) / "sessions"))


def begun(store: SessionStore, count: int) -> list[bytes]:
    """A session with messages m1, m2 and so on in its journal; the lines of it."""
    begin(store, NAME, *(user_message(f"m{number}") for number in range(1, count + 1)))
    return store.layout.journal(NAME).read_bytes().splitlines(keepends=True)


def ids(store: SessionStore) -> list[str]:
    return list(texts(store.load(NAME).state))


def test_a_tail_torn_at_any_byte_costs_only_the_records_it_tore(store: SessionStore) -> None:
    lines = begun(store, 3)
    journal = store.layout.journal(NAME)
    whole = b"".join(lines)
    first = len(lines[0]) + len(lines[1])
    for cut in range(first, len(whole)):
        journal.write_bytes(whole[:cut])
        store.layout.session(NAME).unlink(missing_ok=True)
        store.layout.quarantine(NAME).unlink(missing_ok=True)
        # A line is whole without its line end.
        kept = 1 + (cut >= first + len(lines[2]) - 1) + (cut == len(whole) - 1)
        wanted = ["m1", "m2", "m3"][:kept]
        assert ids(store) == wanted, cut
        go_on(store, NAME, user_message("later"))
        loaded = store.load(NAME)
        assert (list(texts(loaded.state)), loaded.problems) == ([*wanted, "later"], ()), cut


def test_a_torn_tail_is_reported_and_kept_aside(store: SessionStore) -> None:
    lines = begun(store, 2)
    torn = lines[2][:-20]
    store.layout.journal(NAME).write_bytes(b"".join(lines[:2]) + torn)
    assert store.load(NAME).problems == ("2 of 3 records kept",)
    go_on(store, NAME, user_message("later"))
    assert store.layout.quarantine(NAME).read_bytes() == torn + b"\n"


@pytest.mark.parametrize("zeros", [1, 512, 4096])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_block_of_zeros_between_records_costs_none_of_them(
    store: SessionStore, zeros: int, place: int
) -> None:
    lines = begun(store, 2)
    lines.insert(place, b"\0" * zeros)
    store.layout.journal(NAME).write_bytes(b"".join(lines))
    assert ids(store) == ["m1", "m2"]
    assert store.load(NAME).problems != ()
    go_on(store, NAME, user_message("later"))
    assert ids(store) == ["m1", "m2", "later"]
    assert store.load(NAME).problems == ()


def test_a_line_torn_by_zeros_costs_only_itself(store: SessionStore) -> None:
    lines = begun(store, 3)
    lines[2] = lines[2][:30] + b"\0" * 512
    store.layout.journal(NAME).write_bytes(b"".join(lines))
    assert ids(store) == ["m1", "m3"]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_lines_of_garbage_are_put_aside(store: SessionStore, garbage: bytes) -> None:
    lines = begun(store, 2)
    lines.insert(2, garbage + b"\n")
    store.layout.journal(NAME).write_bytes(b"".join(lines))
    assert ids(store) == ["m1", "m2"]
    go_on(store, NAME, user_message("later"))
    assert ids(store) == ["m1", "m2", "later"]
    assert store.layout.quarantine(NAME).read_bytes() == garbage + b"\n"


def test_a_flipped_bit_anywhere_never_becomes_another_record(store: SessionStore) -> None:
    line = begun(store, 1)[1]
    for at in range(len(line) - 1):
        flipped = bytearray(line)
        flipped[at] ^= 1
        entries = parse_journal(bytes(flipped)).entries
        assert entries == [] or entries == parse_journal(line).entries


def test_a_record_of_a_kind_of_tomorrow_makes_a_session_read_only(store: SessionStore) -> None:
    begun(store, 1)
    with store.layout.journal(NAME).open("ab") as journal:
        journal.write(journal_line(3, b'{"kind":"hologram","at":"2030-01-01T00:00:00Z","x":1}'))
        journal.write(journal_line(4, b'{"kind":"changed","at":"","fields":{"title":[1]}}'))
        journal.write(journal_line(5, b'["not even an object"]'))
    loaded = store.load(NAME)
    assert list(texts(loaded.state)) == ["m1"]
    assert loaded.read_only == "it was written by a newer version of ollm"


def test_records_that_are_already_in_the_file_are_not_taken_twice(store: SessionStore) -> None:
    begun(store, 1)
    writer, loaded = store.open(NAME)
    state = loaded.state
    for seq, word in enumerate(("one ", "two "), state.header.journal_seq + 1):
        record = TextAppended(at="", message_id="m1", part="text", text=word)
        state.apply(record, seq)
        writer.fold(state.session())
        writer.append([(seq, record)])  # what a writer leaves that is killed before the end
    writer.close()
    assert texts(store.load(NAME).state) == {"m1": "words of m1one two "}


def test_records_out_of_order_are_applied_where_they_belong_and_reported(
    store: SessionStore,
) -> None:
    lines = begun(store, 6)
    journal, wanted = store.layout.journal(NAME), [f"m{number}" for number in range(1, 7)]
    for first in range(len(lines)):
        for second in range(first + 1, len(lines)):
            swapped = list(lines)
            swapped[first], swapped[second] = lines[second], lines[first]
            journal.write_bytes(b"".join(swapped))
            loaded = store.load(NAME)
            assert list(texts(loaded.state)) == wanted, (first, second)
            assert "out of order, put right" in loaded.problems[0], (first, second)
    go_on(store, NAME, user_message("later"))
    assert (ids(store), store.load(NAME).problems) == ([*wanted, "later"], ())


def test_a_record_that_is_missing_between_others_is_reported(store: SessionStore) -> None:
    lines = begun(store, 6)
    for gone in range(1, len(lines) - 1):
        store.layout.journal(NAME).write_bytes(b"".join([*lines[:gone], *lines[gone + 1 :]]))
        loaded = store.load(NAME)
        assert loaded.problems == ("6 of 7 records kept",)
        assert list(texts(loaded.state)) == [f"m{n}" for n in range(1, 7) if n != gone]
    go_on(store, NAME, user_message("later"))
    assert store.load(NAME).problems == ()


def test_two_records_with_one_number_are_reported_and_both_kept(store: SessionStore) -> None:
    lines = begun(store, 2)
    other = TextAppended(at="2026-01-01T00:00:00Z", message_id="m1", part="text", text="zebrafish")
    line = journal_line(3, encode(other))
    store.layout.journal(NAME).write_bytes(b"".join([*lines, line, lines[2]]))
    assert store.load(NAME).problems == ("3 of 4 records kept",)
    go_on(store, NAME, user_message("later"))
    assert b"zebrafish" in store.layout.quarantine(NAME).read_bytes()


def test_records_of_two_machines_may_have_the_same_number(store: SessionStore) -> None:
    lines = begun(store, 2)
    other = MessageAdded(at="2026-01-01T00:00:00Z", message=user_message("m9"), machine="laptop")
    store.layout.journal(NAME).write_bytes(b"".join(lines) + journal_line(3, encode(other)))
    loaded = store.load(NAME)
    assert (set(texts(loaded.state)), loaded.problems) == ({"m1", "m2", "m9"}, ())
