"""The records a journal is made of: each is one fact about one session."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from ollm_tui.core.session.compression import Compression
from ollm_tui.core.session.message import FileRef, Message, Part, Status, Usage
from ollm_tui.core.session.session import Session, ToolCall


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind"):
    """A fact and the time it was recorded."""

    at: str
    machine: str | UnsetType = UNSET
    """The machine that made it; unset if that is this one."""
    machine_number: int | UnsetType = UNSET
    """Its number among the records of that machine, each of which counts for itself."""


class Created(Record, frozen=True, tag="created"):
    """The session begins; `session` carries everything but messages and tool calls."""

    session: Session


class MessageAdded(Record, frozen=True, tag="message"):
    """A message joins the tree and becomes its head."""

    message: Message


class TextAppended(Record, frozen=True, tag="text"):
    """More of a reply that is still being written."""

    message_id: str
    part: Literal["text", "reasoning"]
    text: str


class MessageFinished(Record, frozen=True, tag="finished", omit_defaults=True):
    """A reply ends: how, what it cost, and the parts that are not running text."""

    message_id: str
    status: Status
    usage: Usage | None = None
    model: str | None = None
    error: str | None = None
    parts: tuple[Part, ...] = ()


class ToolCallAdded(Record, frozen=True, tag="toolCall"):
    """A tool was executed."""

    tool_call: ToolCall


class SessionChanged(Record, frozen=True, tag="changed"):
    """Fields of the session take new values, named as on disk (title, pinned, head, …).

    Messages among them join the tree, so that one record adds a whole branch or nothing of it.
    """

    fields: dict[str, Any]
    changed_at: str | UnsetType = UNSET
    """The time of the change, where `at` is that of the last activity."""


class MetadataChanged(Record, frozen=True, tag="metadata"):
    """Fields of the session's metadata take new values, named as on disk (pins, goals, …)."""

    fields: dict[str, Any]


class Compressed(Record, frozen=True, tag="compressed"):
    """The context was compressed; the messages of the session stay as they are."""

    compression: Compression


class CompressionUndone(Record, frozen=True, tag="compressionUndone"):
    """The context is again as it was before the compression of that number."""

    number: int


class MachineNamed(Record, frozen=True, tag="machine"):
    """What people call the machine whose records follow."""

    name: str


class SnapshotArrived(Record, frozen=True, tag="snapshot"):
    """A machine took a snapshot; in a journal only its id, since it has a file of its own."""

    snapshot: dict[str, Any]


class RecordInFile(Record, frozen=True, tag="file"):
    """A record too large for a journal line; the file holds its JSON."""

    file: FileRef


class UnknownRecord(Record, frozen=True, tag="\ue000unknown"):
    """A fact of a kind this version does not know; a session with one is read-only."""

    raw: dict[str, Any]


AnyRecord = (
    Created
    | MessageAdded
    | TextAppended
    | MessageFinished
    | ToolCallAdded
    | SessionChanged
    | MetadataChanged
    | Compressed
    | CompressionUndone
    | MachineNamed
    | SnapshotArrived
    | RecordInFile
    | UnknownRecord
)
