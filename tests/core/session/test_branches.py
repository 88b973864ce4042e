"""Branches of a message tree: their names, their lengths, and where snapshots of them belong."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.core.session.branches import MAIN, branches_of, calls_along, holders
from ollm_tui.core.session.message import Attachment, Message, Role, Text, ToolCallPart
from ollm_tui.core.session.session import Session, ToolCall, ToolResult
from ollm_tui.core.session.session_state import SessionState
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


def at(minute: int) -> str:
    return f"2026-01-27T10:{minute:02}:00.000000Z"


def said(key: str, role: Role, minute: int, parent: str | None = None) -> Message:
    return replace(message(key, role, parent=parent), timestamp=at(minute))


def with_commands(*calls: tuple[str, int]) -> SessionState:
    """Two branches after a1, the second one later; calls at their minutes."""
    named = replace(said("a3", "assistant", 8, "u3"), parts=(ToolCallPart("named", "look", {}),))
    state = session(
        said("u1", "user", 0),
        said("a1", "assistant", 1, "u1"),
        said("u2", "user", 3, "a1"),
        said("a2", "assistant", 4, "u2"),
        said("u3", "user", 7, "a1"),
        named,
    )
    done = ToolResult("printed")
    state.tool_calls += [ToolCall(key, "exec", {}, done, at(minute)) for key, minute in calls]
    return state


def along(state: SessionState, leaf: str, until: str | None = None) -> list[str]:
    return [call.id for call in calls_along(state, state.branch(leaf), until)]


def test_the_users_commands_go_along_with_the_branch_they_stand_in() -> None:
    state = with_commands(("job-1", 2), ("job-2", 5), ("job-3", 9), ("named", 8))
    assert along(state, "a3") == ["job-1", "job-2", "job-3", "named"]
    assert along(state, "a2") == ["job-1", "job-2"]
    assert along(state, "u1") == []


def test_a_command_run_after_going_back_goes_along_with_what_was_said_then() -> None:
    """Nothing was said between going back to a1 and the command: what follows it tells."""
    assert along(with_commands(("job-1", 6)), "a3") == ["job-1"]


def test_a_command_from_before_the_first_message_goes_along_with_every_branch() -> None:
    state = with_commands(("job-1", 0))
    state.tool_calls[0] = replace(state.tool_calls[0], timestamp="2026-01-27T09:00:00.000000Z")
    assert along(state, "u1") == along(state, "a2") == along(state, "a3") == ["job-1"]


def test_what_came_after_a_moment_does_not_go_along() -> None:
    state = with_commands(("job-1", 2), ("job-2", 9))
    assert along(state, "a3", at(5)) == ["job-1"]
