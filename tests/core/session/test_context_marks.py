"""Marks on messages: one each, changed together, and every change has a way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.errors import UsageError
from ollm_tui.core.session.context_marks import (
    Action,
    ContextChange,
    Mark,
    Marks,
    marked,
    resolved,
    way_back,
)
from ollm_tui.core.session.message import Message, Role
from ollm_tui.core.session.session import Metadata

ROLES: tuple[Role, ...] = ("user", "assistant", "user", "assistant", "tool", "assistant")
BRANCH = [Message(f"m{place}", role, (), "") for place, role in enumerate(ROLES)]
KEYS = tuple(message.id for message in BRANCH)
ACTIONS: tuple[Action, ...] = (
    *("pin", "unpin", "exclude", "include", "fold", "unfold", "drop", "fold-above"),
)
changes = st.builds(
    ContextChange,
    st.sampled_from(ACTIONS),
    st.lists(st.sampled_from(KEYS), min_size=1, max_size=3).map(tuple),
)


def apply(metadata: Metadata, action: Action, *keys: str) -> Metadata:
    new = resolved(ContextChange(action, keys), BRANCH, Marks.of(metadata))
    return marked(metadata, new, lambda _: 100)


def marks_of(metadata: Metadata) -> list[Mark]:
    return [Marks.of(metadata).mark(key) for key in KEYS]


@given(st.lists(changes, max_size=6), changes)
def test_every_change_has_a_way_back(before: list[ContextChange], change: ContextChange) -> None:
    metadata = Metadata()
    for each in before:
        metadata = apply(metadata, each.action, *each.keys)
    marks = Marks.of(metadata)
    new = resolved(change, BRANCH, marks)
    after = marked(metadata, new, lambda _: 200)
    undo = way_back(new, marks)
    tokens = dict(undo.folded)
    again = marked(after, resolved(undo, BRANCH, Marks.of(after)), lambda key: tokens[key])
    assert Marks.of(again) == marks


@given(st.lists(changes, max_size=8))
def test_a_message_has_one_mark_at_most(done: list[ContextChange]) -> None:
    metadata = Metadata()
    for each in done:
        metadata = apply(metadata, each.action, *each.keys)
    marks = Marks.of(metadata)
    assert len(marks.pinned) + len(marks.excluded) + len(marks.folded) == sum(
        map(bool, marks_of(metadata))
    )
    assert len(metadata.pins) + len(metadata.excluded) + len(metadata.folded) == sum(
        map(bool, marks_of(metadata))
    )


def test_taking_away_a_mark_leaves_others_alone() -> None:
    metadata = apply(Metadata(), "pin", "m1")
    assert apply(metadata, "include", "m1") == metadata
    assert apply(metadata, "unpin", "m1") == Metadata()


def test_dropping_leaves_out_the_whole_exchange() -> None:
    assert marks_of(apply(Metadata(), "drop", "m4")) == [
        *("", ""),
        *("excluded", "excluded", "excluded", "excluded"),
    ]


def test_folding_above_spares_the_users_words_and_what_is_marked() -> None:
    pinned = apply(Metadata(), "pin", "m1")
    assert marks_of(apply(pinned, "fold-above", "m5")) == [
        *("", "pinned", "", "folded", "folded", "")
    ]


def test_a_folded_message_remembers_what_it_had() -> None:
    metadata = apply(Metadata(), "fold", "m1")
    assert metadata.folded == {"m1": 100}
    assert marked(metadata, {"m3": "folded"}, lambda _: 7).folded == {"m1": 100, "m3": 7}


def test_an_unknown_message_is_a_clear_error() -> None:
    with pytest.raises(UsageError):
        apply(Metadata(), "pin", "nobody")


def test_where_a_file_says_two_things_the_pin_wins() -> None:
    metadata = Metadata(pins=("m1",), excluded=("m1", "m2"), folded={"m1": 1, "m2": 2, "m3": 3})
    assert marks_of(metadata)[1:4] == ["pinned", "excluded", "folded"]
