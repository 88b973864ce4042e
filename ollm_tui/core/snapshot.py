"""Snapshots: the context of a session at one moment, and the metadata after going back to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.compression import (
    Checkpoint,
    CompressedContext,
    Compression,
    History,
    Shortening,
)
from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.core.session.goals import Goal, active_goal
from ollm_tui.core.session.message import Message, Reasoning, Value, new_id
from ollm_tui.core.session.session import Metadata, ModeChange
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.titles import title_of


class FileContent(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The state of a file at some time; equal values mean equal content, as far as is known."""

    size: int
    mode: int
    sha256: str | None = None
    """None if it was not read: it is too large, or there was no room for a copy."""
    modified: int = 0
    """Modification time in nanoseconds; only where it was not read, in place of the hash."""


class FileChange(msgspec.Struct, frozen=True, rename="camel"):
    """A tool changed, created or removed a file; None stands for a file that does not exist."""

    number: int
    """Counted over the whole session, from 1."""
    at: str
    path: str
    before: FileContent | None
    after: FileContent | None


class FileVersion(Value, frozen=True):
    """A file that tools changed, as it was left by the last change."""

    path: str
    sha256: str | None
    """None if the file was removed, or is too large to be read."""
    size: int
    change: int
    """The number of that change."""


SNAPSHOT_VERSION = "2.0"
NO_PARTS: Mapping[str, int] = MappingProxyType({})
FIRST_MODE = "assistant"
"""The mode of a session that never changed it."""

WHOLE_TRACES, SHORT_TRACES = 5, 20
"""How many of the latest thoughts are kept whole, and how many more in short."""
SHORT_TRACE_CHARACTERS = 200

Reason = Literal[
    "compression",
    "threshold",
    "overflow",
    "restore",
    "clear",
    "model",
    "mode",
    "fork",
    "tool",
    "manual",
    "older",
]
"""Why a snapshot was taken; `older` is one of an earlier program, which did not say why."""

ALWAYS_HELD = ("user", "system")
"""Roles whose messages a snapshot holds in full: some of them are sent beside a checkpoint."""

BROUGHT = 0
"""The number of a history entry that a restore added: it was no compression of this session."""
_CHARACTERS_PER_TOKEN = 4
_TITLE_CHARACTERS = 200
"""Characters of a message that are enough for a title."""


class GoalStack(Value, frozen=True):
    """The goals of the session."""

    goals: tuple[Goal, ...] = ()


class ArchivedMessage(Value, frozen=True):
    """A message of the user of which an earlier program kept only a summary."""

    id: str
    summary: str
    timestamp: str
    full_message_available: bool = False


class ReasoningTrace(Value, frozen=True):
    """What the model thought before one reply."""

    message_id: str
    text: str
    timestamp: str
    model: str | None = None


class ReasoningStorage(Value, frozen=True):
    """The latest thoughts of the model, newest last: a few whole, more of them in short."""

    recent: tuple[ReasoningTrace, ...] = ()
    archived: tuple[ReasoningTrace, ...] = ()

    @classmethod
    def of(cls, branch: Iterable[Message]) -> ReasoningStorage:
        """Take the latest thoughts from a conversation."""
        traces = [_trace(message) for message in branch if _has_thought(message)]
        archived = traces[-WHOLE_TRACES - SHORT_TRACES : -WHOLE_TRACES]
        return cls(
            recent=tuple(traces[-WHOLE_TRACES:]),
            archived=tuple(map(_shortened, archived)),
        )


class SnapshotMetadata(Value, frozen=True):
    """Facts about the context."""

    model: str = "unknown"
    context_size: int = 0
    """The window in tokens; 0 where it is unknown."""
    compression_ratio: float = 1.0
    """Tokens of the context divided by those it would have without checkpoints."""
    total_user_messages: int = 0
    active_goal_id: str | None = None
    total_goals_completed: int = 0
    total_checkpoints: int = 0
    is_reasoning_model: bool = False
    total_thinking_tokens: int = 0
    """An estimate: thoughts are not sent again, so no server counts them."""


