"""The state of one session; applying a record is the only way to change it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.compression import CompressedContext, Compression
from ollm_tui.core.session.encoding import (
    CannotDecode,
    metadata_from_tree,
    session_from_tree,
    to_tree,
)
from ollm_tui.core.session.message import Message, Part, Reasoning, Text, ToolResultPart, Usage
from ollm_tui.core.session.record import (
    AnyRecord,
    Compressed,
    CompressionUndone,
    Created,
    MachineNamed,
    MessageAdded,
    MessageFinished,
    MetadataChanged,
    RecordInFile,
    SessionChanged,
    SnapshotArrived,
    TextAppended,
    ToolCallAdded,
    UnknownRecord,
)
from ollm_tui.core.session.session import (
    SCHEMA_VERSION,
    FieldChange,
    Metadata,
    Session,
    SessionSummary,
    ToolCall,
    compressed,
    uncompressed,
)
from ollm_tui.core.session.shared_record import (
    METADATA_FIELDS,
    SESSION_FIELDS,
    change_of,
    fuller,
    line_of,
    noting_changes,
    shared_fields,
    with_change,
    with_compression,
    with_line,
    with_number,
)

NOTHING_SAID = ""
"""The head of a stored session that was set back to before its first message. None cannot mean
this: sessions of earlier programs have no head and end with their last message."""


class SessionState:
    """The message tree of a session, its tool calls and its header, kept up to date.

    Adding a message costs the same however long the session is; `session()` gathers
    everything into one frozen value for the file.
    """

    def __init__(self, session: Session) -> None:
        self.header = replace(
            session,
            messages=(),
            tool_calls=(),
            # Nothing of version 1 has to change: what names no machine was recorded here.
            schema_version=max(session.schema_version, SCHEMA_VERSION),
        )
        self.tool_calls: list[ToolCall] = list(session.tool_calls)
        self._messages: dict[str, Message] = {}
        self._children: dict[str | None, list[str]] = {}
        # The message recorded before each one, in case its parent is lost.
        self._before: dict[str, str | None] = {}
        self._last: str | None = None
        for message in session.messages:
            self._put(message)
        if self.header.head not in self._messages:
            head = None if self.header.head == NOTHING_SAID else self._last
            self.header = replace(self.header, head=head)

    @classmethod
    def replayed(
        cls, base: Session | None, records: Iterable[tuple[int, AnyRecord]]
    ) -> SessionState | None:
        """Return the state after a file and its journal; None if neither begins a session."""
        state = cls(base) if base else None
        for seq, record in records:
            if state is None:
                if isinstance(record, Created):
                    state = cls(replace(record.session, journal_seq=seq))
            # After a crash the journal may still hold records that the file has already.
            elif seq > state.header.journal_seq:
                state.apply(record, seq)
        return state

    def apply(self, record: AnyRecord, seq: int) -> None:
        """Apply one more record. CannotDecode if it does not fit this session."""
        if record.machine:
            self._take_in(record, record.machine)
            self.header = replace(self.header, journal_seq=seq)
            return
        before = self.header
        match record:
            case MessageAdded():
                self._put(_as_own(record.message))
                self.header = replace(self.header, head=record.message.id, visiting=False)
                self._count(record.message.usage)
            case TextAppended():
                self._append_text(record)
            case MessageFinished():
                self._finish(record)
            case ToolCallAdded():
                self.tool_calls.append(record.tool_call)
            case SessionChanged():
                changed = session_from_tree(to_tree(self.header) | record.fields)
                for message in changed.messages:
                    self._put(_as_own(message))
                stays = record.fields.keys().isdisjoint(("head", "messages"))
                self.header = replace(changed, messages=(), visiting=changed.visiting and stays)
            case MetadataChanged():
                tree = to_tree(self.header.metadata) | record.fields
                self._change_metadata(metadata_from_tree(tree))
            case Compressed():
                self._change_metadata(compressed(self.header.metadata, record.compression))
                self.header = replace(self.header, visiting=False)
            case CompressionUndone():
                self._change_metadata(uncompressed(self.header.metadata, record.number, record.at))
            case Created():
                self.header = record.session
            case MachineNamed() | SnapshotArrived() | RecordInFile() | UnknownRecord():
                pass
        if isinstance(record, SessionChanged | MetadataChanged):
            changed_at = record.changed_at if isinstance(record, SessionChanged) else UNSET
            self.header = noting_changes(before, self.header, changed_at or record.at)
        # The last activity never goes back, even when the clock does.
        activity = clock.later(self.header.last_activity, record.at)
        self.header = replace(self.header, last_activity=activity, journal_seq=seq)

    def __getitem__(self, message_id: str) -> Message:
        return self._messages[message_id]

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._messages

    def __len__(self) -> int:
        return len(self._messages)

    def messages(self) -> Iterator[Message]:
        """Iterate over all messages of all branches, in the order they were recorded."""
        return iter(self._messages.values())

    def children(self, message_id: str | None) -> tuple[Message, ...]:
        """Return the messages that directly follow a message; None asks for the roots."""
        return tuple(self._messages[child] for child in self._children.get(message_id, ()))

    def versions(self, message: Message) -> tuple[str, ...]:
        """Return the ids of a message and of its alternatives on other branches."""
        return tuple(self._children[message.parent_id])

    def parent(self, message_id: str) -> str | None:
        """Return what a message follows; if that was lost, the message recorded before it."""
        parent = self._messages[message_id].parent_id
        if parent is None or parent in self._messages:
            return parent
        if self._messages[message_id].machine:
            return None  # it has not arrived yet, and what was recorded before may follow from this
        return self._before[message_id]

    def branch(self, leaf: str | None = None) -> list[Message]:
        """Return the messages from the first one to a leaf, by default to the head."""
        path: list[Message] = []
        # A damaged file may hold a circle of parents.
        seen: set[str] = set()
        step = leaf if leaf is not None else self.header.head
        while step is not None and step not in seen:
            seen.add(step)
            path.append(self._messages[step])
            step = self.parent(step)
        path.reverse()
        return path

    def latest_leaf(self, message_id: str) -> str:
        """Return the end of the branch through a message that was begun last."""
        seen: set[str] = set()
        while (following := self._children.get(message_id)) and message_id not in seen:
            seen.add(message_id)
            message_id = following[-1]
        return message_id

    def session(self) -> Session:
        """Gather everything into one frozen value."""
        return replace(
            self.header,
            messages=tuple(self._messages.values()),
            tool_calls=tuple(self.tool_calls),
            head=self.header.head or (NOTHING_SAID if self._messages else None),
        )

    def summary(self) -> SessionSummary:
        """Return what a list shows of the session."""
        header = self.header
        went_on, went_on_at = self._elsewhere()
        return SessionSummary(
            session_id=header.session_id,
            title=header.title,
            start_time=header.start_time,
            last_activity=header.last_activity,
            model=header.model,
            provider=header.provider,
            message_count=len(self._messages),
            token_count=header.metadata.token_count,
            project=header.project,
            pinned=header.pinned,
            archived=header.archived,
            tags=header.tags,
            went_on=went_on,
            went_on_at=went_on_at,
            votes=header.metadata.votes,
        )

    def _elsewhere(self) -> tuple[str, str]:
        """Return the machine with the newest message that is not on the branch here, and when."""
        if not self.header.machines:
            return "", ""
        branch = self.branch()
        here = {message.id for message in branch}
        others = [each for each in self.messages() if each.machine and each.id not in here]
        last = max(others, key=lambda each: (each.timestamp, each.id), default=None)
        if last is None or (branch and last.timestamp <= branch[-1].timestamp):
            return "", ""
        machine = last.machine or ""
        return line_of(machine, self.header).name or machine, last.timestamp

    def _take_in(self, record: AnyRecord, machine: str) -> None:
        """Apply what another machine recorded: the order does not matter, nor how often."""
        line = line_of(machine, self.header)
        match record:
            case MessageAdded():
                self._take_in_message(replace(record.message, machine=machine))
            case ToolCallAdded():
                self._take_in_call(replace(record.tool_call, machine=machine))
            case SessionChanged() | MetadataChanged():
                for name, value in record.fields.items():
                    change = FieldChange(name=name, at=record.at, machine=machine)
                    self._take_in_field(name, value, change)
            case Compressed():
                known = with_compression(line.compressions, record.compression)
                line = replace(line, compressions=known)
            case SnapshotArrived():
                taken = {*line.snapshots, str(record.snapshot.get("id"))}
                line = replace(line, snapshots=tuple(sorted(taken)))
            case MachineNamed():
                line = replace(line, name=record.name)
            case _:  # a session begins here with a record of its own
                pass
        if record.machine_number:
            line = replace(line, numbers=with_number(line.numbers, record.machine_number))
        self.header = with_line(self.header, line)
        if self.header.visiting and isinstance(record, Compressed):
            self._go_along()

    def _take_in_message(self, message: Message) -> None:
        known = self._messages.get(message.id)
        self._put(fuller(known, message) if known else message)
        header = self.header
        activity = clock.later(header.last_activity, message.timestamp)
        self.header = replace(header, last_activity=activity)
        head = self._messages.get(header.head or "")
        if header.visiting and (
            head is None or (head.timestamp, head.id) < (message.timestamp, message.id)
        ):
            self.header = replace(self.header, head=message.id)
            self._count(message.usage)

    def _take_in_call(self, call: ToolCall) -> None:
        # Each machine numbers its own jobs.
        if call.is_command:
            call = replace(call, id=f"{call.id}@{call.machine}")
        for position, known in enumerate(self.tool_calls):
            if (known.id, known.timestamp) == (call.id, call.timestamp):
                self.tool_calls[position] = fuller(known, call)
                return
        self.tool_calls.append(call)

    def _take_in_field(self, name: str, value: Any, change: FieldChange) -> None:
        known = change_of(name, self.header)
        present = shared_fields(self.header).get(name)
        if known and (known.at, _order(present)) >= (change.at, _order(value)):
            return
        if name in SESSION_FIELDS:
            self.header = session_from_tree(to_tree(self.header) | {name: value})
        elif name in METADATA_FIELDS:
            tree = to_tree(self.header.metadata) | {name: value}
            self._change_metadata(metadata_from_tree(tree))
        else:
            raise CannotDecode(f"{name} is not shared")
        self.header = with_change(self.header, change)

    def _go_along(self) -> None:
        """Compress the context as the other machines did, as long as nothing was said here."""
        made = [each for line in self.header.machines for each in line.compressions]
        made.sort(key=lambda each: (each.at, each.number))
        standing: list[Compression] = [each for each in made if not each.undone_at]
        metadata = replace(
            self.header.metadata,
            compression_history=tuple(made),
            compressed=standing[-1].after if standing else CompressedContext(),
        )
        self._change_metadata(metadata)

    def _put(self, message: Message) -> None:
        if message.id not in self._messages:
            self._children.setdefault(message.parent_id, []).append(message.id)
            self._before[message.id] = self._last
            self._last = message.id
        self._messages[message.id] = message

    def _append_text(self, record: TextAppended) -> None:
        message = self._messages.get(record.message_id)
        if message is None:
            return  # its beginning was lost; what is left of it is in the quarantine file
        kind = Text if record.part == "text" else Reasoning
        parts: tuple[Part, ...] = message.parts
        if parts and isinstance(last := parts[-1], kind):
            parts = (*parts[:-1], replace(last, text=last.text + record.text))
        else:
            parts = (*parts, kind(record.text))
        self._messages[message.id] = replace(message, parts=parts, machine=None)

    def _finish(self, record: MessageFinished) -> None:
        message = self._messages.get(record.message_id)
        if message is None:
            return
        self._messages[message.id] = replace(
            message,
            status=record.status,
            usage=record.usage,
            model=record.model or message.model,
            error=record.error,
            parts=(*message.parts, *record.parts),
            machine=None,
        )
        self._count(record.usage)

    def _count(self, usage: Usage | None) -> None:
        if usage:
            self._change_metadata(
                replace(
                    self.header.metadata,
                    token_count=usage.total_tokens,
                    token_parts={},
                    tokens_estimated=False,
                )
            )

    def _change_metadata(self, metadata: Metadata) -> None:
        self.header = replace(self.header, metadata=metadata)


def _as_own(message: Message) -> Message:
    """Return a message that is recorded here, wherever it was said first."""
    return replace(message, machine=None) if message.machine else message


def _order(value: Any) -> str:
    """Return what decides between two values of one moment: any order that machines share."""
    return json.dumps(value, sort_keys=True)


class RecordedCalls(NamedTuple):
    """Every tool call of a session, each once."""

    answered: Mapping[str, tuple[ToolCall, ...]]
    """The calls by the ids of the messages that have their results."""
    apart: Mapping[str, ToolCall]
    """Calls in no message, such as the user's own commands, by unique names."""


_NO_CALLS = RecordedCalls({}, {})


def recorded_calls(state: SessionState) -> RecordedCalls:
    """Find the message of each call."""
    if not state.tool_calls:
        return _NO_CALLS
    # Models give the same id to several calls: then the answers tell them apart, and where
    # these are the same too, their order.
    holders: dict[tuple[str, str], list[str]] = {}
    for message in state.messages():
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                holders.setdefault((part.call_id, part.content), []).append(message.id)
    answered: dict[str, tuple[ToolCall, ...]] = {}
    apart: dict[str, ToolCall] = {}
    for call in state.tool_calls:
        if found := holders.get((call.id, call.result.llm_content)):
            message_id = found.pop(0) if len(found) > 1 else found[0]
            answered[message_id] = (*answered.get(message_id, ()), call)
        else:
            apart[_own_name(call.id, apart, state)] = call
    return RecordedCalls(answered, apart)


def _own_name(call_id: str, taken: Mapping[str, ToolCall], state: SessionState) -> str:
    name, number = call_id, 1
    while name in taken or name in state:
        number += 1
        name = f"{call_id}~{number}"
    return name
