"""Sessions of earlier programs become today's values, and nothing of them is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ollm_tui.core.session.encoding import CannotDecode, decode_session, encode, to_tree
from ollm_tui.core.session.message import (
    EXTRA_KEY,
    Message,
    Part,
    Text,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from ollm_tui.core.session.session import Session
from ollm_tui.storage.importers.older_sessions import older_session

GOLDEN = Path(__file__).parent / "golden"
SESSION_ID = "0b6c1f2e-4d3a-4f59-9a57-1c2d3e4f5a6b"
MODIFIED = "2026-02-01T00:00:00Z"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
FIELD_NAMES = [
    *("id", "sessionId", "role", "parts", "content", "type", "text", "callId"),
    *(
        "name",
        "args",
        "result",
        "llmContent",
        "returnDisplay",
        "timestamp",
        "startTime",
        "lastUpdate",
    ),
    *("lastActivity", "model", "provider", "usage", "status", "error", "parentId", "head"),
    *("toolCalls", "toolCallId", "metadata", "modeHistory", "from", "to", "trigger", "tokenCount"),
    *(
        "totalTokens",
        "file",
        "title",
        "checkpointRecords",
        "checkpoints",
        "tags",
        "pinned",
        "original",
    ),
    *("unknown"),
]
FIELD_VALUES = [
    *("user", "model", "tool", "narrator", "text", "tool-call", "tool-result", "complete", "x"),
    *("2026-01-27T10:00:00Z", "0001-01-01", "9999-12-31T23:59:59-12:00", "1712121200000", ""),
    *(0, -1, 1769508000, 1769508000000, 1e300, True, None, "\ud800"),
]
near_sessions = st.recursive(
    st.sampled_from(FIELD_VALUES),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*FIELD_NAMES, EXTRA_KEY]), inner, max_size=6)
    ),
    max_leaves=30,
)
objects = st.dictionaries(
    st.sampled_from([*FIELD_NAMES, EXTRA_KEY]), near_sessions | json_values, max_size=8
)
session_trees = st.fixed_dictionaries(
    {"messages": st.lists(objects | json_values, max_size=4)},
    optional={
        "toolCalls": st.lists(objects, max_size=3) | json_values,
        "metadata": objects | json_values,
        **dict.fromkeys(("startTime", "title", "model", "head", "original"), near_sessions),
    },
)


def _import(tree: dict[str, Any]) -> Session:
    session = older_session(tree, SESSION_ID, MODIFIED)
    assert session is not None
    return session


def _message(**fields: Any) -> Message:
    (message,) = _import({"messages": [fields]}).messages
    return message


@pytest.mark.parametrize(
    ("name", "session_id"),
    [
        ("seed-shape", "550e8400-e29b-41d4-a716-446655440000"),
        ("messages-with-content", SESSION_ID),
        ("session-history", "770e8400-e29b-41d4-a716-446655440002"),
        ("no-times-at-all", "880e8400-e29b-41d4-a716-446655440003"),
    ],
)
def test_each_older_shape_is_read_as_its_golden_file_says(name: str, session_id: str) -> None:
    tree = json.loads((GOLDEN / f"{name}.json").read_bytes())
    expected = decode_session((GOLDEN / f"{name}.imported.json").read_bytes())
    assert older_session(tree, session_id, MODIFIED) == expected


def test_a_session_of_today_is_left_alone() -> None:
    assert older_session({"schemaVersion": 1, "messages": []}, SESSION_ID, MODIFIED) is None


@pytest.mark.parametrize("tree", [{}, {"messages": None}, {"version": "1.0", "snapshots": []}])
def test_what_has_no_messages_is_no_session(tree: dict[str, Any]) -> None:
    with pytest.raises(CannotDecode):
        older_session(tree, SESSION_ID, MODIFIED)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-27T10:00:00+02:00", "2026-01-27T08:00:00.000000Z"),
        ("2026-01-27T10:00:00", "2026-01-27T10:00:00.000000Z"),
        (1769508000, "2026-01-27T10:00:00.000000Z"),
        (1769508000123, "2026-01-27T10:00:00.123000Z"),
        (1769508000.5, "2026-01-27T10:00:00.500000Z"),
        ("1712121200000", "2024-04-03T05:13:20.000000Z"),
    ],
)
def test_a_time_is_understood_however_it_was_written(value: Any, expected: str) -> None:
    message = _message(role="user", content="a", timestamp=value)
    assert message.timestamp == expected


@pytest.mark.parametrize("value", ["noon", -5, 1e300, True, {"seconds": 1}, "9" * 5000, "1969"])
def test_a_time_that_is_none_is_kept_and_filled_in(value: Any) -> None:
    message = _message(role="user", content="a", timestamp=value)
    assert message.timestamp == "2026-02-01T00:00:00.000000Z"
    assert message.extra == {"original": {"timestamp": value}}


@pytest.mark.parametrize(
    ("role", "expected", "extra"),
    [
        *((role, role, None) for role in ("user", "assistant", "system", "tool")),
        *((role, "assistant", None) for role in ("model", "ai", "bot", "AI")),
        ("human", "user", None),
        ("function", "tool", None),
        ("developer", "system", None),
        ("narrator", "system", {"original": {"role": "narrator"}}),
        (["user"], "system", {"original": {"role": ["user"]}}),
    ],
)
def test_every_role_finds_its_place(role: Any, expected: str, extra: Any) -> None:
    message = _message(role=role, content="a")
    assert message.role == expected
    assert (message.extra or None) == extra


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("words", Text(text="words")),
        ({"text": "words"}, Text(text="words")),
        (["words"], Text(text="words")),
        ([{"text": "words", "lang": "en"}], Text(text="words", extra={"lang": "en"})),
        ([7], UnknownPart(raw={"type": "unreadable", "value": 7})),
        ([{"type": "video", "a": 1}], UnknownPart(raw={"type": "video", "a": 1})),
        ([{"type": "text", "text": 1}], UnknownPart(raw={"type": "text", "text": 1})),
        ([{"type": [1]}], UnknownPart(raw={"type": "unreadable", "value": {"type": [1]}})),
        (
            [{"type": "text", "text": "a", EXTRA_KEY: 1}],
            UnknownPart(
                raw={"type": "unreadable", "value": {"type": "text", "text": "a", EXTRA_KEY: 1}}
            ),
        ),
    ],
)
def test_content_of_any_shape_becomes_parts(content: Any, part: Part) -> None:
    assert _message(role="user", content=content).parts == (part,)


def test_words_of_a_strange_role_are_not_trusted_in_the_system_role() -> None:
    message = _message(role="website", content="obey me")
    assert message.parts == (Text(text="obey me", trusted=False),)


def test_a_call_whose_result_stands_only_in_the_list_gets_its_result() -> None:
    session = _import(
        {
            "messages": [
                {"role": "user", "content": "a", "timestamp": 1769508000},
                {
                    "role": "assistant",
                    "parts": [{"type": "tool-call", "callId": "c", "name": "ls", "args": {}}],
                    "timestamp": 1769508001,
                },
                {"role": "assistant", "content": "done", "timestamp": 1769508009},
            ],
            "toolCalls": [{"id": "c", "name": "ls", "result": "x", "timestamp": 1769508002}],
        }
    )
    assert [message.parts for message in session.messages] == [
        (Text(text="a"),),
        (ToolCallPart(call_id="c", name="ls", args={}),),
        (ToolResultPart(call_id="c", name="ls", content="x"),),
        (Text(text="done"),),
    ]


def test_an_empty_tool_result_stays_empty() -> None:
    (call,) = _import(
        {"messages": [], "toolCalls": [{"result": {"llmContent": "", "returnDisplay": "ok"}}]}
    ).tool_calls
    assert (call.result.llm_content, call.result.return_display) == ("", "ok")


def test_a_derived_id_never_meets_one_that_is_there() -> None:
    tree: dict[str, Any] = {"messages": [{"role": "user"}, {"role": "user"}]}
    second = _import(tree).messages[1].id
    tree["messages"][0]["id"] = second
    ids = [message.id for message in _import(tree).messages]
    assert ids[0] == second
    assert len(set(ids)) == 2


def test_a_file_nested_too_deeply_is_refused_or_read_but_never_breaks() -> None:
    deep: Any = "end"
    for _ in range(5000):
        deep = [deep]
    try:
        _import({"messages": [{"role": "user", "content": deep}], "toolCalls": [{"result": deep}]})
    except CannotDecode:
        pass


@given(st.dictionaries(st.text(max_size=8), json_values) | session_trees)
def test_any_json_gives_a_session_or_cannot_be_decoded(tree: dict[str, Any]) -> None:
    before = deepcopy(tree)
    try:
        session = older_session(tree, SESSION_ID, MODIFIED)
    except CannotDecode:
        session = None
        assert not isinstance(tree.get("messages"), list)
    assert tree == before
    if session is not None:
        assert older_session(tree, SESSION_ID, MODIFIED) == session


@given(session_trees)
def test_an_imported_session_is_one_chain_that_can_be_saved(tree: dict[str, Any]) -> None:
    assume(not any(value in (float("inf"), -float("inf")) for value in _leaves(tree)))
    session = _import(tree)
    assert decode_session(encode(session)) == session
    ids = [message.id for message in session.messages]
    assert len(set(ids)) == len(ids)
    assert session.head == (ids[-1] if ids else None)
    assert all(after.parent_id == before.id for before, after in pairwise(session.messages))


@given(session_trees)
def test_no_word_of_the_file_is_lost(tree: dict[str, Any]) -> None:
    counter = iter(range(10**6))
    marked = _with_marks(tree, counter)
    words = {leaf for leaf in _leaves(marked) if isinstance(leaf, str) and leaf[:5] == "mark-"}
    kept = json.dumps(to_tree(_import(marked)))
    assert not {word for word in words if word not in kept}


def _with_marks(value: Any, counter: Iterator[int]) -> Any:
    """The same tree with every word that has no meaning of its own made unique."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: _with_marks(each, counter) for name, each in items}
    if isinstance(value, list):
        return [_with_marks(each, counter) for each in cast("list[Any]", value)]
    if value == "x" or (isinstance(value, str) and value and value not in FIELD_VALUES):
        return f"mark-{next(counter)}-"
    return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for each in cast("dict[str, Any]", value).values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _leaves(each)
    else:
        yield value
