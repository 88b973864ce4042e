"""Records that come from another machine: each is checked before anything is done with it."""

from __future__ import annotations

from typing import Any, cast

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.encoding import CannotDecode, decode_record, to_tree
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
from ollm_tui.core.session.session import SCHEMA_VERSION
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.shared_record import METADATA_FIELDS, SESSION_FIELDS
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.core.snapshot_encoding import snapshot_from_tree
from ollm_tui.storage.store_layout import is_valid_name

_LONGEST_ID = 200
_LARGEST_NUMBER = 2**53
_MESSAGE_LISTS = ("userMessages", "messages")


def checked_record(data: bytes, machine: str, session_id: str) -> AnyRecord:
    """Decode a record of a machine. CannotDecode says why it cannot be taken in."""
    record = decode_record(data)
    if record.machine != machine:
        raise CannotDecode("it is in the name of another machine")
    if not record.machine_number or not 0 < record.machine_number < _LARGEST_NUMBER:
        raise CannotDecode("it has no number")
    match record:
        case Created():
            return _beginning(record, session_id)
        case MessageAdded():
            message = record.message
            _check_value(message.id, message.timestamp, in_file=message.file is not None)
        case ToolCallAdded():
            call = record.tool_call
            _check_value(call.id, call.timestamp, in_file=call.file is not None)
        case SessionChanged():
            _check_fields(record.fields, SESSION_FIELDS, record.at)
        case MetadataChanged():
            _check_fields(record.fields, METADATA_FIELDS, record.at)
        case Compressed():
            pass
        case SnapshotArrived():
            _check_snapshot(record.snapshot)
        case _:
            raise CannotDecode("it is of a kind that is not known here")
    return record


def missing_messages(record: SnapshotArrived, state: SessionState) -> bool:
    """Whether a snapshot refers to messages that have not arrived."""
    held = (each for name in _MESSAGE_LISTS for each in record.snapshot.get(name, ()))
    return any(isinstance(each, str) and each not in state for each in held)


def whole_snapshot(record: SnapshotArrived, state: SessionState) -> ContextSnapshot:
    """Return a snapshot with the messages of its session. CannotDecode if it is none."""
    tree = dict(record.snapshot)
    for name in _MESSAGE_LISTS:
        tree[name] = [
            to_tree(state[each]) if isinstance(each, str) else each for each in tree.get(name, ())
        ]
    snapshot = snapshot_from_tree(tree)
    return replace(snapshot, session_id=state.header.session_id)


def _beginning(record: Created, session_id: str) -> Created:
    session = record.session
    if session.session_id != session_id:
        raise CannotDecode("it is of another session")
    if session.schema_version > SCHEMA_VERSION:
        raise CannotDecode("it was written by a newer version of ollm")
    clean = replace(
        session,
        last_activity=session.start_time,
        messages=(),
        tool_calls=(),
        head=None,
        journal_seq=0,
        machines=(),
        changes=(),
        visiting=True,
    )
    _check_time(clean.start_time)
    return replace(record, session=clean)


def _check_value(key: str, timestamp: str, *, in_file: bool) -> None:
    if not 0 < len(key) <= _LONGEST_ID:
        raise CannotDecode("its id is empty or too long")
    # A side file is found by its name: one from elsewhere could name any of this machine.
    if in_file:
        raise CannotDecode("it names a file")
    _check_time(timestamp)


def _check_fields(fields: dict[str, Any], known: tuple[str, ...], at: str) -> None:
    if not fields or not fields.keys() <= set(known):
        raise CannotDecode("it changes what is not shared")
    # Text order has to be time order.
    if _check_time(at) != at:
        raise CannotDecode("its time is not written as usual")


def _check_snapshot(tree: dict[str, Any]) -> None:
    key = tree.get("id")
    if not isinstance(key, str) or not is_valid_name(key):
        raise CannotDecode("its snapshot has no proper id")
    _check_time(str(tree.get("timestamp")))
    # Text order has to be time order.
    if (changed := tree.get("changedAt")) and _check_time(str(changed)) != changed:
        raise CannotDecode("the time of its name is not written as usual")
    for name in _MESSAGE_LISTS:
        held = tree.get(name, [])
        if not isinstance(held, list):
            raise CannotDecode("its snapshot has no list of messages")
        for each in cast(list[Any], held):
            if isinstance(each, dict) and "file" in each:
                raise CannotDecode("its snapshot names a file")


def _check_time(text: str) -> str:
    try:
        return clock.iso(clock.parse(text))
    except (ValueError, OverflowError) as error:
        raise CannotDecode("its time is none") from error
