"""What of a session can be found: the texts of its messages and what narrows a search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ollm_tui.core import clock
from ollm_tui.core.intake import clean
from ollm_tui.core.message import (
    Attachment,
    Message,
    Reasoning,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.session_state import SessionState
from ollm_tui.storage.directory import Fingerprint
from ollm_tui.storage.message_rows import IndexedMessage, IndexedSession


def searchable(state: SessionState, marks: Fingerprint) -> IndexedSession:
    """A session as it is found."""
    header = state.header
    model = header.model
    branch = {message.id for message in state.branch()} if header.head else set[str]()
    pins = frozenset(header.metadata.pins)
    return IndexedSession(
        header.session_id,
        clean(header.title),
        header.project and clean(header.project),
        clean(header.model),
        header.pinned,
        header.archived,
        marks,
        tuple(
            _message(message, message.id in branch, message.id in pins, model)
            for message in state.messages()
        ),
    )


def damaged(session_id: str, marks: Fingerprint) -> IndexedSession:
    """A session that cannot be read has nothing to find until its files change."""
    return IndexedSession(session_id, "", None, "", False, False, marks, ())


def _message(message: Message, on_branch: bool, pinned: bool, model: str) -> IndexedMessage:
    said, aside, tools = list[str](), list[str](), list[str]()
    for part in message.parts:
        match part:
            case Text():
                said.append(part.text)
            case Reasoning():
                aside.append(part.text)
            case Attachment():
                aside.append(part.name)
                if part.media_type.startswith("text/"):
                    aside.append(part.content)
            case ToolCallPart():
                tools += [part.name, *_leaves(part.args), part.raw_arguments or ""]
            case ToolResultPart():
                tools.append(part.content)
            case _:
                pass  # what was brought in from elsewhere is found there
    return IndexedMessage(
        message.id,
        message.role,
        _microseconds(message.timestamp),
        clean(message.model) if message.model and message.model != model else None,
        on_branch,
        bool(tools),
        pinned,
        message.usage.total_tokens if message.usage else 0,
        _joined(said),
        _joined(aside),
        _joined(tools),
    )


def _leaves(value: Any) -> Iterator[str]:
    """The words of arguments: in JSON their line ends and quotes would be spelled out."""
    if isinstance(value, dict):
        for key, inner in cast(dict[str, Any], value).items():
            yield key
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _joined(texts: list[str]) -> str | None:
    """One text, or nothing. Plain text needs no filter: what is shown of it passes one again."""
    if not texts:
        return None
    text = "\n".join(filter(None, texts)) if len(texts) > 1 else texts[0]
    if not text.isascii() or "\x1b" in text or "\0" in text:
        text = clean(text)
    return text or None


def _microseconds(timestamp: str) -> int:
    try:
        return round(clock.parse(timestamp).timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return 0