class ContextSnapshot(Value, frozen=True):
    """Everything needed to rebuild the same prompt."""

    id: str
    session_id: str
    timestamp: str
    token_count: int
    summary: str
    order: tuple[str, ...]
    """The ids of all messages of the branch. Earlier programs had no such field."""
    token_parts: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Its tokens by parts of the prompt; empty in snapshots of earlier versions."""
    tokens_estimated: bool = False
    user_messages: tuple[Message, ...] = ()
    """All messages of the user, in full."""
    archived_user_messages: tuple[ArchivedMessage, ...] = ()
    messages: tuple[Message, ...] = ()
    """All others that are sent; those a checkpoint stands for are only in the session."""
    goal_stack: GoalStack = GoalStack()
    reasoning_storage: ReasoningStorage = ReasoningStorage()
    metadata: SnapshotMetadata = SnapshotMetadata()
    version: str = SNAPSHOT_VERSION
    name: str = ""
    """The name the user gave it; a named snapshot is never removed automatically."""
    pinned: bool = False
    """Whether the user keeps it, with or without a name."""
    reason: Reason = "manual"
    head: str | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    compressed: CompressedContext = CompressedContext()
    elisions: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Messages whose data is cut short, and the facts kept of each."""
    pins: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    folded: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    context_entries: tuple[ContextEntry, ...] = ()
    mode: str = FIRST_MODE
    system_prompt: str = ""
    provider: str = "unknown"
    window: int | None = None
    files: tuple[FileVersion, ...] = ()
    """The files tools had changed by then."""
    changed_at: str = ""
    """When the user last named or pinned it; on several machines the latest change counts."""

    def sent(self) -> Iterator[Message]:
        """Yield the messages it holds, in the order of the conversation."""
        held = {message.id: message for message in (*self.user_messages, *self.messages)}
        return (held[key] for key in self.order if key in held)


class SnapshotSummary(msgspec.Struct, frozen=True, rename="camel"):
    """What a list shows of a snapshot, without opening it."""

    id: str
    session_id: str
    timestamp: str
    token_count: int = 0
    summary: str = ""
    size: int = 0
    """Size of its file in bytes."""
    name: str = ""
    pinned: bool = False
    reason: Reason = "manual"
    head: str | None = None
    message_count: int = 0
    user_message_count: int = 0
    checkpoint_count: int = 0
    model: str = "unknown"
    window: int | None = None
    damage: str | None = None
    """Why it cannot be read, where it cannot."""
    tokens_estimated: bool = False
    changed_at: str = ""

    @property
    def is_automatic(self) -> bool:
        """Whether it may be removed automatically when there are newer ones."""
        kept = self.name or self.pinned or self.damage
        return not kept and self.reason not in ("manual", "older")


def snapshot_of(
    state: SessionState,
    tokens: int,
    *,
    parts: Mapping[str, int] = NO_PARTS,
    estimated: bool = False,
    reason: Reason,
    name: str = "",
    window: int | None = None,
    files: tuple[FileVersion, ...] = (),
) -> ContextSnapshot:
    """Take a snapshot of a session as it is now; `window` is the one really sent, if known."""
    header, metadata = state.header, state.header.metadata
    branch = state.branch() if header.head else []
    short = Shortening.of(metadata.compressed, metadata.compression_history)
    held = held_of(branch, short.checkpoints, metadata.pins)
    users = tuple([message for message in held if message.role == "user"])
    thoughtful = [message for message in branch if Reasoning in map(type, message.parts)]
    window = window or header.window
    return ContextSnapshot(
        id=new_id(),
        session_id=header.session_id,
        timestamp=clock.now(),
        token_count=tokens,
        token_parts=dict(parts),
        tokens_estimated=estimated,
        summary=_summary(branch),
        user_messages=users,
        messages=tuple([message for message in held if message.role != "user"]),
        goal_stack=GoalStack(goals=metadata.goals),
        reasoning_storage=ReasoningStorage.of(thoughtful),
        metadata=replace(
            _facts(thoughtful, tokens, short.checkpoints, metadata),
            model=header.model,
            context_size=window or 0,
            total_user_messages=len(users),
        ),
        name=name,
        reason=reason,
        order=tuple([message.id for message in branch]),
        head=header.head,
        checkpoints=short.checkpoints,
        compressed=metadata.compressed,
        elisions=dict(short.elided),
        pins=metadata.pins,
        excluded=metadata.excluded,
        folded=metadata.folded,
        context_entries=metadata.context_entries,
        mode=mode_of(metadata),
        system_prompt=header.system_prompt,
        provider=header.provider,
        window=window,
        files=files,
    )


def metadata_at(snapshot: ContextSnapshot, metadata: Metadata, at: str) -> Metadata:
    """Return the metadata after a restore: histories go on, the rest is as in the snapshot.

    What the snapshot of an earlier program does not have counts as empty.
    """
    before = mode_of(metadata)
    modes = metadata.mode_history
    if before != snapshot.mode:
        change = ModeChange(before, snapshot.mode, at, "command")
        modes = (*modes, change)
    words = Shortening(snapshot.checkpoints, snapshot.elisions)
    return replace(
        with_shortened(metadata, Shortened(snapshot.compressed, words), at),
        token_count=snapshot.token_count,
        token_parts=snapshot.token_parts,
        tokens_estimated=snapshot.tokens_estimated,
        mode_history=modes,
        goals=snapshot.goal_stack.goals,
        pins=snapshot.pins,
        excluded=snapshot.excluded,
        folded=snapshot.folded,
        context_entries=snapshot.context_entries,
    )


