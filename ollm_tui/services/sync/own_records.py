"""What this machine made of a session, as records that other machines can take in.

They are made from the state and not kept by the journal, which may be folded at any time: a
finished message is one record, however it came about.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from ollm_tui.core.session.encoding import encode, to_tree
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.record import (
    AnyRecord,
    Compressed,
    Created,
    MessageAdded,
    MetadataChanged,
    SessionChanged,
    SnapshotArrived,
    ToolCallAdded,
)
from ollm_tui.core.session.session import Metadata, Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.shared_record import METADATA_FIELDS, shared_fields
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.services.sync.port import Batch, Item

_DIGEST_BYTES = 8
"""Enough that no two records of one session have the same."""


class Cursor:
    """What of a session was sent: the last number, and a digest of each record."""

    def __init__(self, text: str, machine: str) -> None:
        """One that cannot be read counts as the first: what is sent twice changes nothing.

        A machine that got another id counts anew.
        """
        self._machine = machine
        sender, _, rest = text.partition(":")
        number, _, digests = rest.partition(":")
        self._number = int(number) if number.isdecimal() and sender == machine else 0
        try:
            data = base64.b64decode(digests, validate=True)
        except (binascii.Error, ValueError):
            data = b""
        parts = range(0, len(data), _DIGEST_BYTES)
        self._sent = [data[start : start + _DIGEST_BYTES] for start in parts]

    def take(self, records: Iterable[AnyRecord]) -> list[AnyRecord]:
        """Return the records that were not sent, numbered, and count them as sent."""
        sent = set(self._sent)
        new: list[AnyRecord] = []
        for record in records:
            digest = hashlib.sha256(encode(record)).digest()[:_DIGEST_BYTES]
            if digest not in sent:
                sent.add(digest)
                self._sent.append(digest)
                self._number += 1
                new.append(replace(record, machine=self._machine, machine_number=self._number))
        return new

    def __str__(self) -> str:
        return f"{self._machine}:{self._number}:{base64.b64encode(b''.join(self._sent)).decode()}"


def batch_of(records: Iterable[AnyRecord], cursor: str, machine: str) -> Batch:
    """Return the records that a cursor does not cover, in the name of a machine."""
    known = Cursor(cursor, machine)
    new = known.take(records)
    return Batch([Item(record.at, encode(record)) for record in new], str(known))


def own_records(state: SessionState, snapshots: Iterable[ContextSnapshot]) -> Iterator[AnyRecord]:
    """Yield everything that was recorded here."""
    made = list(_made_here(state, snapshots))
    if made or not state.header.machines:
        # Whoever goes on with a session tells how it began: no other machine has to be heard first.
        yield _beginning(state.header)
    yield from made


def _made_here(state: SessionState, snapshots: Iterable[ContextSnapshot]) -> Iterator[AnyRecord]:
    for message in state.messages():
        if not message.machine and _travels(message):
            yield MessageAdded(at=message.timestamp, message=message)
    for call in state.tool_calls:
        if not call.machine and not call.file:
            yield ToolCallAdded(at=call.timestamp, tool_call=call)
    header = state.header
    values = shared_fields(header)
    for change in header.changes:
        if not change.machine:
            kind = MetadataChanged if change.name in METADATA_FIELDS else SessionChanged
            yield kind(at=change.at, fields={change.name: values[change.name]})
    elsewhere = {(each.number, each.at) for line in header.machines for each in line.compressions}
    for entry in header.metadata.compression_history:
        if (entry.number, entry.at) not in elsewhere:
            yield Compressed(at=entry.at, compression=entry)
    for snapshot in snapshots:
        yield SnapshotArrived(at=snapshot.timestamp, snapshot=without_messages(snapshot, state))


def _beginning(header: Session) -> Created:
    """Return how a session began, without what belongs to the context of one machine."""
    metadata = Metadata(pins=header.metadata.pins, goals=header.metadata.goals)
    session = replace(
        header,
        last_activity=header.start_time,
        metadata=metadata,
        head=None,
        items_asked=0,
        journal_seq=0,
        machines=(),
        changes=(),
        visiting=True,
    )
    return Created(at=header.start_time, session=session)


def without_messages(snapshot: ContextSnapshot, state: SessionState) -> dict[str, object]:
    """Return a snapshot with the ids of the messages that its session has."""
    tree = to_tree(snapshot)
    for name in ("userMessages", "messages"):
        tree[name] = [each["id"] if _is_sent(each, state) else each for each in tree[name]]
    return tree


def _is_sent(message: dict[str, Any], state: SessionState) -> bool:
    """Whether a message travels by itself, just as it is here."""
    if message["id"] not in state:
        return False
    found = state[message["id"]]
    return _travels(found) and to_tree(found) == message


def _travels(message: Message) -> bool:
    """Whether a message is whole: one that is being written is sent when it is finished."""
    return message.status != "streaming" and not message.file
