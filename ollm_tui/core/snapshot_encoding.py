"""Snapshots as JSON and back; what this version does not know is kept where it was.

Messages are most of a snapshot and seldom change: their bytes are reused where possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from ollm_tui.core.session.encoding import (
    CannotDecode,
    absorb,
    encode,
    encode_plain,
    parse_json,
)
from ollm_tui.core.session.message import Message
from ollm_tui.core.snapshot import ContextSnapshot, held_of

_USERS = b',"userMessages":['
_OTHERS = b'],"archivedUserMessages":[],"messages":['
_GOALS = b'],"goalStack":{'
"""What stands around the messages, exactly as msgspec writes it. No text can contain these
bytes, since its quotes are escaped; a file that is written differently is decoded in full."""
_MESSAGES_PER_PIECE = 128
"""Messages written or compared at once: about 128 KB, which takes no fresh memory."""


class KnownMessages(Protocol):
    """Messages by their ids, as a session has them."""

    def __contains__(self, message_id: object, /) -> bool:
        """Whether the session has a message."""
        ...

    def __getitem__(self, message_id: str, /) -> Message:
        """Return a message by its id."""
        ...


def decode_snapshot(data: bytes) -> ContextSnapshot:
    """Decode a snapshot of this version. CannotDecode if the bytes are none."""
    try:
        return decode_plain(data)
    except CannotDecode:
        return snapshot_from_tree(parse_json(data))


def decode_plain(data: bytes) -> ContextSnapshot:
    """Decode a snapshot by msgspec alone. CannotDecode also if it has unknown fields."""
    try:
        return _decoder().decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise CannotDecode(str(error)) from error


def snapshot_from_tree(tree: Any) -> ContextSnapshot:
    """Make a snapshot from parsed JSON. CannotDecode if it is none."""
    try:
        return msgspec.convert(absorb(ContextSnapshot, tree), ContextSnapshot)
    except (msgspec.ValidationError, TypeError, AttributeError, RecursionError) as error:
        raise CannotDecode(str(error)) from error


def encode_snapshot(snapshot: ContextSnapshot) -> bytes:
    """Encode a snapshot as compact JSON; what was unknown when it was read is put back."""
    return encode(snapshot)


class MessageBytes:
    """Keeps the bytes of the messages that were asked for last, and no others."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Message, bytes]] = {}

    def of(self, users: tuple[Message, ...], others: tuple[Message, ...]) -> Iterator[bytes] | None:
        """Return the bytes of a snapshot from its first message to its last, in pieces.

        None if msgspec alone cannot write one of them.
        """
        kept: dict[str, tuple[Message, bytes]] = {}
        written: list[bytes] = []
        for message in (*users, *others):
            entry = self._kept.get(message.id)
            # Messages are frozen: a message that has changed is another object.
            if entry is None or entry[0] is not message:
                data = encode_plain(message)
                if data is None:
                    return None
                entry = (message, data)
            kept[message.id] = entry
            written.append(entry[1])
        self._kept = kept
        return chain(_pieces(written[: len(users)]), [_OTHERS], _pieces(written[len(users) :]))


def snapshot_chunks(snapshot: ContextSnapshot, written: MessageBytes) -> Iterable[bytes]:
    """Return the bytes of `encode_snapshot` in pieces, faster where messages are kept."""
    messages = written.of(snapshot.user_messages, snapshot.messages)
    rest = encode_plain(replace(snapshot, user_messages=(), messages=()))
    if messages and rest:
        before, between, after = rest.partition(_USERS + _OTHERS)
        if between:
            return chain([before, _USERS], messages, [after])
    return [encode_snapshot(snapshot)]


def decode_with(data: bytes, known: KnownMessages, written: MessageBytes) -> ContextSnapshot:
    """Return the same as `decode_snapshot`, faster where the messages are known.

    CannotDecode if the bytes are none.
    """
    try:
        return _decode_around(data, known, written) or decode_snapshot(data)
    except CannotDecode:
        return decode_snapshot(data)  # the tolerant way


def _decode_around(
    data: bytes, known: KnownMessages, written: MessageBytes
) -> ContextSnapshot | None:
    """Decode what stands around the messages; None if these are not the known ones."""
    begin, end = data.find(_USERS), data.rfind(_GOALS)
    if begin < 0 or end < 0:
        return None
    begin += len(_USERS)
    rest = decode_plain(data[:begin] + _OTHERS + data[end:])
    branch = [known[key] for key in rest.order if key in known]
    held = held_of(branch, rest.checkpoints, rest.pins)
    users = tuple([message for message in held if message.role == "user"])
    others = tuple([message for message in held if message.role != "user"])
    for expected in written.of(users, others) or ():
        if not data.startswith(expected, begin):
            return None
        begin += len(expected)
    return replace(rest, user_messages=users, messages=others) if begin == end else None


def _pieces(messages: list[bytes]) -> Iterator[bytes]:
    """Join some messages at a time, with commas between them."""
    if messages:
        yield b",".join(messages[:_MESSAGES_PER_PIECE])
    for start in range(_MESSAGES_PER_PIECE, len(messages), _MESSAGES_PER_PIECE):
        yield b",".join((b"", *messages[start : start + _MESSAGES_PER_PIECE]))


@cache
def _decoder() -> msgspec.json.Decoder[ContextSnapshot]:
    """Build the decoder when first needed: most runs never open a snapshot."""
    return msgspec.json.Decoder(ContextSnapshot)
