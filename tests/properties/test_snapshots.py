"""Going back to a snapshot gives the prompt of that moment, byte for byte, and can be undone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.session.compression import CompressedContext, last_undoable, was_undone
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.record import Compressed, CompressionUndone, SessionChanged
from ollm_tui.core.session.session import Restore, next_number
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot, snapshot_of
from ollm_tui.core.snapshot_encoding import decode_snapshot, encode_snapshot
from ollm_tui.services.snapshots.restore_plan import forked, restoration, undoable
from tests.conftest import LONG
from tests.session_lives import apply, lives, prompt_of, states
from tests.snapshot_samples import MOMENT, checkpoint, compression, told

EXAMPLES = 150 if LONG else 50


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
@given(states(), states("x"), st.data())
def test_a_compression_after_a_restore_is_undone_as_if_nothing_happened(
    state: SessionState, other: SessionState, data: st.DataObject
) -> None:
    restored = [taken(state), taken(other)]
    apply(state, *data.draw(lives(state)))
    for snapshot in data.draw(st.permutations(restored)):
        restore(snapshot, state)
        compress_and_undo(state, data)


@settings(max_examples=EXAMPLES)
@given(states(), st.data())
def test_in_a_fork_compressions_are_undone_and_restores_are_not(
    state: SessionState, data: st.DataObject
) -> None:
    snapshot = taken(state)
    apply(state, *data.draw(lives(state)))
    note = Restore(at=MOMENT, snapshot=snapshot.id, safety="kept by the other session")
    metadata = replace(state.header.metadata, restores=(note,))
    apply(state, SessionChanged(at=MOMENT, fields={"metadata": to_tree(metadata)}))
    fork = SessionState(forked(taken(state), state))
    assert undoable(fork.header.metadata.restores) == []
    compress_and_undo(fork, data)
    undo_last(fork)
    undo_last(state)
    assert prompt_of(fork) == prompt_of(state), "those it came with, too"


def compress_and_undo(state: SessionState, data: st.DataObject) -> None:
    """Compress some of what is there, and take that back."""
    before, branch = prompt_of(state), [message.id for message in state.branch()]
    metadata = state.header.metadata
    covered = branch[: data.draw(st.integers(0, len(branch)))] if state.header.head else []
    if not covered:
        return
    number = next_number(metadata)
    made = replace(checkpoint(f"new{number}", *covered), compression_number=number)
    after = CompressedContext(checkpoints=(*metadata.compressed.checkpoints, made.id))
    done = replace(compression(after, made), number=number, before=metadata.compressed, elisions={})
    apply(state, Compressed(at=MOMENT, compression=done))
    assert undo_last(state) == number
    assert prompt_of(state) == before
    assert was_undone(state.header.metadata.compression_history)
    assert state.header.metadata.compressed == metadata.compressed


def undo_last(state: SessionState) -> int | None:
    """Take back the last compression, if it can be; gives its number."""
    metadata = state.header.metadata
    last = last_undoable(metadata.compression_history, metadata.compressed)
    if last is None:
        return None
    apply(state, CompressionUndone(at=MOMENT, number=last.number))
    history = state.header.metadata.compression_history
    undone = [
        old.number
        for old, new in zip(metadata.compression_history, history, strict=True)
        if old != new
    ]
    assert undone == [last.number], "this one and no other"
    return last.number


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
