"""The trash: whole sessions move in and out, whoever else is looking or moving."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ollm_tui.core.errors import SessionBusy, SessionNotFound, StoreError
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.files.lock import open_locked
from ollm_tui.storage.sessions.trash import Trash, TrashNote
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import LARGE, begin, go_on, stored_session, texts, user_message

NAME = "subject"
SAID = ["old-1", "old-2", "old-3"]


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    """A session with everything a session can have on disk."""
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    library.add(stored_session(NAME))
    go_on(library.store, NAME, user_message("old-3"))
    layout = library.store.layout
    path = layout.snapshots / NAME / "snapshots"
    path.mkdir(parents=True)
    (path / "snapshot-1.json").write_text("{}")
    layout.drafts.mkdir()
    layout.jobs.mkdir()
    for path in (
        layout.drafts / NAME,
        layout.jobs / f"{NAME}.jsonl",
        layout.original(NAME),
        layout.quarantine(NAME),
    ):
        path.write_text("{}")
    return library


def names(library: SessionLibrary) -> list[str]:
    return sorted(each.session_id for each in library.catalogue.summaries())


def in_trash(library: SessionLibrary) -> list[str]:
    return sorted(note.session_id for note in library.trashed())


def belongings(library: SessionLibrary) -> dict[str, bool]:
    return {
        name: os.path.lexists(path)
        for name, path in library.store.layout.belongings(NAME).items()
        if name != "session.json.tmp"
    }


def test_everything_of_a_session_moves_in_and_comes_back(library: SessionLibrary) -> None:
    library.discard(NAME, "too old")
    assert (names(library), in_trash(library)) == ([], [NAME])
    assert not any(belongings(library).values())
    note = library.trashed()[0]
    assert (note.title, note.reason) == ("before", "too old")
    assert library.restore("sub") == NAME
    assert (names(library), in_trash(library)) == ([NAME], [])
    assert all(belongings(library).values())
    state = library.load(NAME).state
    assert (list(texts(state)), state["old-2"].text) == (SAID, LARGE)


def test_deleting_leaves_no_byte_of_a_session(library: SessionLibrary) -> None:
    layout = library.store.layout
    (layout.sessions / f".{NAME}.json.tmp").write_text("what a killed writer left")
    library.delete(NAME)
    assert [path.name for path in layout.root.rglob("*") if NAME in path.name] == []
    assert names(library) == in_trash(library) == []


def test_a_session_in_the_trash_cannot_be_opened_or_replaced(library: SessionLibrary) -> None:
    library.discard(NAME, "a test")
    with pytest.raises(SessionNotFound):
        library.store.open(NAME)
    with pytest.raises(SessionNotFound):
        library.load(NAME)
    assert library.add(stored_session(NAME)) != NAME
    library.restore(NAME)
    assert list(texts(library.load(NAME).state)) == SAID


def test_an_open_session_moves_nowhere(library: SessionLibrary) -> None:
    writer, _ = library.store.open(NAME)
    with pytest.raises(SessionBusy):
        library.delete(NAME)
    with pytest.raises(SessionBusy):
        library.discard(NAME, "a test")
    writer.close()
    assert all(belongings(library).values())


def test_nothing_in_the_store_is_overwritten_by_what_comes_back(library: SessionLibrary) -> None:
    library.discard(NAME, "a test")
    layout = library.store.layout
    for path in (layout.session(NAME), layout.journal(NAME)):
        path.write_text("somebody put this here")
        with pytest.raises(StoreError):
            library.restore(NAME)
        assert path.read_text() == "somebody put this here"
        assert in_trash(library) == [NAME]
        path.unlink()
    library.restore(NAME)
    assert list(texts(library.load(NAME).state)) == SAID


def test_nothing_in_the_trash_is_overwritten_by_what_appears_in_the_store(
    library: SessionLibrary,
) -> None:
    library.discard(NAME, "a test")
    library.store.layout.journal(NAME).touch()  # a lock that somebody tried in vain
    assert (names(library), in_trash(library)) == ([], [NAME])
    library.restore(NAME)
    assert list(texts(library.load(NAME).state)) == SAID


@pytest.mark.parametrize("state", ["restoring", "deleting"])
def test_a_name_never_looks_like_the_state_of_another(library: SessionLibrary, state: str) -> None:
    for other in (f"{NAME}.{state}", f"{NAME}.tmp", f".{NAME}.tmp"):
        name = library.add(stored_session(other))
        library.discard(name, "a test")
        assert names(library) == [NAME]
        library.restore(name)
        assert names(library) == sorted([NAME, name])
        library.delete(name)
    assert list(texts(library.load(NAME).state)) == SAID


def test_deleting_a_session_leaves_alone_what_only_looks_like_its_own(
    library: SessionLibrary,
) -> None:
    layout = library.store.layout
    begin(library.store, "x", user_message("m1"))
    layout.session(f"{NAME}.json").write_bytes(layout.session(NAME).read_bytes())
    assert names(library) == [NAME, "x"]
    with pytest.raises(SessionNotFound):
        library.delete(f"{NAME}.json")
    assert all(belongings(library).values())


@pytest.fixture
def busy_trash(library: SessionLibrary) -> Iterator[None]:
    """Somebody else is moving something, and takes long."""
    library.store.layout.trash.mkdir(exist_ok=True)
    descriptor = open_locked(library.store.layout.trash / ".lock")
    yield
    os.close(descriptor)


@pytest.mark.usefixtures("busy_trash")
def test_two_movers_are_never_at_work_at_once(library: SessionLibrary) -> None:
    trash = Trash(library.store.layout, wait_seconds=0.05)
    with pytest.raises(SessionBusy):
        trash.delete(NAME)
    with pytest.raises(SessionBusy):
        trash.put(TrashNote(NAME))
    with pytest.raises(SessionBusy):
        trash.restore(NAME)
    assert names(library) == [NAME]
    assert all(belongings(library).values())


def unfinished(library: SessionLibrary, state: str) -> None:
    """The trash as a killed mover leaves it: the directory has its name, no file has moved."""
    entry = library.store.layout.trash / f"{NAME}{state}"
    entry.mkdir(parents=True)
    (entry / "trashed.json").write_text(json.dumps({"sessionId": NAME, "title": "before"}))


def test_a_listing_does_not_wait_for_a_mover(library: SessionLibrary, busy_trash: None) -> None:
    unfinished(library, "")
    assert names(library) == []
    assert all(belongings(library).values())


def test_whoever_lists_finishes_what_a_killed_mover_began(library: SessionLibrary) -> None:
    unfinished(library, "")
    assert names(library) == []
    assert not any(belongings(library).values())
    entry = library.store.layout.trash / NAME
    entry.rename(entry.with_name(f"{NAME}~restoring"))
    assert library.catalogue.resolve("sub") == NAME
    assert all(belongings(library).values())
    unfinished(library, "~deleting")
    assert names(library) == []
    assert not any(belongings(library).values())
    assert [path.name for path in library.store.layout.trash.iterdir()] == [".lock"]


def test_a_move_that_cannot_be_finished_holds_up_nothing_else(library: SessionLibrary) -> None:
    begin(library.store, "other", user_message("m1"))
    unfinished(library, "~restoring")
    (library.store.layout.trash / f"{NAME}~restoring" / "snapshots" / "x").mkdir(parents=True)
    assert names(library) == ["other"]
    library.discard("other", "a test")
    assert in_trash(library) == ["other"]
    library.restore("other")
    assert names(library) == ["other"]


def test_a_note_that_cannot_be_read_still_names_its_session(library: SessionLibrary) -> None:
    library.discard(NAME, "a test")
    note = library.store.layout.trash / NAME / "trashed.json"
    for damage in (b"", b"\0\0", b'{"sessionId": "../../elsewhere"}', b"[]"):
        note.write_bytes(damage)
        assert in_trash(library) == [NAME]
    library.empty_old_trash()
    assert in_trash(library) == [NAME]


def test_a_full_disk_does_not_keep_a_session_from_being_deleted(
    library: SessionLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "mkdir", full)
    library.delete(NAME)
    assert not any(belongings(library).values())
    assert names(library) == []


def test_what_an_earlier_version_moved_of_another_program_comes_back(
    library: SessionLibrary,
) -> None:
    library.discard(NAME, "a test")
    layout = library.store.layout
    (layout.trash / NAME / "older.json").write_text("{}")
    library.restore(NAME)
    assert layout.older_session(NAME).read_text() == "{}"
