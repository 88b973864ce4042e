"""Another process at the worst moment: between two steps of opening, reading or closing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ollm_tui.core.errors import SessionBusy
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.crash.samples import added, begin, go_on, texts, user_message

NAME = "session"


@pytest.fixture
def library(tmp_path: Path) -> SessionLibrary:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    begin(library.store, NAME, user_message("m1"))
    return library


@pytest.fixture
def other(library: SessionLibrary) -> SessionLibrary:
    """The same store, as another process has it."""
    return SessionLibrary.at(library.store.layout)


class Meddler:
    """Does something once, just before a function of `os` is called with a path or at all."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def before(self, name: str, path: Path | None, act: Callable[[], object]) -> None:
        """Act before that call; what the act itself calls is not looked at."""
        original: Callable[..., object] = getattr(os, name)
        waiting = True

        def call(*arguments: object) -> object:
            nonlocal waiting
            if waiting and (path is None or arguments[0] == path):
                waiting = False
                act()
            return original(*arguments)

        self._monkeypatch.setattr(os, name, call)


@pytest.fixture
def meddler(monkeypatch: pytest.MonkeyPatch) -> Meddler:
    return Meddler(monkeypatch)


def test_a_line_read_while_it_is_written_is_not_reported_as_torn(
    library: SessionLibrary, meddler: Meddler
) -> None:
    journal = library.store.layout.journal(NAME)
    go_on(library.store, NAME, user_message("m2"))
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-30])
    library.store.layout.older_sessions.mkdir()
    older = library.store.layout.older_session(NAME)
    older.write_text('{"messages": []}')  # it is looked into after the journal
    meddler.before("open", older, lambda: journal.write_bytes(whole))
    loaded = library.load(NAME)
    assert (list(texts(loaded.state)), loaded.problems) == (["m1", "m2"], ())


def test_a_session_folded_while_it_is_read_is_whole(
    library: SessionLibrary, other: SessionLibrary, meddler: Meddler
) -> None:
    go_on(library.store, NAME, user_message("m2", "x" * 500_000))
    [large] = library.store.layout.side_files(NAME).iterdir()
    meddler.before("open", large, lambda: other.change(NAME, title="folded"))
    loaded = library.load(NAME)
    assert (list(texts(loaded.state)), loaded.problems) == (["m1", "m2"], ())


def test_a_session_that_moved_away_and_back_while_it_was_opened_is_not_written_unlocked(
    library: SessionLibrary, other: SessionLibrary, meddler: Meddler
) -> None:
    journal = library.store.layout.journal(NAME)

    def move_away() -> None:
        other.discard(NAME, "a test")
        meddler.before("fsync", None, lambda: other.restore(NAME))

    meddler.before("open", journal, move_away)
    with pytest.raises(SessionBusy):
        library.store.open(NAME)
    go_on(library.store, NAME, user_message("m2"))
    assert list(texts(library.load(NAME).state)) == ["m1", "m2"]


def test_a_journal_removed_between_opening_and_locking_is_not_the_one_that_is_locked(
    library: SessionLibrary, other: SessionLibrary, meddler: Meddler
) -> None:
    library.change(NAME, title="folded")
    holder, _ = library.store.open(NAME)
    meddler.before("fstat", None, holder.close)
    writer, _ = other.store.open(NAME)
    assert writer.holds_lock
    with pytest.raises(SessionBusy):
        library.store.open(NAME)
    writer.close()


def test_closing_does_not_take_away_the_lock_of_another(
    library: SessionLibrary, other: SessionLibrary
) -> None:
    first = library.store.create("new")
    first.lock()
    library.store.layout.journal("new").unlink()
    second = other.store.create("new")
    second.lock()
    first.close()
    assert second.holds_lock
    third = library.store.create("new")
    with pytest.raises(SessionBusy):
        third.append([(1, added(user_message("m1")))])
    second.close()
