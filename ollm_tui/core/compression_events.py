"""What the engine tells while it compresses the context.

`CompressionStarted` comes first, then stages in the order of `STAGES` with what happens in
each, then exactly one of `ContextCompressed`, `CompressionDrafted`, `CompressionSkipped`,
`CompressionFailed` and `CompressionCancelled`. Whoever is skipped before anything was done
hears only that.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ollm_tui.core.session.compression import (
    Checkpoint,
    CompressedContext,
    Compression,
    Strategy,
    Trigger,
)

Stage = Literal["identify", "snapshot", "elide", "summarise", "validate", "apply"]
STAGES: tuple[Stage, ...] = ("identify", "snapshot", "elide", "summarise", "validate", "apply")

SkipReason = Literal["nothing-to-do", "cannot-fit", "paused", "not-enough", "off"]


class CompressionEvent(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="event", tag=str.lower
):
    """Something that happened while the context was compressed."""


class Outcome(msgspec.Struct, frozen=True, rename="camel"):
    """What becomes of one message, or of one older checkpoint."""

    key: str
    what: Literal["keep", "fold", "elide", "age"]
    title: str
    """The first words, in one line."""
    tokens: int
    after: int
    """What is left of it in the prompt by itself; what is folded leaves nothing."""
    why: str = ""
    """Why it is kept: pinned, recent, yours."""


class CompressionStarted(CompressionEvent, frozen=True, tag="compression-started"):
    """First event: what is going to happen to what. Nothing has changed yet."""

    number: int
    strategy: Strategy
    trigger: Trigger
    before_tokens: int
    expected_tokens: int
    """What is left if the summary becomes as long as it may."""
    limit: int
    outcomes: tuple[Outcome, ...]
    model: str
    """Who summarises; empty if nobody has to."""


class StageReached(CompressionEvent, frozen=True, tag="compression-stage"):
    """The next stage begins."""

    stage: Stage


class SnapshotTaken(CompressionEvent, frozen=True, tag="compression-snapshot"):
    """The context as it was is on disk."""

    snapshot_id: str


class DataElided(CompressionEvent, frozen=True, tag="compression-elided"):
    """Old tool output and attachments are cut short in the new context."""

    message_ids: tuple[str, ...]
    before_tokens: int
    after_tokens: int


class MessageFolded(CompressionEvent, frozen=True, tag="compression-folded"):
    """A message is in the summariser's hands; they come one by one."""

    message_id: str


class SummaryArrived(CompressionEvent, frozen=True, tag="compression-summary"):
    """More words of a summary as it is written. `begins` if they are the first of one."""

    text: str
    begins: bool = False


class SummaryRejected(CompressionEvent, frozen=True, tag="compression-rejected"):
    """A summary was of no use; it is tried once more, or done without."""

    reason: str
    again: bool


class LedgerMade(CompressionEvent, frozen=True, tag="compression-ledger"):
    """The facts that are kept without a model, as they stand in the prompt."""

    text: str


class CheckpointCreated(CompressionEvent, frozen=True, tag="checkpoint-created"):
    """A checkpoint stands in the place of older messages."""

    checkpoint: Checkpoint


class CheckpointAged(CompressionEvent, frozen=True, tag="checkpoint-aged"):
    """An older checkpoint became shorter, or took in another one."""

    checkpoint: Checkpoint
    replaces: tuple[str, ...]


class UserMessagesFill(CompressionEvent, frozen=True, tag="user-messages-fill"):
    """The user's own messages take half of the room; only the user may have them folded."""

    tokens: int
    limit: int
    foldable: int
    """How many of them could be folded."""


class Draft(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A compression that is ready and waits to be applied."""

    compression: Compression
    based_on: CompressedContext
    head: str | None
    """What the conversation ended with; it is worth nothing once that has changed."""
    checkpoint: Checkpoint | None = None
    """The new checkpoint, whose summary may be edited."""


class CompressionDrafted(CompressionEvent, frozen=True, tag="compression-drafted"):
    """Last event of a preview: nothing is changed until the draft is applied."""

    draft: Draft


class ContextCompressed(CompressionEvent, frozen=True, tag="compressed"):
    """Last event: the context is smaller, and that is recorded."""

    compression: Compression


class CompressionSkipped(CompressionEvent, frozen=True, tag="compression-skipped"):
    """Last event: the context is as it was, and why."""

    reason: SkipReason
    message: str
    hint: str = ""


class CompressionFailed(CompressionEvent, frozen=True, tag="compression-error"):
    """Last event: something went wrong; the context is as it was."""

    error: str
    hint: str
    kind: str
    """The name of the error's class."""


class CompressionCancelled(CompressionEvent, frozen=True, tag="compression-cancelled"):
    """Last event: the user stopped it; the context is as it was."""


AnyCompressionEvent = (
    CompressionStarted
    | StageReached
    | SnapshotTaken
    | DataElided
    | MessageFolded
    | SummaryArrived
    | SummaryRejected
    | LedgerMade
    | CheckpointCreated
    | CheckpointAged
    | UserMessagesFill
    | CompressionDrafted
    | ContextCompressed
    | CompressionSkipped
    | CompressionFailed
    | CompressionCancelled
)
"""In the order they come, as far as they do."""
