"""What a compression did and what its checkpoints hold, in words.

Apart from the words of a running one: every opened session may need these, few the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import clean
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
