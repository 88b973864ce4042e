"""Compressions as an exported conversation shows them: where they happened, what stood in then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean
from ollm_tui.core.session.compression import Checkpoint, Compression
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Session
from ollm_tui.services.export.blocks import Block, one_line


class CompressionMark(NamedTuple):
    """One compression, in words; all foreign text in it is clean."""

    words: str
    at: str
    blocks: tuple[Block, ...]
    """Its checkpoints."""


def compressions_after(
    session: Session, branch: Sequence[Message]
) -> dict[str, list[CompressionMark]]:
    """The compressions on a branch, by the message each came after."""
    found: dict[str, list[CompressionMark]] = {}
    ids = {message.id for message in branch}
    for compression in session.metadata.compression_history:
        if compression.before == compression.after:
            continue  # a restore brought it along from elsewhere
        place = compression.last or _by_time(compression, branch)
        if place in ids:
            found.setdefault(place, []).append(_mark(compression))
    return found


def _by_time(compression: Compression, branch: Sequence[Message]) -> str:
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
    return Block("folded", text or "(nothing was kept of them)", label)
