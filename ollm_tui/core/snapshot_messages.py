"""The messages of a snapshot, which are nearly all of its bytes: each is encoded once, not for
every snapshot, and not decoded where the session at hand still has it word for word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Protocol

from msgspec.structs import replace

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.message import Message
from ollm_tui.core.snapshot import ContextSnapshot, held_of
from ollm_tui.core.snapshot_encoding import (
    decode_plain,
    decode_snapshot,
    encode_plain,
    encode_snapshot,
)

_USERS = b',"userMessages":['
_OTHERS = b'],"archivedUserMessages":[],"messages":['
_GOALS = b'],"goalStack":{'
"""As they are written. No text holds them, its quotes would be escaped; and what is written in
another way is read in full."""
_TOGETHER = 128
"""Messages that are written or compared at once: about 128 KB, which takes no fresh memory."""


class KnownMessages(Protocol):
    """Messages by their ids, as a session has them."""

    def __contains__(self, message_id: object, /) -> bool:
        """Whether there is this one."""
        ...

    def __getitem__(self, message_id: str, /) -> Message:
        """This one."""
        ...


class MessageBytes:
    """Messages as they stand in a snapshot. Those asked for last are kept, no others."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Message, bytes]] = {}

    def of(self, users: tuple[Message, ...], others: tuple[Message, ...]) -> Iterator[bytes] | None:
        """What stands in a snapshot from its first message to the last, in pieces.

        None if only the tolerant way can write one of them.
        """
        kept: dict[str, tuple[Message, bytes]] = {}
        written: list[bytes] = []
        for message in (*users, *others):
            entry = self._kept.get(message.id)
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
    """The bytes that `encode_snapshot` gives, in pieces, sooner where messages were written."""
    messages = written.of(snapshot.user_messages, snapshot.messages)
    rest = encode_plain(replace(snapshot, user_messages=(), messages=()))
    if messages and rest:
        before, between, after = rest.partition(_USERS + _OTHERS)
        if between:
            return chain([before, _USERS], messages, [after])
    return [encode_snapshot(snapshot)]


def decode_with(data: bytes, known: KnownMessages, written: MessageBytes) -> ContextSnapshot:
    """The same snapshot as `decode_snapshot` gives, sooner where its messages are known.

    CannotDecode if the bytes are none.
    """
    try:
        return _decode_around(data, known, written) or decode_snapshot(data)
    except CannotDecode:
        return decode_snapshot(data)  # the tolerant way


def _decode_around(
    data: bytes, known: KnownMessages, written: MessageBytes
) -> ContextSnapshot | None:
    """None if its messages are not those that are known."""
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
    """Some at a time, with the commas between them."""
    if messages:
        yield b",".join(messages[:_TOGETHER])
    for start in range(_TOGETHER, len(messages), _TOGETHER):
        yield b",".join((b"", *messages[start : start + _TOGETHER]))
