"""What is too large for a line lies in a file of its own, and is never lost by tidying up."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.record import ToolCallAdded
from ollm_tui.core.session.session import Session, ToolCall, ToolResult
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import begin, go_on, stored_session, texts, user_message

NAME = "session"
MEGABYTE = "m" * 2**20
LONGEST_LINE = 2**20


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(StoreLayout(tmp_path / "sessions"))


def side_files(store: SessionStore) -> list[Path]:
    folder = store.layout.side_files(NAME)
    return sorted(folder.iterdir()) if folder.exists() else []


def fold(store: SessionStore) -> Session:
    writer, loaded = store.open(NAME)
    session = loaded.state.session()
    writer.fold(session)
    writer.close()
    return session


def save(store: SessionStore, session: Session) -> None:
    writer = store.create(NAME)
    writer.fold(session)
    writer.close()


def test_large_messages_and_results_come_back_and_make_no_long_lines(store: SessionStore) -> None:
    result = ToolResult(llm_content=2 * MEGABYTE, return_display=MEGABYTE)
    call = ToolCall("call-1", "read_file", {"path": "x"}, result, clock.now())
    begin(store, NAME, user_message("m1", MEGABYTE))
    writer, loaded = store.open(NAME)
    writer.append([(loaded.state.header.journal_seq + 1, ToolCallAdded(at="", tool_call=call))])
    writer.close()
    for path in (store.layout.journal(NAME), store.layout.session(NAME)):
        loaded = store.load(NAME)
        assert loaded.problems == ()
        assert loaded.state["m1"].text == MEGABYTE
        assert loaded.state.tool_calls == [call]
        if path.exists():
            assert max(map(len, path.read_bytes().splitlines())) < LONGEST_LINE
        fold(store)
    assert len(side_files(store)) == 2


def test_folding_sweeps_the_files_of_the_journal(store: SessionStore) -> None:
    begin(store, NAME, user_message("m1", MEGABYTE))
    in_journal = side_files(store)
    fold(store)
    assert len(side_files(store)) == 1 and side_files(store) != in_journal
    save(store, replace(fold(store), messages=(user_message("m1"),)))
    assert not store.layout.side_files(NAME).exists()


def test_a_missing_file_is_reported_and_its_place_kept(store: SessionStore) -> None:
    save(store, stored_session(NAME))
    for path in side_files(store):
        path.rename(path.with_name("away-" + path.name))
    away = {path: path.read_bytes() for path in side_files(store)}
    loaded = store.load(NAME)
    assert len(loaded.problems) == 2
    assert texts(loaded.state) == {"old-1": "words of old-1", "old-2": ""}
    go_on(store, NAME, user_message("later"))
    fold(store)
    store.layout.side_files(NAME).mkdir(exist_ok=True)
    for path, data in away.items():
        path.with_name(path.name.removeprefix("away-")).write_bytes(data)
    loaded = store.load(NAME)
    assert loaded.problems == ()
    assert loaded.state["old-2"].text == stored_session(NAME).messages[1].text


def test_a_damaged_file_is_reported_and_never_removed(store: SessionStore) -> None:
    save(store, stored_session(NAME))
    damaged = side_files(store)[0]
    damaged.write_bytes(b"damaged")
    assert len(store.load(NAME).problems) == 1
    fold(store)
    fold(store)
    assert damaged.read_bytes() == b"damaged"
    assert len(store.load(NAME).problems) == 1


def test_a_damaged_file_of_the_journal_goes_into_the_quarantine(store: SessionStore) -> None:
    begin(store, NAME, user_message("m1"), user_message("m2", MEGABYTE), user_message("m3"))
    side_files(store)[0].write_bytes(b"all that is left")
    loaded = store.load(NAME)
    assert list(texts(loaded.state)) == ["m1", "m3"]
    assert loaded.problems == ("3 of 4 records kept",)
    go_on(store, NAME, user_message("later"))
    assert list(texts(store.load(NAME).state)) == ["m1", "m3", "later"]
    assert b"all that is left" in store.layout.quarantine(NAME).read_bytes()


def test_a_file_of_a_record_that_was_folded_already_is_not_missed(store: SessionStore) -> None:
    begin(store, NAME, user_message("m1", MEGABYTE))
    journal = store.layout.journal(NAME).read_bytes()
    fold(store)
    store.layout.journal(NAME).write_bytes(journal)  # killed before it could be emptied
    loaded = store.load(NAME)
    assert (loaded.problems, loaded.state["m1"].text) == ((), MEGABYTE)


def test_a_file_that_is_damaged_is_written_again_when_its_value_is_known(tmp_path: Path) -> None:
    files = SideFiles(tmp_path / "files")
    reference = files.put(b"value" * 100)
    for damage in (b"", b"short"):
        (tmp_path / "files" / reference.sha256).write_bytes(damage)
        assert files.put(b"value" * 100) == reference
        assert files.get(reference) == b"value" * 100


def test_what_cannot_be_swept_does_not_keep_a_session_from_being_saved(
    store: SessionStore,
) -> None:
    save(store, stored_session(NAME))
    (store.layout.side_files(NAME) / "folder" / "below").mkdir(parents=True)
    fold(store)
    save(store, replace(stored_session(NAME), messages=(), tool_calls=()))
    assert store.load(NAME).problems == ()


@pytest.mark.parametrize("name", ["../../secret", "x" * 63, "/etc/passwd", "." * 64, ""])
def test_a_reference_is_never_a_path(tmp_path: Path, name: str) -> None:
    files = SideFiles(tmp_path / "files")
    reference = replace(files.put(b"x"), sha256=name)
    with pytest.raises(OSError, match="no hash"):
        files.get(reference)
