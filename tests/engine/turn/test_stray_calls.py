"""Calls that a small model writes into its answer are found, and answers are left alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.session.message import ToolCallPart
from ollm_tui.engine.turn.stray_calls import stray_calls, without_call
from tests.cases import every

CALL = {"name": "read_file", "arguments": {"path": "a.py"}}
TEXT = json.dumps(CALL)


def is_tool(name: str) -> bool:
    return name in ("read_file", "exec")


@every(
    "text",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"I will read it.\n```json\n{TEXT}\n```\nThen I will answer.",
        f"```\n{TEXT}\n```",
        f"<tool_call>\n{TEXT}\n</tool_call>",
        f"<tool_call>{TEXT}",
        f"[{TEXT}]",
        json.dumps({"function": CALL}),
        json.dumps({"name": "read_file", "parameters": {"path": "a.py"}}),
        json.dumps({"tool": "read_file", "args": {"path": "a.py"}}),
        json.dumps({"name": "read_file", "arguments": json.dumps({"path": "a.py"})}),
    ],
)
def test_every_way_of_writing_a_call_is_understood(text: str) -> None:
    [found] = stray_calls(text, is_tool)
    assert (found.name, found.args) == ("read_file", {"path": "a.py"})


def test_several_calls_are_found_in_their_order() -> None:
    other = json.dumps({"name": "exec", "arguments": {"code": "ls"}})
    for text in (
        f"{TEXT}\n{other}",
        f"<tool_call>{TEXT}</tool_call><tool_call>{other}</tool_call>",
    ):
        assert [found.name for found in stray_calls(text, is_tool)] == ["read_file", "exec"]


@every(
    "text",
    [
        "",
        "Just words.",
        "A call looks like {this}.",
        f"You could send {TEXT} to it.",
        '```json\n{"name": "Ada", "arguments": {"age": 36}}\n```',
        '{"name": "read_file", "arguments": "not json"}',
        '{"name": "read_file", "arguments": [1]}',
        "```json\n{broken\n```",
        "[" * 5000,
    ],
)
def test_what_is_no_call_is_left_alone(text: str) -> None:
    assert stray_calls(text, is_tool) == []


ASKED = ToolCallPart("call_1", "read_file", {"path": "a.py"})


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (TEXT, ""),
        (f"```json\n{TEXT}\n```", ""),
        (f"I read it.\n```json\n{TEXT}\n```\nThen I answer.", "I read it.\n\nThen I answer."),
        (f"First:\n<tool_call>{TEXT}</tool_call>", "First:"),
        (f"{TEXT} and then some", "and then some"),
    ],
)
def test_a_call_is_taken_out_of_the_words_around_it(text: str, left: str) -> None:
    assert without_call(text, ASKED) == left


def test_calls_are_taken_out_one_by_one() -> None:
    other = json.dumps({"name": "exec", "arguments": {"code": "ls"}})
    assert without_call(f"{TEXT}\n{other}", ASKED) == other


@pytest.mark.parametrize(
    "text", ["Just words.", '```json\n{"name": "Ada"}\n```', f"You could send {TEXT} to it.", "{"]
)
def test_words_without_the_call_stay_as_they_are(text: str) -> None:
    assert without_call(text, ASKED) == text


@given(st.text(alphabet='{}[]",:` \nreadfilename<>tool_call/', max_size=400))
def test_no_text_breaks_it(text: str) -> None:
    stray_calls(text, is_tool)
