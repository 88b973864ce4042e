"""Branches of a message tree: their names, their lengths, and where snapshots of them belong."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.core.branches import MAIN, branches_of, holders
from ollm_tui.core.message import Attachment, Message, Text
from ollm_tui.core.session import Session
from ollm_tui.core.session_state import SessionState
from tests.snapshot_samples import MOMENT, message, rich_session


def told(state: SessionState) -> list[tuple[str, str, int, bool]]:
    return [(each.leaf, each.name, each.messages, each.is_current) for each in branches_of(state)]


def session(*messages: Message, head: str | None = None) -> SessionState:
    return SessionState(
        Session("s", MOMENT, MOMENT, "m", "p", messages=messages, head=head or messages[-1].id)
    )


def test_a_session_without_edits_has_one_branch() -> None:
    assert told(session(message("u1", "user"), message("a1", "assistant", parent="u1"))) == [
        ("a1", MAIN, 2, True)
    ]
    assert branches_of(SessionState(Session("s", MOMENT, MOMENT, "m", "p"))) == ()


def test_another_answer_and_an_edit_are_named_by_their_first_words() -> None:
    state = session(
        message("u1", "user"),
        message("a1", "assistant", parent="u1"),
        message("b1", "assistant", Text("another answer\nand more"), parent="u1"),
        message("u2", "user", Text("edited words"), parent="a1"),
        message("v2", "user", Text("other words"), parent="a1"),
        head="u2",
    )
    assert told(state) == [
        ("u2", MAIN, 3, True),
        ("b1", "answer: another answer", 2, False),
        ("v2", "edit: other words", 3, False),
    ]


def test_the_first_branch_is_main_also_when_it_grew_later_than_others() -> None:
    state = session(
        message("u1", "user"),
        message("a1", "assistant", parent="u1"),
        message("b1", "assistant", Text("beside"), parent="u1"),
        message("u2", "user", parent="a1"),
    )
    assert [(leaf, name) for leaf, name, *_ in told(state)] == [
        ("u2", MAIN),
        ("b1", "answer: beside"),
    ]


def test_a_conversation_that_was_set_back_has_its_present_end_as_a_branch() -> None:
    state = session(
        message("u1", "user"),
        message("a1", "assistant", Text("so far"), parent="u1"),
        message("u2", "user", parent="a1"),
        head="a1",
    )
    assert told(state) == [("u2", MAIN, 3, False), ("a1", "up to: so far", 2, True)]


def test_a_message_without_words_is_named_by_what_it_brought_along() -> None:
    log = Attachment(name="paste 1", media_type="text/plain", content="x")
    state = session(
        message("u1", "user"), message("v1", "user", log), message("w1", "user", Text("  "))
    )
    assert [name for _, name, *_ in told(state)] == [MAIN, "edit: paste 1", "edit: user"]


def test_messages_belong_to_the_current_branch_where_they_are_on_it() -> None:
    state = SessionState(rich_session())
    found = holders(branches_of(state), state)
    assert found["u1"] == "a5" and found["b1"] == "b1"
    other = SessionState(replace(rich_session(), head="b1"))
    assert holders(branches_of(other), other)["u1"] == "b1"


def test_a_lost_parent_makes_no_second_root() -> None:
    state = session(
        message("u1", "user"),
        message("a1", "assistant", parent="gone"),
        message("u2", "user", parent="a1"),
    )
    assert told(state) == [("u2", MAIN, 3, True)]