def summary_of(snapshot: ContextSnapshot, size: int) -> SnapshotSummary:
    """Return what a list shows of a snapshot; `size` is that of its file in bytes."""
    return SnapshotSummary(
        id=snapshot.id,
        session_id=snapshot.session_id,
        timestamp=snapshot.timestamp,
        token_count=snapshot.token_count,
        tokens_estimated=snapshot.tokens_estimated,
        changed_at=snapshot.changed_at,
        summary=snapshot.summary,
        size=size,
        name=snapshot.name,
        pinned=snapshot.pinned,
        reason=snapshot.reason,
        head=snapshot.head,
        message_count=len(snapshot.order),
        user_message_count=len(snapshot.user_messages),
        checkpoint_count=len(snapshot.checkpoints),
        model=snapshot.metadata.model,
        window=snapshot.window,
    )


def mode_of(metadata: Metadata) -> str:
    """Return the name of the mode a session is in."""
    return metadata.mode_history[-1].to if metadata.mode_history else FIRST_MODE


def held_of(
    branch: list[Message], checkpoints: tuple[Checkpoint, ...], pins: tuple[str, ...]
) -> list[Message]:
    """Return the messages a snapshot holds: all that are sent, and all of ALWAYS_HELD."""
    if not checkpoints:
        return branch
    holding = Shortening(checkpoints).within({message.id for message in branch})
    left_out = holding.covered - frozenset(pins)
    return [each for each in branch if each.role in ALWAYS_HELD or each.id not in left_out]


class Shortened(NamedTuple):
    """Which parts of a conversation are sent in another form, and the text in their place."""

    compressed: CompressedContext
    words: Shortening


def shortened_at(history: History, moment: str) -> Shortened:
    """Return the form of the context just before a moment, from the history of compressions."""
    compressed = history[0].before if history else CompressedContext()
    steps = [(entry.at, entry.after) for entry in history]
    steps += [(entry.undone_at, entry.before) for entry in history if entry.undone_at]
    for at, made in sorted(steps, key=lambda step: step[0]):
        if at < moment:
            compressed = made
    # Later entries are left out: one of them may hold other facts about the same message.
    known = tuple(entry for entry in history if entry.at < moment)
    return Shortened(compressed, Shortening.of(compressed, known or history[:1]))


def with_shortened(metadata: Metadata, target: Shortened, at: str) -> Metadata:
    """Return the metadata after a restore of another form of the context, which is recorded.

    The checkpoints may be unknown to this session, and a later compression may have kept other
    facts of the same message. The entry added to the history counts as undone, so that nobody
    can undo it: it was never done here.
    """
    history, compressed = metadata.compression_history, target.compressed
    now = Shortening.of(compressed, history)
    if now == target.words and compressed == metadata.compressed:
        return metadata
    made, facts = target.words.checkpoints, target.words.elided
    brought = Compression(
        number=BROUGHT,
        at=at,
        strategy="restored",
        trigger="manual",
        before_tokens=metadata.token_count,
        after_tokens=metadata.token_count,
        before=compressed,
        after=compressed,
        created=tuple(each for each in made if each not in now.checkpoints),
        elisions={key: kept for key, kept in facts.items() if now.elided.get(key) != kept},
        undone_at=at,
    )
    return replace(metadata, compressed=compressed, compression_history=(*history, brought))


def _summary(branch: list[Message]) -> str:
    """Return the first words of what the user said last."""
    said = (message.text for message in reversed(branch) if message.role == "user")
    return next(
        (title_of(text[:_TITLE_CHARACTERS]) for text in said if text.strip()), "Nothing said yet"
    )


def _facts(
    thoughtful: list[Message],
    tokens: int,
    checkpoints: tuple[Checkpoint, ...],
    metadata: Metadata,
) -> SnapshotMetadata:
    saved = sum(each.original_tokens - each.current_tokens for each in checkpoints)
    goal = active_goal(metadata.goals)
    parts = (part for message in thoughtful for part in message.parts)
    thinking = sum(len(part.text) for part in parts if type(part) is Reasoning)
    return SnapshotMetadata(
        compression_ratio=round(tokens / (tokens + saved), 4) if tokens and saved > 0 else 1.0,
        active_goal_id=goal.id if goal else None,
        total_goals_completed=sum(goal.status == "done" for goal in metadata.goals),
        total_checkpoints=len(checkpoints),
        is_reasoning_model=thinking > 0,
        total_thinking_tokens=thinking // _CHARACTERS_PER_TOKEN,
    )


def _has_thought(message: Message) -> bool:
    if message.role != "assistant":
        return False
    return any(type(part) is Reasoning and part.text for part in message.parts)


def _trace(message: Message) -> ReasoningTrace:
    return ReasoningTrace(message.id, message.reasoning, message.timestamp, message.model)


def _shortened(trace: ReasoningTrace) -> ReasoningTrace:
    return replace(trace, text=trace.text[:SHORT_TRACE_CHARACTERS].rstrip())
