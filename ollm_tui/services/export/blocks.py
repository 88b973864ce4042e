"""The blocks of an exported conversation, from which Markdown and HTML are made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Literal, NamedTuple, assert_never

from ollm_tui.core import clock
from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean
from ollm_tui.core.session.compression import Checkpoint, Compression
from ollm_tui.core.session.message import (
    Approval,
    Attachment,
    Message,
    Opaque,
    Part,
    Reasoning,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from ollm_tui.core.session.session import Session
from ollm_tui.core.session.titles import title_of

_ENDINGS = {
    "streaming": "Not finished yet.",
    "cancelled": "Cancelled before the end.",
    "failed": "Failed before the end.",
    "interrupted": "Interrupted before the end.",
    "length": "Cut off at the length limit.",
}


@dataclass(frozen=True)
class Block:
    """A piece of a message; all foreign text in it is clean."""

    kind: Literal["words", "folded", "data", "note"]
    """`words`: Markdown of the user or the model. `folded`: the same, hidden under its label.
    `data`: shown verbatim. `note`: only label and name."""
    text: str = ""
    label: str = ""
    """What the block is, in words of this program."""
    name: str = ""
    """What the label is about, such as a tool's name: foreign text in one line."""
    language: str = ""


def document_title(session: Session, branch: Sequence[Message]) -> str:
    """Return the session's title, or one made from the user's first words, in one line."""
    if session.title:
        return one_line(session.title)
    first = next((message.text for message in branch if message.role == "user"), "")
    return title_of(first)


def document_head(session: Session, branch: Sequence[Message]) -> list[tuple[str, str]]:
    """Return names and values of the facts that are shown above the conversation."""
    count = f"{len(branch):,}"
    if len(session.messages) > len(branch):
        count += f" (of {len(session.messages):,} on all branches)"
    facts = [
        ("Model", one_line(f"{session.model} ({session.provider})")),
        ("Started", moment(session.start_time)),
        ("Last activity", moment(session.last_activity)),
        ("Messages", count),
        ("Tool calls", f"{len(session.tool_calls):,}"),
        ("Session", one_line(session.session_id)),
    ]
    if session.tags:
        facts.insert(-1, ("Tags", one_line(", ".join(session.tags))))
    return facts


def speaker(message: Message) -> str:
    """Return the role of a message's author, with the model if it is known."""
    name = message.role.capitalize()
    return one_line(f"{name} ({message.model})") if message.model else name


def moment(time: str) -> str:
    """Return a time in readable form; one that cannot be parsed stays as it is."""
    try:
        return clock.parse(time).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError):
        return one_line(time)


def blocks(message: Message) -> Iterator[Block]:
    """Yield the blocks of a message in order, then a note if it is not complete."""
    for part in message.parts:
        block = _block(part)
        if block.text or block.label:
            yield block
    if message.status != "complete":
        yield Block("note", label=_ENDINGS[message.status], name=one_line(message.error or ""))


def one_line(text: str) -> str:
    """Return a foreign text cleaned and in one line."""
    return " ".join(clean(text).split())


def _block(part: Part) -> Block:
    match part:
        case Text():
            return Block("words", clean(part.text))
        case Reasoning():
            return Block("folded", clean(part.text), "Reasoning")
        case ToolCallPart():
            return _call(part)
        case ToolResultPart():
            label = "Tool error" if part.is_error else "Tool result"
            return Block("data", clean(part.content), label, one_line(part.name))
        case Attachment():
            return _attachment(part)
        case Retrieval():
            return Block("data", clean(part.text), "Recalled", one_line(part.session_id))
        case Approval():
            return Block("note", "", "Approval", one_line(f"{part.decision} ({part.scope})"))
        case Opaque():
            return Block("note")  # only its server can read it
        case UnknownPart():
            return Block("data", _json(part.raw), "Part of an unknown kind", "", "json")
        case _:
            assert_never(part)


def _attachment(part: Attachment) -> Block:
    name = one_line(f"{part.name} ({part.media_type})")
    if part.media_type.startswith("image/") or not part.content:
        return Block("note", "", "Attachment", name)
    return Block("data", clean(part.content), "Attachment", name)


def _call(part: ToolCallPart) -> Block:
    name = one_line(part.name)
    if part.raw_arguments is not None:
        return Block("data", clean(part.raw_arguments), "Tool call", name)
    return Block("data", _json(part.args), "Tool call", name, "json")


def _json(value: Any) -> str:
    return clean(json.dumps(value, indent=2, ensure_ascii=False))


class CompressionMark(NamedTuple):
    """One compression as it is shown; all foreign text in it is clean."""

    words: str
    at: str
    blocks: tuple[Block, ...]
    """The checkpoints it made."""


def compressions_after(
    session: Session, branch: Sequence[Message]
) -> dict[str, list[CompressionMark]]:
    """Return the compressions on a branch, by the id of the message each came after."""
    found: dict[str, list[CompressionMark]] = {}
    ids = {message.id for message in branch}
    for compression in session.metadata.compression_history:
        if compression.before == compression.after:
            continue  # added by a restore to bring checkpoints along: nothing was compressed
        last = compression.last or _by_time(compression, branch)
        if last in ids:
            found.setdefault(last, []).append(_mark(compression))
    return found


def _by_time(compression: Compression, branch: Sequence[Message]) -> str:
    """Return the last message before a compression whose record does not name it."""
    before = [message.id for message in branch if message.timestamp <= compression.at]
    return before[-1] if before else ""


def _mark(compression: Compression) -> CompressionMark:
    words = f"Compressed: {compression.words}"
    if compression.note:
        words += f"; {one_line(compression.note)}"
    if compression.undone_at:
        words += "; undone later"
    blocks = tuple(map(_checkpoint, compression.created))
    return CompressionMark(words, compression.at, blocks)


def _checkpoint(checkpoint: Checkpoint) -> Block:
    tokens = f"{checkpoint.original_tokens:,} → {checkpoint.current_tokens:,} tokens"
    label = f"Checkpoint for {counted(len(checkpoint.messages), 'message')} ({tokens})"
    text = f"{clean(checkpoint.summary).strip()}\n\n{clean(checkpoint.facts).strip()}".strip()
    return Block("folded", text or "(no summary)", label)
