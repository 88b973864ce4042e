"""The tool calls of a session: those whose results are in messages, and those that stand apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ollm_tui.core.session.message import ToolResultPart
from ollm_tui.core.session.session import ToolCall
from ollm_tui.core.session.session_state import SessionState


class RecordedCalls(NamedTuple):
    """Every tool call of a session, once."""

    answered: Mapping[str, tuple[ToolCall, ...]]
    """By the messages that have their results."""
    apart: Mapping[str, ToolCall]
    """Those no message speaks of, as the user's own commands, by names of their own."""


_NONE = RecordedCalls({}, {})


def recorded_calls(state: SessionState) -> RecordedCalls:
    """Which calls belong to which messages. Models give the same id to several calls: then the
    answers tell them apart, and where these are the same too, their order."""
    if not state.tool_calls:
        return _NONE
    places: dict[tuple[str, str], list[str]] = {}
    for message in state.messages():
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                places.setdefault((part.call_id, part.content), []).append(message.id)
    answered: dict[str, tuple[ToolCall, ...]] = {}
    apart: dict[str, ToolCall] = {}
    for call in state.tool_calls:
        if found := places.get((call.id, call.result.llm_content)):
            message_id = found.pop(0) if len(found) > 1 else found[0]
            answered[message_id] = (*answered.get(message_id, ()), call)
        else:
            apart[_own_name(call.id, apart, state)] = call
    return RecordedCalls(answered, apart)


def _own_name(call_id: str, taken: Mapping[str, ToolCall], state: SessionState) -> str:
    name, number = call_id, 1
    while name in taken or name in state:
        number += 1
        name = f"{call_id}~{number}"
    return name
