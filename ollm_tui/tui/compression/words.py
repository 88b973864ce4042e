"""The words of compression, the same in panel, preview and stream: texts and keys, and functions
that say what a compression did and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, assert_never

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

What = Literal["keep", "fold", "elide", "age"]
"""The outcome for a message."""
Ending = (
    ContextCompressed
    | CompressionDrafted
    | CompressionSkipped
    | CompressionFailed
    | CompressionCancelled
)
"""The events of which exactly one comes last."""

# What every place says of a compression

LEVEL_WORDS: Mapping[int, str] = MappingProxyType(
    {DETAILED: "detailed", MODERATE: "moderate", COMPACT: "compact"}
)
NO_SUMMARY = "(no summary: no model used)"
STAGE_WORDS: Mapping[Stage, str] = MappingProxyType(
    {
        "identify": "selecting",
        "snapshot": "taking a snapshot",
        "elide": "shortening",
        "summarise": "summarising",
        "validate": "checking",
        "apply": "applying",
    }
)

# The panel and the whole screen

BAR_LABELS = ("before ", "after  ")
SUMMARY_WRITTEN, SUMMARY_DONE = "Summary (being written)", "Summary"
LEDGER = "Ledger (from records, no model)"
CANCEL = "cancel, nothing changes"
EDIT = "edit before applying"
CANCEL_SHORT, EDIT_SHORT = "cancel", "edit first"
"""The words where there is less room."""

# The preview

PREVIEW = "Preview"
OUTCOME_WORDS: Mapping[What, str] = MappingProxyType(
    {"keep": "kept", "fold": "folded", "elide": "shortened", "age": "condensed"}
)
OUTCOME_GROUPS: tuple[tuple[str, tuple[What, ...]], ...] = (
    ("Kept", ("keep",)),
    ("Folded into a checkpoint", ("fold",)),
    ("Shortened", ("elide", "age")),
)
PREVIEW_KEYS = (
    ("preview.apply", "apply"),
    ("preview.edit", "edit summary"),
    ("preview.leave_out", "without summary"),
    ("preview.choose", "keep/cut/fold"),
    ("preview.diff", "before/after"),
    ("preview.instructions", "instructions"),
    ("preview.leave", "close, nothing changes"),
)
REJECTED = "Rejected. Edit it, or continue without it"
BEFORE_AFTER = "What the model sees: - before, + after"
EDITING_KEYS = (("preview.leave", "done editing"),)
EDITING = "Editing the summary. The model reads it in place of the messages."
INSTRUCTIONS_QUESTION = (
    "Extra instructions for the summary\n"
    "What matters to you, in one line. The summary is rewritten accordingly."
)

# The checkpoints

NO_CHECKPOINT = (
    "No checkpoints yet. The context is compressed at 80 %; /compact does it now.\n\n"
    "A checkpoint replaces older messages in the context: a summary, and a ledger of facts "
    "taken from the records without a model. The messages stay in the session."
)
CHECKPOINT_KEYS = "↑↓ PgUp PgDn scroll   Esc close"


def action_words(compression: Compression) -> str:
    """Return what a compression did."""
    done: list[str] = []
    if compression.folded:
        where = " into a checkpoint" if compression.created else ""
        done.append(f"folded {counted(len(compression.folded), 'message')}{where}")
    if compression.elisions:
        done.append(f"shortened {counted(len(compression.elisions), 'output')}")
    if not done and compression.created:
        done.append(f"condensed {counted(len(compression.created), 'checkpoint')}")
    return ", ".join(done) or "compressed"


def checkpoint_title(checkpoint: Checkpoint) -> str:
    """Return what a checkpoint stands for, and what it saves."""
    level = LEVEL_WORDS.get(checkpoint.level, "")
    messages = counted(len(checkpoint.messages), "message")
    original, now = checkpoint.original_tokens, checkpoint.current_tokens
    tokens = f"{short_count(original)} → {short_count(now)} tokens"
    return " · ".join(word for word in ("checkpoint", level, messages, tokens) if word)


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """Return the summary and the ledger of a checkpoint, as the model reads them."""
    summary = clean(checkpoint.summary).strip() or NO_SUMMARY
    ledger = clean(checkpoint.facts).strip()
    return f"{summary}\n\n{ledger}".strip()


def ending_title(ending: Ending) -> str:
    """Return how a compression ended, in a few words."""
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
    """Return how a compression ended and what to do, in one line."""
    match ending:
        case ContextCompressed():
            return action_words(ending.compression)
        case CompressionDrafted():
            return "nothing changed yet"
        case CompressionSkipped():
            return _sentence(ending.message, ending.hint)
        case CompressionFailed():
            failed = f"Not compressed: {ending.error}"
            return _sentence(failed, ending.hint)
        case CompressionCancelled():
            return "Compression cancelled · /compact starts again"
        case _:
            assert_never(ending)


def tokens_words(compression: Compression) -> str:
    """Return the tokens before and after a compression, or before and after it was undone."""
    before, after = compression.before_tokens, compression.after_tokens
    return f"{after:,} → {before:,} tokens" if compression.undone_at else f"{before:,} → {after:,}"


def rejection_line(event: SummaryRejected) -> str:
    """Return why a summary was rejected, and what is done instead."""
    then = "asking again" if event.again else "continuing with the ledger only"
    return f"{visible(event.reason)}: {then}"


def fill_line(event: UserMessagesFill) -> str:
    """Return that the user's own messages take the room, and what the user can do about it."""
    line = (
        f"Your messages take {short_count(event.tokens)} of {short_count(event.limit)} tokens "
        "and are not folded automatically"
    )
    if not event.foldable:
        return f"{line} · exclude a large one in /context, or start a new session"
    return f"{line} · /compact --mine folds the oldest, quoting what they ask for"


def _sentence(*parts: str) -> str:
    return " · ".join(visible(part) for part in parts if part)


# Said in commands

HOW_TO_TARGET = "/compact --to 3000"
NO_MESSAGE_SELECTED = "No message selected"

# Said in compression_lines

FREES_ABOUT = "frees ≈"
NO_MODEL_NEEDED = "No model needed."

# Said in compression_run

COMPRESSING = "compressing the context; messages are queued"
NOT_EDITABLE = "This compression cannot be edited first"

# Said in preview

NOTHING_SELECTED_YET = "Nothing selected yet."
