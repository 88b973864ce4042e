"""The state of one session; applying a record is the only way to change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.encoding import metadata_from_tree, session_from_tree, to_tree
from ollm_tui.core.session.message import Message, Part, Reasoning, Text, ToolResultPart, Usage
from ollm_tui.core.session.record import (
    AnyRecord,
    Compressed,
    CompressionUndone,
    Created,
    MessageAdded,
    MessageFinished,
    MetadataChanged,
    RecordInFile,
    SessionChanged,
    TextAppended,
    ToolCallAdded,
    UnknownRecord,
)
from ollm_tui.core.session.session import (
    Metadata,
    Session,
    SessionSummary,
    ToolCall,
    compressed,
    uncompressed,
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
        self.header = replace(session, messages=(), tool_calls=())
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
        match record:
            case MessageAdded():
                self._put(record.message)
                self.header = replace(self.header, head=record.message.id)
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
                    self._put(message)
                self.header = replace(changed, messages=())
            case MetadataChanged():
                tree = to_tree(self.header.metadata) | record.fields
                self._change_metadata(metadata_from_tree(tree))
            case Compressed():
                self._change_metadata(compressed(self.header.metadata, record.compression))
            case CompressionUndone():
                self._change_metadata(uncompressed(self.header.metadata, record.number, record.at))
            case Created():
                self.header = record.session
            case RecordInFile() | UnknownRecord():
                pass
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
        )

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
        self._messages[message.id] = replace(message, parts=parts)

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
