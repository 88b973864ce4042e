"""What a compression does and how it ended, in words; the same in panel, stream and preview."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

from ollm_tui.core.compression_events import (
    CompressionCancelled,
    CompressionDrafted,
    CompressionFailed,
    CompressionSkipped,
    ContextCompressed,
    Stage,
    SummaryRejected,
    UserMessagesFill,
)
from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.compression import COMPACT, DETAILED, MODERATE, Checkpoint, Compression

LEVEL_WORDS: Mapping[int, str] = MappingProxyType(
    {DETAILED: "detailed", MODERATE: "moderate", COMPACT: "compact"}
)
NO_SUMMARY = "(no summary: no model was asked)"


def deed(compression: Compression) -> str:
    """What a compression did."""
    done: list[str] = []
    if compression.folded:
        where = " into a checkpoint" if compression.created else ""
        done.append(f"folded {counted(len(compression.folded), 'message')}{where}")
    if compression.elisions:
        done.append(f"cut {counted(len(compression.elisions), 'output')} short")
    if not done and compression.created:
        done.append(f"made {counted(len(compression.created), 'checkpoint')} shorter")
    return ", ".join(done) or "compressed"


def checkpoint_title(checkpoint: Checkpoint) -> str:
    """What a checkpoint stands for, and what it saves."""
    level = LEVEL_WORDS.get(checkpoint.level, "")
    messages = counted(len(checkpoint.messages), "message")
    original, now = checkpoint.original_tokens, checkpoint.current_tokens
    tokens = f"{short_count(original)} → {short_count(now)} tokens"
    return " · ".join(word for word in ("checkpoint", level, messages, tokens) if word)


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """The summary and the ledger of a checkpoint, as the model reads them."""
    summary = clean(checkpoint.summary).strip() or NO_SUMMARY
    ledger = clean(checkpoint.facts).strip()
    return f"{summary}\n\n{ledger}".strip()


Ending = (
    ContextCompressed
    | CompressionDrafted
    | CompressionSkipped
    | CompressionFailed
    | CompressionCancelled
)
"""Exactly one of these comes last."""

STAGE_WORDS: Mapping[Stage, str] = MappingProxyType(
    {
        "identify": "choosing",
        "snapshot": "taking a snapshot",
        "elide": "cutting short",
        "summarise": "summarising",
        "validate": "checking",
        "apply": "applying",
    }
)


def ending_title(ending: Ending) -> str:
    """How it ended, in a word or two."""
    match ending:
        case ContextCompressed():
            return "Compressed"
        case CompressionDrafted():
            return "Ready, nothing changed yet"
        case CompressionSkipped() | CompressionFailed():
            return "Not compressed"
        case CompressionCancelled():
            return "Cancelled"
        case _:
            assert_never(ending)


def ending_line(ending: Ending) -> str:
    """How it ended and what to do, in one line."""
    match ending:
        case ContextCompressed():
            return deed(ending.compression)
        case CompressionDrafted():
            return "nothing has changed yet"
        case CompressionSkipped():
            return _sentence(ending.message, ending.hint)
        case CompressionFailed():
            failed = f"not compressed, the context is as it was: {ending.error}"
            return _sentence(failed, ending.hint)
        case CompressionCancelled():
            return "compression cancelled, the context is as it was · /compact begins again"
        case _:
            assert_never(ending)


def rejection_line(event: SummaryRejected) -> str:
    """Why a summary was of no use, and what is done instead."""
    then = "asked once more" if event.again else "done without it, the ledger is kept"
    return f"{visible(event.reason)}: {then}"


def fill_line(event: UserMessagesFill) -> str:
    """The user's own messages take the room, and what only the user may do about it."""
    line = (
        f"your own messages take {short_count(event.tokens)} of {short_count(event.limit)} tokens "
        "and are never folded unasked"
    )
    if not event.foldable:
        return f"{line} · /context shows the largest; leave one out, or begin a new session"
    return f"{line} · /compact --mine folds the oldest of yours, quoting what they require"


def _sentence(*parts: str) -> str:
    return " · ".join(visible(part) for part in parts if part)
