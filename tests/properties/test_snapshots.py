"""Going back to a snapshot gives the prompt of that moment, byte for byte, and can be undone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_tui.core.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot, snapshot_of
from ollm_tui.core.snapshot_encoding import decode_snapshot, encode_snapshot
from ollm_tui.services.snapshot_restore import forked, restoration
from tests.session_lives import apply, lives, prompt_of, states
from tests.snapshot_samples import MOMENT, told

EXAMPLES = 150


def taken(state: SessionState) -> ContextSnapshot:
    """A snapshot as it comes back from the disk."""
    return decode_snapshot(encode_snapshot(snapshot_of(state, 100, reason="manual")))


def restore(snapshot: ContextSnapshot, state: SessionState) -> None:
    apply(state, restoration(snapshot, state).record(MOMENT))


@settings(max_examples=EXAMPLES)
@given(states(), st.data())
def test_create_restore_create_gives_the_same_snapshot(
    state: SessionState, data: st.DataObject
) -> None:
    snapshot, prompt = taken(state), prompt_of(state)
    apply(state, *data.draw(lives(state)))
    ids = {message.id for message in state.messages()}
    restore(snapshot, state)
    assert told(taken(state)) == told(snapshot)
    assert prompt_of(state) == prompt
    assert {message.id for message in state.messages()} == ids, "nothing is added or removed"


@settings(max_examples=EXAMPLES)
@given(states(), st.data())
def test_restoring_and_undoing_is_as_if_nothing_happened(
    state: SessionState, data: st.DataObject
) -> None:
    snapshot = taken(state)
    apply(state, *data.draw(lives(state)))
    before, prompt = taken(state), prompt_of(state)
    restore(snapshot, state)
    restore(before, state)
    assert told(taken(state)) == told(before)
    assert prompt_of(state) == prompt
    restore(snapshot, state)
    assert told(taken(state)) == told(snapshot)


@settings(max_examples=EXAMPLES)
@given(states(), st.data())
def test_a_fork_begins_with_the_same_prompt(state: SessionState, data: st.DataObject) -> None:
    snapshot, prompt = taken(state), prompt_of(state)
    apply(state, *data.draw(lives(state)))
    fork = SessionState(forked(snapshot, state))
    assert prompt_of(fork) == prompt
    assert fork.header.session_id != state.header.session_id
    assert fork.header.forked_from == state.header.session_id


@settings(max_examples=EXAMPLES)
@given(states())
def test_a_fork_needs_nothing_but_the_snapshot(state: SessionState) -> None:
    fork = SessionState(forked(taken(state)))
    assert prompt_of(fork) == prompt_of(state)
    assert [message.id for message in fork.branch()] == list(taken(state).order)


@settings(max_examples=EXAMPLES)
@given(states(), states(), states("x"))
def test_a_snapshot_of_another_session_comes_as_a_new_branch(
    state: SessionState, same_ids: SessionState, other_ids: SessionState
) -> None:
    snapshot, prompt = taken(state), prompt_of(state)
    for other in (same_ids, other_ids):
        before = {message.id: message for message in other.messages()}
        restore(snapshot, other)
        assert prompt_of(other) == prompt
        after = {message.id: message for message in other.messages()}
        assert before.items() <= after.items(), "what was said stays as it was"
