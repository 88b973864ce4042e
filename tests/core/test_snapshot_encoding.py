"""The short ways of writing and reading a snapshot give the same as the long ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import snapshot_of
from ollm_tui.core.snapshot_encoding import (
    MessageBytes,
    decode_snapshot,
    decode_with,
    encode_snapshot,
    snapshot_chunks,
)
from tests import generators
from tests.session_lives import apply, lives, states
from tests.snapshot_samples import rich_session, rich_state, sample_snapshot


@given(st.lists(generators.messages, max_size=4, unique_by=lambda each: each.id))
def test_any_messages_are_written_the_same(messages: list[Message]) -> None:
    snapshot = replace(sample_snapshot(), messages=tuple(messages))
    written = MessageBytes()
    for _ in range(2):  # the second time they are known
        assert b"".join(snapshot_chunks(snapshot, written)) == encode_snapshot(snapshot)


@given(states(), st.data())
def test_any_snapshot_reads_the_same_whatever_the_session_has_become(
    state: SessionState, data: st.DataObject
) -> None:
    written = MessageBytes()
    snapshot = snapshot_of(state, 100, reason="manual")
    encoded = b"".join(snapshot_chunks(snapshot, written))
    assert encoded == encode_snapshot(snapshot)
    assert decode_with(encoded, state, written) == decode_snapshot(encoded)
    apply(state, *data.draw(lives(state)))
    assert decode_with(encoded, state, written) == decode_snapshot(encoded)
    assert decode_with(encoded, state, MessageBytes()) == decode_snapshot(encoded)


def test_what_the_session_still_has_is_taken_from_it() -> None:
    state, data = rich_state(), encode_snapshot(sample_snapshot())
    read = decode_with(data, state, MessageBytes())
    assert [message.id for message in read.messages] == ["a2", "a3", "a4", "t2", "a5"]
    assert all(message is state[message.id] for message in read.sent())


def test_what_the_session_says_otherwise_now_is_read_from_the_snapshot() -> None:
    data = encode_snapshot(sample_snapshot())
    session = rich_session()
    changed = tuple(
        replace(each, parts=(Text("other words"),)) if each.id == "a3" else each
        for each in session.messages
    )
    state = SessionState(replace(session, messages=changed))
    assert decode_with(data, state, MessageBytes()) == decode_snapshot(data)


@pytest.mark.parametrize("end", [1, 500, -1, -40])
def test_a_torn_snapshot_is_none_however_much_of_it_is_known(end: int) -> None:
    data = encode_snapshot(sample_snapshot())[:end]
    with pytest.raises(CannotDecode):
        decode_with(data, rich_state(), MessageBytes())


def test_a_message_that_was_replaced_is_written_anew() -> None:
    snapshot, written = sample_snapshot(), MessageBytes()
    b"".join(snapshot_chunks(snapshot, written))
    first, *others = snapshot.messages
    later = replace(snapshot, messages=(replace(first, parts=(Text("later"),)), *others))
    assert b"".join(snapshot_chunks(later, written)) == encode_snapshot(later)
