"""A session that goes on in a new one: when that is asked, and what the new one begins with."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ollm_tui.core.session.continuation import continuation, is_long
from ollm_tui.core.session.goals import Goal
from ollm_tui.core.session.message import Message, Role, Text
from ollm_tui.core.session.session import Metadata, Session
from ollm_tui.core.session.session_state import SessionState

AT = "2026-01-02T03:04:05.000Z"


def said(*roles: Role, **fields: Any) -> SessionState:
    """A session whose messages have the ids 0, 1, 2 …"""
    messages = tuple(
        Message(str(at), role, (Text(f"text {at}"),), AT, parent_id=str(at - 1) if at else None)
        for at, role in enumerate(roles)
    )
    return SessionState(Session("old", AT, AT, "model", "provider", messages, **fields))


TURNS: tuple[Role, ...] = ("user", "assistant", "tool", "assistant", "user", "assistant", "user")


def test_the_last_turn_and_turns_with_a_pin_go_along_whole_and_in_one_chain() -> None:
    state = said(*TURNS, "assistant", metadata=Metadata(pins=("2", "gone")))
    new = continuation(state)
    assert [message.id for message in new.messages] == ["0", "1", "2", "3", "6", "7"]
    assert [message.parent_id for message in new.messages] == [None, "0", "1", "2", "3", "6"]
    assert (new.head, new.metadata.pins) == ("7", ("2",))
    assert [message.id for message in SessionState(new).branch()] == ["0", "1", "2", "3", "6", "7"]


def test_goals_go_along_and_what_is_about_other_messages_stays_behind() -> None:
    goal = Goal("g", "Mend the gate", AT)
    metadata = Metadata(goals=(goal,), excluded=("1", "6"), folded={"0": 9, "7": 9})
    new = continuation(said(*TURNS, "assistant", metadata=metadata, pinned=True)).metadata
    assert (new.goals, new.excluded, new.folded) == ((goal,), ("6",), {"7": 9})


def test_the_new_session_names_the_old_one() -> None:
    old = said("user", "assistant", title="Rome", forked_from="another")
    new = continuation(old)
    assert (new.continues, new.forked_from, new.title) == ("old", None, "Rome (part 2)")
    third = continuation(SessionState(replace(new, continued_in="third")))
    assert (third.continues, third.continued_in) == (new.session_id, None)
    assert third.title == "Rome (part 3)"


@pytest.mark.parametrize(
    ("count", "asked", "most", "expected"),
    [(3, 0, 4, False), (4, 0, 4, True), (7, 4, 4, False), (8, 4, 4, True), (9, 0, 0, False)],
)
def test_it_is_long_each_time_it_has_grown_by_the_limit(
    count: int, asked: int, most: int, expected: bool
) -> None:
    roles: tuple[Role, ...] = ("user",) * count
    assert is_long(said(*roles, items_asked=asked), most) is expected


def test_what_goes_along_does_not_count_towards_the_limit() -> None:
    new = SessionState(continuation(said("user", "assistant")))
    assert len(new) == 2 and not is_long(new, 2)
