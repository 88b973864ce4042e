"""A session as text for reading in a terminal."""

from __future__ import annotations

from typing import assert_never

from ollm_tui.cli.output import short_time, today
from ollm_tui.core.counts import short_count
from ollm_tui.core.intake import clean
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
)
from ollm_tui.core.session.session_state import SessionState

_STATES = {
    "streaming": "interrupted",
    "interrupted": "interrupted",
    "cancelled": "stopped",
    "failed": "failed",
    "length": "cut at the output limit",
}


def transcript(state: SessionState) -> str:
    """The current branch, oldest message first, safe to print."""
    header = state.header
    branch = state.branch()
    day = today()
    lines = [
        clean(header.title) or "Untitled",
        f"{header.session_id} · {clean(header.provider)} · "
        f"begun {short_time(header.start_time, day)}",
    ]
    if others := len(state) - len(branch):
        lines.append(f"{others} more messages are on other branches")
    for message in branch:
        lines += ["", *message_lines(message, day)]
    return "\n".join(lines)


def message_lines(message: Message, day: str) -> list[str]:
    """One message: who, when and how, then the words; `day` is today."""
    return [_head(message, day), *_body(message)]


def _head(message: Message, day: str) -> str:
    who = "you" if message.role == "user" else message.model or message.role
    facts = [f"── {clean(who)}", short_time(message.timestamp, day)]
    if message.usage:
        facts.append(f"{short_count(message.usage.output_tokens)} tokens")
    if state := _STATES.get(message.status):
        facts.append(state)
    return " · ".join(fact for fact in facts if fact)


def _body(message: Message) -> list[str]:
    lines = [clean(text) for part in message.parts if (text := _part(part))]
    if message.error:
        lines.append(f"[{clean(message.error)}]")
    return lines


def _part(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Reasoning():
            return "\n".join(f"| {line}" for line in part.text.splitlines())
        case ToolCallPart():
            return f"[asks for {part.name} {part.raw_arguments or part.args}]"
        case ToolResultPart():
            return f"[{part.name} answered]\n{part.content}"
        case Attachment():
            return f"[{part.name}, {part.media_type}]"
        case Retrieval():
            return f"[recalled from {part.session_id}]\n{part.text}"
        case Approval():
            return f"[{part.decision}]"
        case UnknownPart():
            return "[something a newer version wrote]"
        case _:
            assert_never(part)
