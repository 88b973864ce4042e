"""Sessions on disk: what is strange there is reported, never touched, and hides nothing else."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ollm_tui.core.errors import SessionDamaged, SessionNotFound, SessionReadOnly
from ollm_tui.core.session.message import Text
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import begin, go_on, stored_session, texts, user_message

NAME = "subject"
OTHER = "other"


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    """A store with a session nothing happens to."""
    library = SessionLibrary.at(StoreLayout(tmp_path / "store" / "sessions"))
    library.add(stored_session(OTHER))
    return library


@pytest.fixture
def store(library: SessionLibrary) -> SessionStore:
    return library.store


def damage_listed(library: SessionLibrary) -> dict[str, str | None]:
    return {each.session_id: each.damage for each in library.catalogue.summaries()}


def identity(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written or replaced, and not when it is read."""
    status = path.lstat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's path must be short
    socket.socket(socket.AF_UNIX).bind(path.name)
    os.chdir(here)


STRANGE: dict[str, Callable[[Path], object]] = {
    "an empty file": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(b"\0" * 4096),
    "half a file": lambda path: path.write_bytes(b'{"sessionId":"subject","messages":[{"id":"m'),
    "a list": lambda path: path.write_bytes(b"[]"),
    "not a number": lambda path: path.write_bytes(b'{"messages": NaN}'),
    "deep nesting": lambda path: path.write_bytes(b"[" * 100_000),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\xfd"),
    "a directory": lambda path: path.mkdir(),
    "a full directory": lambda path: (path / "below").mkdir(parents=True),
    "a FIFO": lambda path: os.mkfifo(path),
    "a socket": make_socket,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("strange", STRANGE)
def test_something_strange_in_the_place_of_a_session_is_listed_as_damaged(
    library: SessionLibrary, strange: str
) -> None:
    path = library.store.layout.session(NAME)
    STRANGE[strange](path)
    before = identity(path)
    damage = damage_listed(library)
    assert damage[OTHER] is None
    assert damage[NAME]
    assert library.catalogue.latest() == OTHER
    with pytest.raises(SessionDamaged):
        library.store.open(NAME)
    assert identity(path) == before
    assert names_in(path.parent) == ["other.files", "other.json", "subject.json"]


@pytest.mark.parametrize("strange", STRANGE)
def test_a_strange_session_file_leaves_its_journal_readable_and_untouched(
    library: SessionLibrary, strange: str
) -> None:
    begin(library.store, NAME, user_message("m1"))
    journal = library.store.layout.journal(NAME).read_bytes()
    STRANGE[strange](library.store.layout.session(NAME))
    loaded = library.load(NAME)
    assert list(texts(loaded.state)) == ["m1"]
    assert loaded.damaged and loaded.problems and loaded.read_only
    with pytest.raises(SessionReadOnly):
        library.store.open(NAME)
    assert library.store.layout.journal(NAME).read_bytes() == journal


@pytest.mark.parametrize("strange", ["a directory", "a FIFO", "a link to itself", "a socket"])
def test_something_strange_in_the_place_of_a_journal_is_a_problem_of_that_session_alone(
    library: SessionLibrary, strange: str
) -> None:
    library.add(stored_session(NAME))
    STRANGE[strange](library.store.layout.journal(NAME))
    loaded = library.load(NAME)
    assert list(texts(loaded.state)) == ["old-1", "old-2"]
    assert loaded.damaged and loaded.problems and loaded.read_only
    assert damage_listed(library) == {NAME: None, OTHER: None}
    with pytest.raises((SessionReadOnly, OSError)):
        library.store.open(NAME)


@pytest.mark.parametrize("strange", ["a directory", "a FIFO", "a link to itself", "zeros"])
def test_something_strange_in_the_place_of_a_journal_alone_is_listed_as_damaged(
    library: SessionLibrary, strange: str
) -> None:
    STRANGE[strange](library.store.layout.journal(NAME))
    damage = damage_listed(library)
    assert damage[NAME] and damage[OTHER] is None


@pytest.mark.parametrize("strange", ["a directory", "a full directory", "a FIFO", "zeros"])
def test_something_strange_can_be_deleted(library: SessionLibrary, strange: str) -> None:
    STRANGE[strange](library.store.layout.session(NAME))
    STRANGE[strange](library.store.layout.journal(NAME))
    library.delete(NAME)
    assert damage_listed(library) == {OTHER: None}
    assert names_in(library.store.layout.sessions) == ["other.files", "other.json"]


@pytest.mark.parametrize("place", ["trash", "older_sessions", "snapshots", "index"])
@pytest.mark.parametrize("strange", STRANGE)
def test_something_strange_beside_the_sessions_hides_none_of_them(
    tmp_path: Path, place: str, strange: str
) -> None:
    layout = StoreLayout(tmp_path / "store" / "sessions")
    writer = SessionStore(layout).create(OTHER)
    writer.fold(stored_session(OTHER))
    writer.close()
    STRANGE[strange](getattr(layout, place))
    library = SessionLibrary.at(layout)
    assert damage_listed(library) == {OTHER: None}
    assert damage_listed(library) == {OTHER: None}
    go_on(library.store, OTHER, user_message("later"))
    assert damage_listed(SessionLibrary.at(layout)) == {OTHER: None}


def test_an_empty_journal_alone_is_no_session(library: SessionLibrary) -> None:
    library.store.layout.journal(NAME).touch()
    assert list(library.store.directory.fingerprints()) == [OTHER]
    assert damage_listed(library) == {OTHER: None}
    with pytest.raises(SessionNotFound):
        library.load(NAME)


def test_a_first_record_that_broke_off_is_no_session(library: SessionLibrary) -> None:
    begin(library.store, NAME)
    journal = library.store.layout.journal(NAME)
    line = journal.read_bytes()
    for cut in range(len(line) - 1):
        journal.write_bytes(line[:cut])
        with pytest.raises(SessionNotFound):
            library.store.open(NAME)
        assert damage_listed(library) == {OTHER: None}


def test_a_file_from_the_far_future_or_past_is_listed(library: SessionLibrary) -> None:
    path = library.store.layout.session(NAME)
    path.write_text('{"messages": [{"role": "user", "content": "old words"}]}')
    broken = library.store.layout.session("broken")
    broken.write_bytes(b"")
    for seconds in (-(10**11), 0, 10**11, 10**12):
        os.utime(path, (seconds, seconds))
        os.utime(broken, (seconds, seconds))
        assert set(damage_listed(library)) == {NAME, OTHER, "broken"}


def newer_file(library: SessionLibrary) -> dict[str, Any]:
    one_message = replace(stored_session(NAME), messages=(user_message("m1"),), head="m1")
    library.add(replace(one_message, tool_calls=()))
    tree: dict[str, Any] = json.loads(library.store.layout.session(NAME).read_bytes())
    tree |= {"schemaVersion": 99, "holograms": [{"deep": 1}]}
    return tree


def test_a_session_of_a_newer_version_opens_read_only(library: SessionLibrary) -> None:
    path = library.store.layout.session(NAME)
    path.write_text(json.dumps(newer_file(library)))
    before = path.read_bytes()
    loaded = library.load(NAME)
    assert list(texts(loaded.state)) == ["m1"]
    assert loaded.read_only == "it was written by a newer version of ollm"
    with pytest.raises(SessionReadOnly):
        library.store.open(NAME)
    with pytest.raises(SessionReadOnly):
        library.change(NAME, title="other")
    with pytest.raises(SessionReadOnly):
        library.discard(NAME, "a test")
    assert path.read_bytes() == before
    assert not library.store.layout.journal(NAME).exists()


def test_a_newer_session_beyond_understanding_is_damaged_and_never_rewritten(
    library: SessionLibrary,
) -> None:
    path = library.store.layout.session(NAME)
    path.write_text(json.dumps(newer_file(library) | {"messages": {"m1": "no list any more"}}))
    before = path.read_bytes()
    assert damage_listed(library)[NAME]
    with pytest.raises(SessionDamaged):
        library.store.open(NAME)
    assert path.read_bytes() == before


def test_unknown_fields_survive_opening_recording_and_folding(library: SessionLibrary) -> None:
    tree: dict[str, Any] = {**newer_file(library), "schemaVersion": 1}
    tree["metadata"]["mood"] = {"level": 3}
    tree["messages"][0] |= {"stars": 5}
    tree["messages"][0]["parts"].append({"type": "scent", "of": "roses"})
    library.store.layout.session(NAME).write_text(json.dumps(tree))
    library.change(NAME, title="another")
    after = json.loads(library.store.layout.session(NAME).read_bytes())
    changed = {"title": "another", "journalSeq": after["journalSeq"], "schemaVersion": 2}
    assert [each["name"] for each in after["changes"]] == ["title"]
    assert after == {**tree, **changed, "changes": after["changes"]}


HOSTILE = {
    "a lone surrogate": "\ud800 and \udfff",
    "zero": "a\0b",
    "line separators": "a\u2028b\u2029c\x85d\x0be",
    "line ends": "a\nb\r\nc\rd",
    "quotes": '"\\"{}[]\',',
    "our own marks": '\ue000extra "messages":[],"toolCalls":[]',
    "a journal line": "\n00000000 9 {}\n",
    "all of Unicode": "".join(map(chr, range(0x3000))) + "\U0010ffff",
    "a megabyte": "\u00e9" * 500_000 + "\ud800",
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_strings_come_back_as_they_were(library: SessionLibrary, hostile: str) -> None:
    text = HOSTILE[hostile]
    message = replace(
        user_message("m1"), parts=(Text(text, extra={text[:50]: text[:50]}),), error=text
    )
    begin(library.store, NAME, message)
    assert library.load(NAME).state["m1"] == message
    library.change(NAME, title=text, tags=[text[:50]])
    state = library.load(NAME).state
    assert (state["m1"], state.header.title) == (message, text)
    assert damage_listed(library) == {NAME: None, OTHER: None}
    library.discard(NAME, "a test")
    assert [note.session_id for note in library.trashed()] == [NAME]
    library.restore(NAME)
    assert library.load(NAME).state["m1"] == message


def test_numbers_too_large_for_the_index_hide_nothing(library: SessionLibrary) -> None:
    path = library.store.layout.session(OTHER)
    tree = json.loads(path.read_bytes())
    tree["metadata"]["tokenCount"] = 10**40
    path.write_text(json.dumps(tree))
    library.store.layout.session(NAME).write_bytes(b"")
    assert set(damage_listed(library)) == {NAME, OTHER}


def test_a_copied_session_is_a_session_of_its_own(library: SessionLibrary) -> None:
    begin(library.store, NAME, user_message("m1"))
    layout = library.store.layout
    layout.journal("copy").write_bytes(layout.journal(NAME).read_bytes())
    layout.session("twin").write_bytes(layout.session(OTHER).read_bytes())
    names = {"copy", "twin", NAME, OTHER}
    assert set(damage_listed(library)) == names
    assert {library.load(name).state.header.session_id for name in names} == names


def test_a_name_that_is_no_name_is_never_a_path(library: SessionLibrary) -> None:
    for name in ("../other", "a/b", "", ".", "..", "x.json", "x.journal", "~", "\0", "a" * 200):
        with pytest.raises(SessionNotFound):
            library.store.open(name)
        with pytest.raises(SessionNotFound):
            library.delete(name)
        added = library.add(replace(stored_session(OTHER), session_id=name))
        assert library.store.layout.session(added).parent == library.store.layout.sessions
        library.delete(added)
    assert damage_listed(library) == {OTHER: None}


def test_older_data_is_listed_continued_and_never_altered(library: SessionLibrary) -> None:
    layout = library.store.layout
    layout.older_sessions.mkdir()
    older = layout.older_session(NAME)
    older.write_text('{"messages": [{"id": "m1", "role": "user", "content": "old words"}]}')
    here = layout.session("here")
    here.write_text(older.read_text())
    before = older.read_bytes()
    assert damage_listed(library) == {NAME: None, OTHER: None, "here": None}
    for name in (NAME, "here"):
        library.change(name, title="continued")
        go_on(library.store, name, user_message("m2"))
        assert list(texts(library.load(name).state).values()) == ["old words", "words of m2"]
    assert older.read_bytes() == before
    assert layout.original("here").read_bytes() == before


def test_older_data_may_speak_of_schema_versions(library: SessionLibrary) -> None:
    call = {"name": "write_file", "args": {"schemaVersion": 3}, "result": "done"}
    tree = {"messages": [{"role": "user", "content": '"schemaVersion"'}], "toolCalls": [call]}
    library.store.layout.session(NAME).write_text(json.dumps(tree))
    assert damage_listed(library) == {NAME: None, OTHER: None}
    assert '"schemaVersion"' in texts(library.load(NAME).state).values()


def test_nothing_can_be_read_by_others(library: SessionLibrary) -> None:
    begin(library.store, NAME, user_message("m1"))
    library.discard(NAME, "a test")
    library.change(OTHER, title="x")
    library.catalogue.summaries()
    everything = [library.store.layout.root, *library.store.layout.root.rglob("*")]
    assert [path for path in everything if path.stat().st_mode & 0o077] == []
