"""The prompt: the same record gives the same bytes, in an order every provider accepts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.provider import PromptMessage
from ollm_tui.core.session.context_marks import Marks
from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Part,
    Reasoning,
    Retrieval,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.engine.context.prompt_assembly import LEFT_OUT, Section, assemble
from ollm_tui.engine.context.prompt_message import folded
from tests.engine.prompts import assert_every_provider_accepts, branches, marks

SYSTEM = (Section("system", "Be brief."),)
CALL = ToolCallPart("c1", "look", {})
RESULT = ToolResultPart("c1", "look", "seen")


def message(key: str, role: Role, *parts: Part | str) -> Message:
    said = (Text(part) if isinstance(part, str) else part for part in parts)
    return Message(key, role, tuple(said), "")


def sent(*branch: Message, given_marks: Marks | None = None) -> list[tuple[str, str]]:
    prompt = assemble((), branch, given_marks).prompt
    assert_every_provider_accepts(prompt)
    return [(each.role, each.text) for each in prompt]


@given(branches, marks)
def test_whatever_is_left_out_every_provider_accepts_the_order(
    branch: list[Message], given_marks: Marks
) -> None:
    assert_every_provider_accepts(assemble(SYSTEM, branch, given_marks).prompt)


@given(branches, marks)
def test_assembling_is_deterministic_and_a_view_of_it_does_not_grow(
    branch: list[Message], given_marks: Marks
) -> None:
    growing = assemble(SYSTEM, (), given_marks)
    for place, each in enumerate(branch):
        before = growing.frozen()
        as_it_was = list(before.pieces())
        assert as_it_was == list(assemble(SYSTEM, branch[:place], given_marks).frozen().pieces())
        assert [piece for piece, _ in as_it_was][::-1] == list(before.backwards())
        growing.add(each)
        assert list(before.pieces()) == as_it_was
    assert growing.prompt == assemble(SYSTEM, branch, given_marks).prompt


@given(branches, marks, st.integers(0, 12))
def test_what_a_prompt_says_is_the_beginning_of_the_next_one(
    branch: list[Message], given_marks: Marks, cut: int
) -> None:
    """Up to its last step, which a message of the same speaker or a tool may still extend."""
    shorter = assemble(SYSTEM, branch[:cut], given_marks).prompt
    longer = assemble(SYSTEM, branch, given_marks).prompt
    last_step = next((n for n, m in enumerate(reversed(shorter), 1) if m.role != "tool"), 0)
    assert longer[: max(0, len(shorter) - last_step)] == shorter[: len(shorter) - last_step]


@given(branches, marks)
def test_only_the_trusted_is_ever_said_by_the_system(
    branch: list[Message], given_marks: Marks
) -> None:
    trusted = {
        part.text
        for each in branch
        if each.role == "system"
        for part in each.parts
        if isinstance(part, Text) and part.trusted
    }
    said = assemble(SYSTEM, branch, given_marks).prompt[0].text.removeprefix("Be brief.")
    for text in sorted(trusted, key=len, reverse=True):
        said = said.replace(text, "")
    assert not said.strip()


def test_a_conversation_is_sent_as_it_was_held() -> None:
    assert sent(message("1", "user", "Hi"), message("2", "assistant", "Hello")) == [
        ("user", "Hi"),
        ("assistant", "Hello"),
    ]


def test_what_the_model_thought_is_not_sent_again() -> None:
    reply = message("2", "assistant", Reasoning("Hm, a greeting."), "Hello")
    prompt = assemble((), [message("1", "user", "Hi"), reply]).prompt
    assert prompt[1] == PromptMessage(role="assistant", text="Hello")


def test_messages_of_the_user_in_a_row_are_joined_and_so_are_replies() -> None:
    assert sent(
        message("1", "user", "One"),
        message("2", "user", "Two"),
        message("3", "assistant", "Yes"),
        message("4", "assistant", "No"),
    ) == [("user", "One\n\nTwo"), ("assistant", "Yes\n\nNo")]


def test_a_reply_whose_question_is_left_out_does_not_begin_the_conversation() -> None:
    branch = (message("1", "user", "Hi"), message("2", "assistant", "Hello"))
    left_out = Marks(excluded=frozenset({"1"}))
    assert sent(*branch, given_marks=left_out) == [("user", LEFT_OUT.text), ("assistant", "Hello")]


def test_tools_are_left_out_in_pairs() -> None:
    branch = (
        message("1", "user", "Look"),
        message("2", "assistant", "I look.", CALL),
        message("3", "tool", RESULT),
        message("4", "assistant", "A tree."),
    )
    assert [role for role, _ in sent(*branch)] == ["user", "assistant", "tool", "assistant"]
    for key in ("2", "3"):
        without = assemble((), branch, Marks(excluded=frozenset({key}))).prompt
        assert not any(each.tool_calls or each.role == "tool" for each in without)


def test_a_call_nobody_answered_is_not_sent() -> None:
    branch = [
        message("1", "user", "Look"),
        message("2", "assistant", CALL),
        message("3", "user", "Well?"),
    ]
    assert sent(*branch) == [("user", "Look\n\nWell?")]


def test_of_a_parallel_batch_each_call_is_followed_by_its_own_result() -> None:
    other = ToolCallPart("c2", "look", {})
    branch = [
        message("1", "user", "Look"),
        message("2", "assistant", CALL, other),
        message("3", "tool", ToolResultPart("c2", "look", "second")),
        message("4", "tool", RESULT),
    ]
    prompt = assemble((), branch).prompt
    assert [call.call_id for call in prompt[1].tool_calls] == ["c1", "c2"]
    assert [each.tool_call_id for each in prompt[2:]] == ["c2", "c1"]


def test_an_imported_system_prompt_stays_one_and_later_ones_become_notes() -> None:
    assert sent(
        message("1", "system", "Talk like a pirate."),
        message("2", "user", "Hi"),
        message("3", "system", "The clock strikes."),
    ) == [("system", "Talk like a pirate."), ("user", "Hi\n\nThe clock strikes.")]


def test_data_is_delimited_wherever_it_comes_from() -> None:
    [(_, text)] = sent(
        message(
            "1",
            "user",
            "See",
            Attachment("a.txt", "text/plain", "data"),
            Retrieval("passage", "s1"),
        )
    )
    assert text == (
        "See\n\n[a.txt]:\n```\ndata\n```\n\n\n[from an earlier conversation]:\n```\npassage\n```\n"
    )


def test_a_folded_message_is_its_first_words_and_how_much_is_gone() -> None:
    long = "The   first words\nof it. " + "More and more of the same. " * 40
    short = folded(long, 1234)
    assert short.startswith("The first words of it. More and more")
    assert short.endswith(" [… 1,234 tokens folded]")
    assert "\n" not in short and len(short) < 200
    assert folded("Short.", 3) == "Short."
    assert folded("```python\n" + "x = 1\n" * 100, 5).startswith("python x = 1")


def test_folding_keeps_the_tool_pair_and_drops_what_it_brought() -> None:
    result = ToolResultPart("c1", "look", "a line of output\n" * 100)
    branch = [
        message("1", "user", "Look"),
        message("2", "assistant", CALL),
        message("3", "tool", result),
    ]
    prompt = assemble((), branch, Marks(folded={"3": 400})).prompt
    assert prompt[1].tool_calls == (CALL,)
    assert "[… 400 tokens folded]" in prompt[2].text
    assert len(prompt[2].text) < 250


def test_pinned_messages_stay_in_their_place_and_count_as_fixed() -> None:
    branch = [message("1", "user", "Hi"), message("2", "assistant", "Hello")]
    assembly = assemble(SYSTEM, branch, Marks(pinned=frozenset({"2"})))
    assert [piece.group for piece in assembly.pieces] == ["system", "user", "system"]
    assert assembly.prompt == assemble(SYSTEM, branch).prompt
