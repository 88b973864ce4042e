"""Amazon's binary event stream: frames with headers, a payload and checksums."""

from __future__ import annotations

import struct
from typing import NamedTuple
from zlib import crc32

from ollm_tui.providers.wire.json_lines import MAX_LINE_BYTES, UnreadableError

_PRELUDE = struct.Struct(">III")
_STRING = 7
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of the values of headers, by their type; texts and bytes say their own."""


class Frame(NamedTuple):
    """One message of the stream."""

    headers: dict[str, str]
    """Only those that are texts."""
    payload: bytes


class FrameReader:
    """Reads frames from bytes that arrive in any pieces."""

    def __init__(self) -> None:
        self._data = bytearray()

    @property
    def is_empty(self) -> bool:
        """Whether nothing of a further frame has arrived."""
        return not self._data

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that a piece completes. UnreadableError if a checksum is wrong."""
        self._data += piece
        frames: list[Frame] = []
        while len(self._data) >= _PRELUDE.size:
            total, headers, checksum = _PRELUDE.unpack_from(self._data)
            if checksum != crc32(self._data[:8]) or not 16 + headers <= total <= MAX_LINE_BYTES:
                raise UnreadableError("a frame with a wrong length")
            if len(self._data) < total:
                break
            whole = bytes(self._data[:total])
            del self._data[:total]
            if crc32(whole[:-4]) != int.from_bytes(whole[-4:], "big"):
                raise UnreadableError("a frame with a wrong checksum")
            named = _headers(whole[_PRELUDE.size : _PRELUDE.size + headers])
            frames.append(Frame(named, whole[_PRELUDE.size + headers : -4]))
        return frames


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    place = 0
    try:
        while place < len(data):
            name_end = place + 1 + data[place]
            name, kind = data[place + 1 : name_end].decode(), data[name_end]
            place = name_end + 1
            if kind in _SIZES:
                place += _SIZES[kind]
                continue
            size = int.from_bytes(data[place : place + 2], "big")
            value = data[place + 2 : place + 2 + size]
            place += 2 + size
            if kind == _STRING:
                found[name] = value.decode()
    except (IndexError, UnicodeDecodeError) as error:
        raise UnreadableError("a frame with broken headers") from error
    return found
