"""Random values for property tests: sessions, messages and parts as hostile as they come."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.message import (
    Approval,
    Attachment,
    Message,
    Part,
    Reasoning,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    Usage,
)
from ollm_tui.core.session.session import Metadata, ModeChange, Session, ToolCall, ToolResult

HOSTILE = ("\ud800", "\udfff\ud800", "\0", "\u2028\u2029", "\x85", '"\\', "\x1b[31m", "\ue000extra")

texts = st.one_of(
    st.text(max_size=200),
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=())),
)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(texts, below, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(texts, json_values, max_size=3)
times = st.datetimes(timezones=st.just(clock.parse(clock.EPOCH).tzinfo)).map(clock.iso)
counts = st.integers(0, 10**9)

usages = st.builds(
    Usage, input_tokens=counts, output_tokens=counts, cached_tokens=st.none() | counts
)


def _typed(pair: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    kind, rest = pair
    return {**rest, "type": kind}


_unknown_types = texts.filter(
    lambda text: (
        text
        not in {
            "text",
            "reasoning",
            "tool-call",
            "tool-result",
            "attachment",
            "retrieval",
            "approval",
        }
    )
)
parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, texts, trusted=st.booleans()),
    st.builds(Reasoning, texts, signature=st.none() | texts),
    st.builds(ToolCallPart, names, names, arguments, raw_arguments=st.none() | texts),
    st.builds(ToolResultPart, names, names, texts, is_error=st.booleans()),
    st.builds(Attachment, names, st.just("text/plain"), texts, path=st.none() | names),
    st.builds(Retrieval, texts, names),
    st.builds(Approval, names, st.sampled_from(("yes", "no", "always"))),
    st.builds(
        UnknownPart,
        st.tuples(_unknown_types, arguments).map(_typed),
    ),
)
message_ids = st.uuids(version=4).map(lambda value: value.hex[:16])

messages = st.builds(
    Message,
    id=message_ids,
    role=st.sampled_from(("user", "assistant", "system", "tool")),
    parts=st.lists(parts, max_size=4).map(tuple),
    timestamp=times,
    parent_id=st.none() | message_ids,
    model=st.none() | names,
    usage=st.none() | usages,
    status=st.sampled_from(("complete", "cancelled", "failed", "interrupted", "length")),
    error=st.none() | texts,
)
tool_calls = st.builds(
    ToolCall,
    id=names,
    name=names,
    args=arguments,
    result=st.builds(ToolResult, texts, return_display=st.none() | texts),
    timestamp=times,
)
mode_changes = st.builds(
    ModeChange,
    from_=names,
    to=names,
    timestamp=times,
    trigger=st.sampled_from(("manual", "auto", "command")),
    confidence=st.none() | st.floats(0, 1),
)
session_ids = st.uuids(version=4).map(lambda value: str(UUID(int=value.int)))


def _with_real_head(session: Session) -> Session:
    """A session the program itself could have written: its head is its last message."""
    return replace(session, head=session.messages[-1].id if session.messages else None)


sessions = st.builds(
    Session,
    session_id=session_ids,
    start_time=times,
    last_activity=times,
    model=names,
    provider=names,
    messages=st.lists(messages, max_size=6, unique_by=lambda message: message.id).map(tuple),
    tool_calls=st.lists(tool_calls, max_size=3).map(tuple),
    metadata=st.builds(
        Metadata,
        token_count=counts,
        compression_count=counts,
        mode_history=st.lists(mode_changes, max_size=2).map(tuple),
    ),
    title=texts,
    project=st.none() | names,
    pinned=st.booleans(),
    tags=st.lists(names, max_size=2).map(tuple),
).map(_with_real_head)
