"""Segments: what a machine sent at a time, sealed session by session, as one blob of a branch."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ollm_tui.services.sync.remote_key import RemoteKey
from ollm_tui.storage.files.cipher import AesGcm, CannotOpenError

MOST_PLAIN = 256_000_000
"""Bytes of one frame when it is unpacked; more is not taken from a remote."""
_NAME = re.compile(r"(\d{7})-(\d{7})")


class Place(NamedTuple):
    """Where a segment is; it opens only there."""

    machine: str
    month: str
    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.first:07d}-{self.last:07d}"

    def __str__(self) -> str:
        return f"{self.machine}/{self.month}/{self.name}"


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """What one session has in a segment."""

    hash: bytes
    sealed: bytes


class Segment(msgspec.Struct, frozen=True, array_like=True):
    """A blob of a branch: its link to the others, sealed by the remote's key, and its frames."""

    link: bytes
    frames: list[Frame]


class Link(msgspec.Struct, frozen=True, array_like=True):
    """The hash over all segments before this one, and that over this one too."""

    before: bytes
    after: bytes


class Talk(msgspec.Struct, frozen=True, array_like=True):
    """What a frame holds when it is open."""

    session_id: str
    items: list[bytes]


class CannotRead(Exception):
    """A segment or frame is damaged, or was not written by a machine of the user's."""


def place_of(machine: str, month: str, name: str) -> Place | None:
    """Return the place of a file of a branch; None if it is no segment."""
    match = _NAME.fullmatch(name)
    if match is None or int(match[1]) > int(match[2]) or not int(match[1]):
        return None
    return Place(machine, month, int(match[1]), int(match[2]))


def sealed_frame(talk: Talk, hash_: bytes, place: Place, cipher: AesGcm) -> Frame:
    """Seal what a session has to say at a place. Compressed first: ciphertext cannot be."""
    packed = zlib.compress(msgspec.msgpack.encode(talk))
    return Frame(hash_, cipher.encrypt(packed, f"{place}/{hash_.hex()}"))


def opened_frame(frame: Frame, place: Place, cipher: AesGcm) -> Talk:
    """Open a frame. CannotRead."""
    try:
        packed = cipher.decrypt(frame.sealed, f"{place}/{frame.hash.hex()}")
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(packed, MOST_PLAIN)
        if unpacking.unconsumed_tail:
            raise CannotRead("it is too large")
        return msgspec.msgpack.decode(data, type=Talk)
    except (CannotOpenError, zlib.error, msgspec.MsgspecError) as error:
        raise CannotRead(str(error)) from error


def encoded(
    frames: list[Frame], before: bytes, place: Place, key: RemoteKey
) -> tuple[bytes, bytes]:
    """Return the blob of new frames, and the hash over all segments up to it."""
    content = hashlib.sha256(before)
    for frame in frames:
        content.update(frame.sealed)
    return _blob(frames, Link(before, content.digest()), place, key), content.digest()


def joined(frames: list[Frame], links: Sequence[Link], place: Place, key: RemoteKey) -> bytes:
    """Return the blob that takes the place of several segments in a row."""
    return _blob(frames, Link(links[0].before, links[-1].after), place, key)


def decoded(blob: bytes, place: Place, key: RemoteKey) -> tuple[Segment, Link]:
    """Read a blob. CannotRead if no machine of the user's wrote it for this place."""
    try:
        segment = msgspec.msgpack.decode(blob, type=Segment)
        link = msgspec.msgpack.decode(key.open(segment.link, f"link/{place}"), type=Link)
    except (CannotOpenError, msgspec.MsgspecError) as error:
        raise CannotRead(str(error)) from error
    return segment, link


def _blob(frames: list[Frame], link: Link, place: Place, key: RemoteKey) -> bytes:
    sealed = key.seal(msgspec.msgpack.encode(link), f"link/{place}")
    return msgspec.msgpack.encode(Segment(sealed, frames))
