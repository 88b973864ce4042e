"""The events the engine sends while it compresses the context.

`CompressionStarted` comes first, then the stages in the order of `STAGES` with what happens
in each, then exactly one of `ContextCompressed`, `CompressionDrafted`, `CompressionSkipped`,
`CompressionFailed` and `CompressionCancelled`. A compression that is skipped before it began
sends `CompressionSkipped` only.
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
    """Its first words, on one line."""
    tokens: int
    after: int
    """Tokens it still takes by itself; 0 for what becomes part of a checkpoint."""
    why: str = ""
    """Why it is kept: pinned, recent, yours."""


class CompressionStarted(CompressionEvent, frozen=True, tag="compression-started"):
    """First event: what is going to happen to what. Nothing has changed yet."""

    number: int
    strategy: Strategy
    trigger: Trigger
    before_tokens: int
    expected_tokens: int
    """Tokens of the context afterwards if the summary becomes as long as it may."""
    limit: int
    outcomes: tuple[Outcome, ...] = msgspec.field(name="fates")  # so it is called in stream-json
    model: str
    """The model that summarises; empty if none is needed."""


class StageReached(CompressionEvent, frozen=True, tag="compression-stage"):
    """The next stage begins."""

    stage: Stage


class SnapshotTaken(CompressionEvent, frozen=True, tag="compression-snapshot"):
    """A snapshot of the context before the compression is on disk."""

    snapshot_id: str


class DataElided(CompressionEvent, frozen=True, tag="compression-elided"):
    """Old tool output and attachments are cut short in the new context."""

    message_ids: tuple[str, ...]
    before_tokens: int
    after_tokens: int


class MessageFolded(CompressionEvent, frozen=True, tag="compression-folded"):
    """A message is being summarised; each message has an event of its own."""

    message_id: str


class SummaryReading(CompressionEvent, frozen=True, tag="compression-reading"):
    """The model reads what it is to summarise."""

    tokens: int
    fraction: float | None = None
    """How much of it is read, from 0 to 1; None where the server does not say."""
    trial: bool = False
    """Whether it is tried, once, if the model can summarise at all."""


class SummaryArrived(CompressionEvent, frozen=True, tag="compression-summary"):
    """More text of a summary as it is written; `begins` marks the first piece of one."""

    text: str
    begins: bool = False


class SummaryRejected(CompressionEvent, frozen=True, tag="compression-rejected"):
    """A summary was rejected as useless."""

    reason: str
    again: bool
    """Whether the model is asked once more; otherwise the ledger has to do."""
    text: str = ""
    """What the model wrote; the user may still edit and use it."""


class LedgerMade(CompressionEvent, frozen=True, tag="compression-ledger"):
    """The ledger is made: facts found without a model, in the form they have in the prompt."""

    text: str


class CheckpointCreated(CompressionEvent, frozen=True, tag="checkpoint-created"):
    """A new checkpoint stands for older messages."""

    checkpoint: Checkpoint


class CheckpointAged(CompressionEvent, frozen=True, tag="checkpoint-aged"):
    """An older checkpoint became shorter, or was merged with others."""

    checkpoint: Checkpoint
    replaces: tuple[str, ...]


class UserMessagesFill(CompressionEvent, frozen=True, tag="user-messages-fill"):
    """The user's own messages fill half of the limit; only the user may have them folded."""

    tokens: int
    limit: int
    foldable: int
    """How many of them could be folded."""


class Draft(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A compression that is ready and waits to be applied."""

    compression: Compression
    based_on: CompressedContext
    head: str | None
    """The last message when it was drafted; it cannot be applied once that has changed."""
    checkpoint: Checkpoint | None = None
    """The new checkpoint, whose summary may be edited."""


class CompressionDrafted(CompressionEvent, frozen=True, tag="compression-drafted"):
    """Last event of a preview: nothing is changed until the draft is applied."""

    draft: Draft


class ContextCompressed(CompressionEvent, frozen=True, tag="compressed"):
    """Last event: the context is smaller, and that is recorded."""

    compression: Compression


class CompressionSkipped(CompressionEvent, frozen=True, tag="compression-skipped"):
    """Last event: the context is as it was; `reason` and `message` say why."""

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
    | SummaryReading
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
"""Every event of a compression, in the order in which they may come."""
