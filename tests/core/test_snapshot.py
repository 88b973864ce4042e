"""A snapshot holds what the prompt is made of, and survives being written and read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.session.compression import CompressedContext
from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.message import Reasoning, Text, UnknownPart
from ollm_tui.core.session.session import Metadata, ModeChange, Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import (
    FIRST_MODE,
    ContextSnapshot,
    SnapshotSummary,
    metadata_at,
    snapshot_of,
)
from ollm_tui.core.snapshot_encoding import decode_snapshot, encode_snapshot
from ollm_tui.engine.conversation.modes import DEFAULT_MODE
from tests import generators
from tests.snapshot_samples import MOMENT, message, rich_state, sample_snapshot


def test_a_snapshot_has_every_user_message_and_what_else_is_sent() -> None:
    snapshot = sample_snapshot()
    assert [each.id for each in snapshot.user_messages] == ["u1", "u2", "u3"]
    # a1 and t1 are behind the checkpoint; so is a2, but it is pinned.
    assert [each.id for each in snapshot.messages] == ["a2", "a3", "a4", "t2", "a5"]
    assert [each.id for each in snapshot.sent()] == "u1 a2 u2 a3 u3 a4 t2 a5".split()
    assert snapshot.order == tuple("u1 a1 t1 a2 u2 a3 u3 a4 t2 a5".split())
    assert snapshot.head == "a5"
    assert [each.id for each in snapshot.checkpoints] == ["cp1"]


def test_a_snapshot_has_the_facts_of_the_seed() -> None:
    snapshot = sample_snapshot()
    facts = snapshot.metadata
    assert (facts.model, facts.context_size, facts.total_user_messages) == ("scripted", 8192, 3)
    assert (facts.active_goal_id, facts.total_goals_completed) == ("g1", 1)
    assert (facts.total_checkpoints, facts.is_reasoning_model) == (1, True)
    assert facts.compression_ratio == round(1234 / (1234 + 80), 4)
    assert snapshot.summary == "look again"
    assert snapshot.archived_user_messages == ()
    assert (snapshot.mode, snapshot.system_prompt) == ("developer", "You are brief.")


def test_the_last_five_thoughts_are_whole_and_twenty_more_in_short() -> None:
    thinking = [
        replace(message(f"m{n}", "assistant", Reasoning(f"{n} " + "so " * 200)), parent_id=parent)
        for n, parent in enumerate([None, *(f"m{n}" for n in range(29))])
    ]
    session = Session("s", MOMENT, MOMENT, "m", "p", messages=tuple(thinking), head="m29")
    storage = snapshot_of(SessionState(session), 1, reason="manual").reasoning_storage
    assert [each.message_id for each in storage.recent] == [f"m{n}" for n in range(25, 30)]
    assert [each.message_id for each in storage.archived] == [f"m{n}" for n in range(5, 25)]
    assert all(len(each.text) > 600 for each in storage.recent)
    assert all(len(each.text) <= 200 for each in storage.archived)


def test_an_empty_session_has_an_empty_snapshot() -> None:
    state = SessionState(Session("s", MOMENT, MOMENT, "m", "p"))
    snapshot = snapshot_of(state, 0, reason="manual")
    assert (snapshot.order, snapshot.head, snapshot.messages) == ((), None, ())
    assert snapshot.summary == "Nothing said yet"
    assert metadata_at(snapshot, Metadata(), MOMENT) == Metadata()


def test_the_first_mode_is_the_one_the_engine_begins_with() -> None:
    assert FIRST_MODE == DEFAULT_MODE


def test_going_back_sets_the_marks_and_keeps_the_histories() -> None:
    snapshot = sample_snapshot()
    before = rich_state().header.metadata
    since = ModeChange("developer", "reviewer", MOMENT, "command")
    later = replace(
        before,
        goals=(),
        pins=(),
        excluded=("u1",),
        folded={},
        context_entries=(),
        compressed=CompressedContext(),
        compression_count=7,
        mode_history=(*before.mode_history, since),
    )
    back = metadata_at(snapshot, later, MOMENT)
    assert back.mode_history[:-1] == later.mode_history
    assert (back.mode_history[-1].from_, back.mode_history[-1].to) == ("reviewer", "developer")
    *history, brought = back.compression_history
    assert tuple(history) == before.compression_history, "and that another form holds again"
    assert (brought.at, brought.after) == (MOMENT, before.compressed)
    kept = {"mode_history": before.mode_history, "compression_history": tuple(history)}
    assert replace(back, **kept) == replace(before, token_count=1234, compression_count=7)


def test_another_session_gets_the_checkpoints_it_does_not_know() -> None:
    back = metadata_at(sample_snapshot(), Metadata(), MOMENT)
    assert [made.id for entry in back.compression_history for made in entry.created] == ["cp1"]
    assert metadata_at(sample_snapshot(), back, MOMENT) == back


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        (SnapshotSummary("a", "s", MOMENT, reason="threshold"), True),
        (SnapshotSummary("a", "s", MOMENT, reason="compression", name="mine"), False),
        (SnapshotSummary("a", "s", MOMENT, reason="compression", pinned=True), False),
        (SnapshotSummary("a", "s", MOMENT, reason="manual"), False),
        (SnapshotSummary("a", "s", MOMENT, reason="older"), False),
        (SnapshotSummary("a", "s", MOMENT, reason="threshold", damage="torn"), False),
    ],
)
def test_only_what_the_program_took_by_itself_may_go_by_itself(
    summary: SnapshotSummary, expected: bool
) -> None:
    assert summary.is_automatic is expected


def test_a_snapshot_is_written_and_read_as_it_was() -> None:
    snapshot = sample_snapshot()
    data = encode_snapshot(snapshot)
    assert decode_snapshot(data) == snapshot
    assert {"userMessages", "goalStack", "reasoningStorage", "tokenCount"} <= json.loads(
        data
    ).keys()


@given(st.lists(generators.messages, max_size=4, unique_by=lambda each: each.id))
def test_any_messages_survive(messages: list[generators.Message]) -> None:
    snapshot = replace(sample_snapshot(), messages=tuple(messages))
    data = encode_snapshot(snapshot)
    assert decode_snapshot(data) == snapshot
    assert encode_snapshot(decode_snapshot(data)) == data


def test_fields_and_parts_nobody_knows_stay_where_they_were() -> None:
    tree = json.loads(encode_snapshot(sample_snapshot()))
    tree["later"] = {"a": 1}
    tree["goalStack"]["goals"][0]["mood"] = "good"
    tree["goalStack"]["goals"][0]["subtasks"][0]["due"] = "soon"
    tree["checkpoints"][0]["ledger"]["more"] = [1]
    tree["metadata"]["x"] = None
    tree["messages"][0]["parts"].append({"type": "smell", "of": "roses"})
    tree["messages"][0]["parts"][0]["shade"] = "grey"
    snapshot = decode_snapshot(json.dumps(tree).encode())
    assert snapshot.messages[0].parts[-1] == UnknownPart({"type": "smell", "of": "roses"})
    assert json.loads(encode_snapshot(snapshot)) == tree


def test_words_that_look_like_our_marks_are_only_words() -> None:
    odd = Text('{"\ue000extra": {"id": "x"}} "\ue000unknown"')
    snapshot = replace(sample_snapshot(), messages=(message("m", "assistant", odd),))
    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b'{"id": 5, "order": []}'])
def test_what_is_no_snapshot_is_refused(data: bytes) -> None:
    with pytest.raises(CannotDecode):
        decode_snapshot(data)


def test_a_snapshot_value_is_whole_without_optional_fields() -> None:
    snapshot = ContextSnapshot("i", "s", MOMENT, 0, "", ())
    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot
