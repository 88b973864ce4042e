"""What a compression leaves in the context: checkpoints for older messages, and data cut short.

Only the context changes; every message stays in the session.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from ollm_tui.core.counts import counted
from ollm_tui.core.provider import CompactedPrompt
from ollm_tui.core.session.message import Value

GAP = " … "
"""Stands in a quote where something was left out."""

FactKind = Literal[
    "decided",
    "open",
    "user",
    "changed",
    "read",
    "command",
    "failed",
    "test",
    "said",
    "name",
    "excerpt",
    # Of earlier versions, which sorted sentences by their words; sessions still have them.
    "constraint",
    "decision",
    "todo",
    "dead-end",
    "error",
    "file",
    "value",
    "identifier",
    "note",
]
"""Where an entry of a ledger comes from: a record, or words that are quoted."""


class Fact(Value, frozen=True, omit_defaults=True):
    """One entry of a ledger: a record or a quote, on one line, with where it is from."""

    kind: FactKind
    text: str
    """What was said or done, literally; `GAP` stands where something was left out."""
    about: str = ""
    """How a command ended, or what a quoted output is from."""
    source: str = ""
    """The message it is from."""
    from_user: bool = False
    at: str = ""
    """When that message was written."""
    current: bool = True
    """Of earlier versions: False if it was done, replaced or taken back."""
    now: str = ""
    """Of earlier versions: what was said later about the same subject."""


class Ledger(Value, frozen=True, omit_defaults=True):
    """Entries, oldest first; of names the most useful last."""

    facts: tuple[Fact, ...] = ()


Strategy = Literal["truncate", "summarize", "hybrid", "provider"]
Trigger = Literal["auto", "manual", "overflow"]
"""Why it was compressed: the threshold was reached, the user asked, or a prompt did not fit."""

DETAILED, MODERATE, COMPACT = 3, 2, 1
"""The levels of a checkpoint; it becomes more compact as it ages."""


class Checkpoint(Value, frozen=True):
    """A summary that stands in the context for older messages."""

    id: str
    level: int
    covers: tuple[str, str]
    """The first and the last message it stands for."""
    messages: tuple[str, ...]
    """All of them; the user's own messages are included only where the user agreed."""
    summary: str
    """The model's words, or the user's; empty where no model was asked."""
    ledger: Ledger
    facts: str
    """The ledger as it stands in the prompt."""
    original_tokens: int
    current_tokens: int
    compression_number: int
    created_at: str
    model: str | None = None
    edited: bool = False
    """Whether the user changed the summary."""
    trusted: bool = False
    compacted: CompactedPrompt | None = None
    """The same messages in the form of the server that compacted them, for that server only."""


class CompressedContext(Value, frozen=True):
    """Which parts of the conversation are not sent as they were said."""

    checkpoints: tuple[str, ...] = ()
    """Ids of checkpoints of the history, in the order of the prompt."""
    elided: tuple[str, ...] = ()
    """Messages whose data (tool output, attachments) is cut short."""

    def __bool__(self) -> bool:
        return bool(self.checkpoints or self.elided)


class Compression(Value, frozen=True, omit_defaults=True):
    """One compression: what it made, and the contexts before and after it."""

    number: int
    at: str
    strategy: str
    trigger: str
    before_tokens: int
    after_tokens: int
    before: CompressedContext
    after: CompressedContext
    created: tuple[Checkpoint, ...] = ()
    """New checkpoints, including older ones that were made shorter."""
    folded: tuple[str, ...] = ()
    """Messages that are part of a checkpoint since this compression."""
    elisions: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Messages whose data is cut short since this compression, and the facts kept of each."""
    last: str | None = None
    """The last message of the conversation at that time."""
    above: str | None = None
    """The message above which the user asked to compress, where one was chosen."""
    model: str | None = None
    """The model that summarised."""
    snapshot: str | None = None
    """The id of the snapshot taken before it."""
    seconds: float = 0.0
    note: str = ""
    """What the user should know, such as that no model could be asked."""
    undone_at: str | None = None

    @property
    def words(self) -> str:
        """What happened, for the user."""
        done: list[str] = []
        if self.folded:
            done.append(f"{counted(len(self.folded), 'message')} folded into a checkpoint")
        if self.elisions:
            done.append(f"{counted(len(self.elisions), 'old output')} shortened")
        tokens = f"{self.before_tokens:,} → {self.after_tokens:,} tokens"
        return f"{', '.join(done)}: {tokens}"


History = tuple[Compression, ...]


def checkpoints_of(compressed: CompressedContext, history: History) -> tuple[Checkpoint, ...]:
    """Return the checkpoints of a context in their order; unknown ids are left out."""
    ids = set(compressed.checkpoints)
    found = {made.id: made for entry in history for made in entry.created if made.id in ids}
    return tuple(found[key] for key in compressed.checkpoints if key in found)


class Shortening(msgspec.Struct, frozen=True):
    """Which messages are sent in another form, with the text that is sent instead."""

    checkpoints: tuple[Checkpoint, ...] = ()
    elided: Mapping[str, str] = MappingProxyType({})
    """Messages whose data is cut short, and the facts that are left of it."""

    @classmethod
    def of(cls, compressed: CompressedContext, history: History) -> Shortening:
        """Look up the text of a compressed context in the history of its session."""
        # A message may be cut short more than once: the facts of the latest compression count.
        kept = {key: facts for entry in history for key, facts in entry.elisions.items()}
        elided = {key: kept.get(key, "") for key in compressed.elided}
        return cls(checkpoints_of(compressed, history), elided)

    @property
    def covered(self) -> frozenset[str]:
        """Every message that some checkpoint stands for."""
        return frozenset(key for checkpoint in self.checkpoints for key in checkpoint.messages)

    def within(self, branch: Collection[str]) -> Shortening:
        """Keep only the checkpoints whose messages are all on a branch."""
        holding = tuple(
            checkpoint
            for checkpoint in self.checkpoints
            if all(key in branch for key in checkpoint.messages)
        )
        return Shortening(holding, self.elided)


def last_undoable(history: History, now: CompressedContext) -> Compression | None:
    """Return the compression that made the present context; None if it was changed since."""
    for entry in reversed(history):
        if entry.undone_at is None:
            return entry if entry.after == now else None
    return None


def in_force(history: History, now: CompressedContext) -> tuple[Compression, ...]:
    """Return the compressions the present context results from, the last one first.

    Those that were undone, or left behind by a restore, are not among them.
    """
    found: list[Compression] = []
    for entry in reversed(history):
        if entry.undone_at is None and entry.after == now:
            found.append(entry)
            now = entry.before
    return tuple(found)


def was_undone(history: History) -> bool:
    """Whether the last compression was undone."""
    # An entry that a restore added has the same context before and after.
    done = (entry for entry in reversed(history) if entry.before != entry.after)
    last = next(done, None)
    return last is not None and last.undone_at is not None
