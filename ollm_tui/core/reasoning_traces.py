"""What the model thought, as far as a snapshot keeps it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ollm_tui.core.session.message import Message, Reasoning, Value

WHOLE_TRACES, SHORT_TRACES = 5, 20
SHORT_TRACE_CHARACTERS = 200


class ReasoningTrace(Value, frozen=True):
    """What the model thought before one reply."""

    message_id: str
    text: str
    timestamp: str
    model: str | None = None


class ReasoningStorage(Value, frozen=True):
    """The latest thoughts, newest last: a few whole, more of them in short."""

    recent: tuple[ReasoningTrace, ...] = ()
    archived: tuple[ReasoningTrace, ...] = ()

    @classmethod
    def of(cls, branch: Iterable[Message]) -> ReasoningStorage:
        """What is kept of a conversation."""
        traces = [_trace(message) for message in branch if _has_thought(message)]
        archived = traces[-WHOLE_TRACES - SHORT_TRACES : -WHOLE_TRACES]
        return cls(
            recent=tuple(traces[-WHOLE_TRACES:]),
            archived=tuple(map(_shortened, archived)),
        )


def _has_thought(message: Message) -> bool:
    if message.role != "assistant":
        return False
    return any(type(part) is Reasoning and part.text for part in message.parts)


def _trace(message: Message) -> ReasoningTrace:
    return ReasoningTrace(message.id, message.reasoning, message.timestamp, message.model)


def _shortened(trace: ReasoningTrace) -> ReasoningTrace:
    return replace(trace, text=trace.text[:SHORT_TRACE_CHARACTERS].rstrip())
