"""A stored conversation: the values of the session file, in the shape it has on disk."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import msgspec
from msgspec.structs import replace

from ollm_tui.core.loop import LoopRecord
from ollm_tui.core.session.compression import CompressedContext, Compression
from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.core.session.goals import Goal
from ollm_tui.core.session.message import FileRef, Message, Value
from ollm_tui.core.session.vote import Vote

SCHEMA_VERSION = 2
"""Since 2 a session may hold what several machines recorded; what does not name one is of here."""


class ToolResult(Value, frozen=True, omit_defaults=True):
    """What a tool returned: the text for the model and, if it differs, for the user."""

    llm_content: str
    return_display: str | None = None
    trusted: bool = False
    """Whether these are our own words, such as that the user refused, and no output."""
    size: int | None = None
    """The bytes of the output, where the output itself is not kept."""
    sha256: str | None = None
    """The hash of the output, where the output itself is not kept."""


AFTER = "after"
"""The argument of a command of the user that names the message it was run after."""


class ToolCall(Value, frozen=True, omit_defaults=True):
    """One executed tool call with its result."""

    id: str
    name: str
    args: dict[str, Any]
    result: ToolResult
    timestamp: str
    file: FileRef | None = None
    """On disk only: the side file with the whole call, when this is just a stub."""
    machine: str | None = None
    """The machine it was executed on, if that is another one."""

    @property
    def is_command(self) -> bool:
        """Whether the user ran it as a job; calls of a model have ids the model chose."""
        return self.name == "exec" and self.id.startswith("job-")

    @property
    def command(self) -> str:
        """What the user ran, as the transcript shows it."""
        return f"! {self.args.get('code', '')}"


class ModeChange(Value, frozen=True, omit_defaults=True):
    """A change of mode, what triggered it, and how sure a suggestion was."""

    from_: str = msgspec.field(name="from")
    to: str
    timestamp: str
    trigger: str
    confidence: float | None = None


class Restore(Value, frozen=True, omit_defaults=True):
    """The context was set back to a snapshot or a message; nothing was removed by it."""

    at: str
    snapshot: str
    title: str = ""
    """The name of the snapshot, or why it was taken."""
    safety: str | None = None
    """The snapshot taken just before, to undo the restore."""
    before: str | None = None
    """The last message until then; empty where nothing was said."""
    undoes: str | None = None
    """The time of the restore that this one undid."""

    @property
    def can_be_undone(self) -> bool:
        """Whether it can be undone; going to a message needs no snapshot for that."""
        return self.safety is not None or self.is_to_message

    @property
    def is_to_message(self) -> bool:
        """Whether it went to a message, and it is recorded from which."""
        return not self.snapshot and self.before is not None


class Metadata(Value, frozen=True):
    """Counters and histories of a session; what later versions add is kept."""

    token_count: int = 0
    """The tokens of the context, as they were last counted."""
    token_parts: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """The same by parts of the prompt; empty where nobody counted them."""
    tokens_estimated: bool = False
    compression_count: int = 0
    mode_history: tuple[ModeChange, ...] = ()
    goals: tuple[Goal, ...] = ()
    pins: tuple[str, ...] = ()
    """Messages that always stay in the context."""
    excluded: tuple[str, ...] = ()
    """Messages that are not sent."""
    folded: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Messages of which only the first words are sent, and the tokens each had."""
    context_entries: tuple[ContextEntry, ...] = ()
    compressed: CompressedContext = CompressedContext()
    """Which parts of the conversation are not sent as they were said."""
    compression_history: tuple[Compression, ...] = ()
    restores: tuple[Restore, ...] = ()
    loops: tuple[LoopRecord, ...] = ()
    """The loops that were found, and what was done about them."""
    votes: tuple[Vote, ...] = ()
    """Which of several answers to one question was the better one, by question."""


class FieldChange(Value, frozen=True, omit_defaults=True):
    """When a field that all machines share got its value; the latest change counts everywhere."""

    name: str
    at: str
    machine: str | None = None
    """The machine it was changed on, if that is another one."""


class MachineLine(Value, frozen=True, omit_defaults=True):
    """What another machine recorded in this session, besides messages and tool calls."""

    machine: str
    name: str = ""
    """What people call the machine."""
    numbers: tuple[tuple[int, int], ...] = ()
    """The numbers of its records that are here: the first and the last of each run."""
    compressions: tuple[Compression, ...] = ()
    """Its compressions: each machine counts its own, and they change no context but its own."""
    snapshots: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """How many of its records have not arrived, as far as the numbers tell."""
        last = self.numbers[-1][1] if self.numbers else 0
        return last - sum(end - first + 1 for first, end in self.numbers)


