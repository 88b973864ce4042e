"""Killed at any system call while going back, a session is as before or at the snapshot."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ollm_tui.core.errors import SessionNotFound, StoreError
from ollm_tui.core.provider import PromptMessage
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.services.snapshots.closed_sessions import ClosedSessions
from ollm_tui.services.snapshots.restore_plan import restoration
from ollm_tui.settings.schema import Settings
from tests.cases import some
from tests.conftest import LONG
from tests.crash.restore_scenarios import (
    ALL,
    ANOTHER,
    ASIDE,
    ELSEWHERE,
    LATER,
    MOVING,
    POINT,
    RESTORING,
    another,
    point,
    subject,
)
from tests.crash.samples import go_on, texts, user_message
from tests.crash.scenarios import BYSTANDER, SUBJECT
from tests.crash.snapshot_crash import Crash, crashes
from tests.session_lives import prompt_of
from tests.snapshot_samples import MOMENT, rich_state, told

CACHES = ("snapshots", "snapshots-index.json", "snapshot-map.json", "context-snapshots")
SAID_THEN = "said then"
OPEN = "going to another session's while it is open"
WANTED = [*RESTORING, *ELSEWHERE] if LONG else [*RESTORING, OPEN]
"""`OLLM_LONG=1` kills everywhere; else what is recorded once more in another way is left out."""


def before() -> SessionState:
    """The subject as it was."""
    return SessionState(subject())


def after_going_back() -> SessionState:
    return _after(point())


def after_going_elsewhere() -> SessionState:
    state = _after(another())
    assert len(state) > len(before())
    return state


def _after(snapshot: ContextSnapshot) -> SessionState:
    state = before()
    state.apply(restoration(snapshot, state).record(MOMENT), 1)
    return state


def prompt(state: SessionState) -> tuple[PromptMessage, ...]:
    """What would be sent, without what was said after going back."""
    if state.header.head == SAID_THEN:
        state = SessionState(replace(state.session(), head=state.parent(SAID_THEN)))
    return prompt_of(state)


def found(crash: Crash) -> SessionState:
    """The subject as the crash left it: whole, and in nobody's way."""
    loaded = crash.sessions.load(SUBJECT)
    assert not loaded.damaged and loaded.read_only is None, crash.where
    assert texts(loaded.state).items() >= texts(before()).items(), crash.where
    for name, wanted in ((POINT, point()), (ANOTHER, another())):
        session_id = SUBJECT if name == POINT else BYSTANDER
        assert told(crash.library.get(session_id, name)) == told(wanted), crash.where
    damage = [each.damage for each in crash.library.list(SUBJECT) if each.damage]
    assert damage == [], crash.where
    return loaded.state


def undone(crash: Crash, state: SessionState) -> SessionState:
    """The subject after the last restore was taken back, through its safety snapshot."""
    safety = state.header.metadata.restores[-1].safety
    assert safety, crash.where
    closed = ClosedSessions(crash.sessions, crash.library, Settings().snapshots)
    closed.restore(crash.library.get(SUBJECT, safety))
    return crash.sessions.load(SUBJECT).state


@some(2, "scenario", WANTED)
def test_a_restore_is_done_or_not_and_can_be_undone(scenario: str) -> None:
    there = after_going_elsewhere() if scenario in ELSEWHERE else after_going_back()
    old, new = prompt(before()), prompt(there)
    if scenario.startswith(("undoing", "returning")):
        old, new = new, old
    for crash in crashes(scenario):
        state = found(crash)
        is_restored = prompt(state) == new
        assert is_restored or prompt(state) == old, crash.where
        assert is_restored or "restored" not in crash.told, crash.where
        assert SAID_THEN in state or SAID_THEN not in crash.told, crash.where
        # A branch that comes along is there as a whole, or nothing of it is.
        assert len(state) - (SAID_THEN in state) in (len(before()), len(there)), crash.where
        if is_restored and "open" not in scenario:
            assert prompt(undone(crash, state)) == old, crash.where
        go_on(crash.sessions.store, SUBJECT, user_message("gone on"))


def test_a_fork_of_a_snapshot_is_whole_or_not_there() -> None:
    for crash in crashes("forking a snapshot"):
        assert prompt(found(crash)) == prompt(before()), crash.where
        names = {each.session_id for each in crash.sessions.catalogue.summaries()}
        copies = names - {SUBJECT, BYSTANDER}
        assert len(copies) == 1 or not crash.told, crash.where
        for copy in copies:
            loaded = crash.sessions.load(copy)
            assert prompt(loaded.state) == prompt(rich_state()), crash.where
            assert LATER not in loaded.state, crash.where


def test_cleaning_up_takes_what_was_deleted_and_nothing_else() -> None:
    for crash in crashes("emptying what was deleted"):
        found(crash)
        assert [each.id for each in crash.library.list(SUBJECT)] == [POINT], crash.where
        try:
            crash.library.undelete(SUBJECT, ASIDE)
        except StoreError:
            continue
        assert "emptied" not in crash.told, crash.where
        assert told(crash.library.get(SUBJECT, ASIDE)) == told(point()), crash.where


@some(1, "scenario", MOVING)
def test_a_session_moves_with_its_snapshots_or_not_at_all(scenario: str) -> None:
    for crash in crashes(scenario):
        if SUBJECT in {note.session_id for note in crash.sessions.trashed()}:
            assert "brought back" not in crash.told and "deleted" not in crash.told, crash.where
            with pytest.raises(SessionNotFound):
                crash.sessions.load(SUBJECT)
            crash.sessions.restore(SUBJECT)
        elif SUBJECT not in {each.session_id for each in crash.sessions.catalogue.summaries()}:
            assert scenario == "deleting with snapshots", crash.where
            assert crash.library.list(SUBJECT) == [], crash.where
            continue
        else:
            assert not {"discarded", "deleted"}.intersection(crash.told), crash.where
        found(crash)
        crash.library.undelete(SUBJECT, ASIDE)


@some(4, "scenario", ALL)
def test_nothing_is_acknowledged_that_a_power_cut_could_take(scenario: str) -> None:
    unsynced = next(crashes(scenario)).unsynced
    assert [path for path in unsynced if not path.endswith(CACHES)] == []
