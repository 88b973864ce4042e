"""A diff tells what is on which side, in the order of the conversation."""

from __future__ import annotations

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.session.compression import CompressedContext
from ollm_tui.core.session.goals import with_status
from ollm_tui.core.session.record import MessageAdded, SessionChanged
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot, FileVersion, snapshot_of
from ollm_tui.services.snapshots.snapshot_diff import Change, diff
from tests.session_lives import apply, lives, states
from tests.snapshot_samples import MOMENT, message, rich_state, sample_snapshot


def point(state: SessionState, tokens: int = 10) -> ContextSnapshot:
    return snapshot_of(state, tokens, reason="manual")


def test_a_point_does_not_differ_from_itself() -> None:
    snapshot = sample_snapshot()
    found = diff(snapshot, snapshot)
    assert found.count("same") == len(snapshot.order)
    assert (found.goals, found.facts, found.pins, found.files, found.parts) == ((),) * 5
    assert found.words["u1"].text == "words of u1"


def test_messages_are_aligned_where_the_conversation_branched() -> None:
    state = rich_state()
    left = point(state)
    apply(state, SessionChanged(at=MOMENT, fields={"head": "b1"}))
    apply(state, MessageAdded(at=MOMENT, message=message("b2", "user", parent="b1")))
    found = diff(left, point(state))
    assert [(each.key, each.outcome) for each in found.messages[:3]] == [
        ("u1", "same"),
        ("a1", "gone"),
        ("t1", "gone"),
    ]
    assert [(each.key, each.outcome) for each in found.messages[-2:]] == [
        ("b1", "added"),
        ("b2", "added"),
    ]


def test_what_is_only_sent_in_another_form_is_told_so() -> None:
    left = sample_snapshot()
    right = replace(
        left,
        checkpoints=(),
        compressed=CompressedContext(),
        elisions={},
        folded={},
        excluded=(),
        pins=("u2", "u3"),
    )
    found = diff(left, right)
    forms = {each.key: (each.left, each.right) for each in found.messages if each.outcome != "same"}
    assert forms == {
        "a1": ("folded", "sent"),
        "t1": ("folded", "sent"),
        "a3": ("excluded", "sent"),
        "a4": ("folded", "sent"),
        "t2": ("elided", "sent"),
    }
    assert {each.key for each in found.pins} == {"a2", "u3"}
    assert found.facts == (Change("checkpoints", "1", "0"),)


def test_goals_model_mode_tokens_and_files_are_compared() -> None:
    left = sample_snapshot()
    goals = with_status(left.goal_stack.goals, "g1", "done")[:1]
    right = replace(
        left,
        token_count=99,
        goal_stack=replace(left.goal_stack, goals=goals),
        metadata=replace(left.metadata, model="other"),
        mode="reviewer",
        files=(FileVersion("a.py", "f" * 64, 2000, 3), FileVersion("b.py", None, 0, 4)),
    )
    found = diff(left, right, {"user": 5}, {"user": 7, "tools": 1})
    assert found.tokens == (1234, 99)
    assert found.parts == (("user", 5, 7), ("tools", 0, 1))
    assert found.goals == (
        Change("ship it", "active, 0 of 1 steps, 1 decided", "done, 0 of 1 steps, 1 decided"),
        Change("begin", "done", ""),
    )
    assert found.facts == (
        Change("model", "scripted", "other"),
        Change("mode", "developer", "reviewer"),
    )
    assert found.files == (
        Change("a.py", "unchanged", "2,000 bytes"),
        Change("b.py", "unchanged", "removed"),
    )


@given(states(), st.data())
def test_both_orders_can_be_read_off_a_diff(state: SessionState, data: st.DataObject) -> None:
    left = point(state)
    apply(state, *data.draw(lives(state)))
    right = point(state)
    messages = diff(left, right).messages
    assert [each.key for each in messages if each.left] == list(left.order)
    assert [each.key for each in messages if each.right] == list(right.order)
    common = sum(each.outcome in ("same", "changed") for each in messages)
    blocks = SequenceMatcher(None, left.order, right.order, autojunk=False).get_matching_blocks()
    assert common == sum(block.size for block in blocks)


orders = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10).map(tuple)


@given(orders, orders)
def test_no_message_is_lost_even_where_the_order_differs(
    left: tuple[str, ...], right: tuple[str, ...]
) -> None:
    base = sample_snapshot()
    found = diff(replace(base, order=left), replace(base, order=right))
    assert sorted(each.key for each in found.messages) == sorted({*left, *right})