class Session(Value, frozen=True):
    """The full record of one conversation. `head` is the current leaf of the message tree."""

    session_id: str
    start_time: str
    last_activity: str
    model: str
    provider: str
    messages: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    metadata: Metadata = Metadata()
    schema_version: int = SCHEMA_VERSION
    title: str = ""
    project: str | None = None
    head: str | None = None
    pinned: bool = False
    archived: bool = False
    tags: tuple[str, ...] = ()
    forked_from: str | None = None
    continues: str | None = None
    """The session that had become long and goes on in this one."""
    continued_in: str | None = None
    """The session in which this one goes on."""
    items_asked: int = 0
    """How many messages there were when the user was last asked to go on in a new session."""
    window: int | None = None
    """The window sent with every request; None where the server has its own."""
    temperature: float | None = None
    """The temperature the user wants in this session; None leaves it to mode and settings."""
    thinking: bool | str | None = None
    """Thinking level; None leaves it to the settings."""
    system_prompt: str = ""
    """Changes only when the user changes it, so that prompt caches hit."""
    journal_seq: int = 0
    """The last journal record that is already in this file."""
    machines: tuple[MachineLine, ...] = ()
    """The other machines that recorded something in this session."""
    changes: tuple[FieldChange, ...] = ()
    """The last changes of the fields that all machines share."""
    visiting: bool = False
    """Whether nothing was said here yet: then the head goes along with the other machines."""


# A list may hold ten thousand of these and none refers to another: without `gc` the garbage
# collector does not look at them.
class SessionSummary(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What a list shows of a session, without opening it."""

    session_id: str
    title: str
    start_time: str
    last_activity: str
    model: str
    provider: str
    message_count: int
    token_count: int
    project: str | None = None
    pinned: bool = False
    archived: bool = False
    tags: tuple[str, ...] = ()
    damage: str | None = None
    """Why the session cannot be read, where it cannot."""
    older: bool = False
    """Whether another program wrote it: such files are only read."""
    went_on: str = ""
    """The machine on which it went on after the last message here; empty if on none."""
    went_on_at: str = ""
    votes: tuple[Vote, ...] = ()


def next_number(metadata: Metadata) -> int:
    """Return the number of the next compression, larger than any before."""
    # Checkpoints of another session count too: the age of a checkpoint is the difference
    # between its number and the next one.
    known = [metadata.compression_count]
    for entry in metadata.compression_history:
        known += (entry.number, *(each.compression_number for each in entry.created))
    return max(known) + 1


def compressed(metadata: Metadata, compression: Compression) -> Metadata:
    """Return the metadata after a compression."""
    return replace(
        metadata,
        token_count=compression.after_tokens,
        token_parts={},
        compressed=compression.after,
        compression_count=metadata.compression_count + 1,
        compression_history=(*metadata.compression_history, compression),
    )


def uncompressed(metadata: Metadata, number: int, at: str) -> Metadata:
    """Return the metadata after undoing a compression, which stays in the history."""
    standing = (entry for entry in reversed(metadata.compression_history) if not entry.undone_at)
    undone = next((entry for entry in standing if entry.number == number), None)
    if undone is None:
        return metadata
    given_back = undone.before_tokens - undone.after_tokens
    return replace(
        metadata,
        token_count=metadata.token_count + given_back,
        token_parts={},
        compressed=undone.before,
        compression_history=tuple(
            replace(entry, undone_at=at) if entry is undone else entry
            for entry in metadata.compression_history
        ),
    )


def copied(metadata: Metadata) -> Metadata:
    """Return the metadata for a copy of a session.

    Snapshots stay with their session, so the copy refers to none and has no restores to undo; votes
    count once.
    """
    history = tuple(replace(entry, snapshot=None) for entry in metadata.compression_history)
    return replace(metadata, restores=(), votes=(), compression_history=history)


def as_own(session: Session) -> Session:
    """Return a session as a new one of this machine, whoever recorded what it is made of."""
    return replace(
        session,
        messages=tuple(replace(each, machine=None) for each in session.messages),
        tool_calls=tuple(replace(each, machine=None) for each in session.tool_calls),
        machines=(),
        changes=(),
        visiting=False,
    )


def new_session_id() -> str:
    """Return a new session id."""
    return str(uuid4())


def is_session_id(text: str) -> bool:
    """Whether a text is a UUID in its one canonical spelling."""
    # UUID() also accepts braces, a urn: prefix and a text without dashes.
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
