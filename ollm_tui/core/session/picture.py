"""What is known of a picture without decoding it: its width and height, and what it costs."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

PICTURE_TOKENS = 1600
"""About the most that common models take for one picture."""
_KEPT = 16
"""Pictures whose size is remembered: a prompt asks for it with every key."""
_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""The markers of a JPEG that are followed by its size."""


class PictureSize(NamedTuple):
    """Pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}×{self.height}"


@lru_cache(maxsize=_KEPT)
def picture_size(content: str) -> PictureSize | None:
    """Return the size of a PNG, JPEG, GIF or WebP given in base64; None if that cannot be told."""
    try:
        data = base64.b64decode(content)
    except (binascii.Error, ValueError):
        return None
    found = next(_sizes(data), None)
    return found if found and found.width and found.height else None


def _sizes(data: bytes) -> Iterator[PictureSize]:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        yield _pair(data[16:20], data[20:24], "big")
    elif data.startswith(b"GIF8") and len(data) >= 10:
        yield _pair(data[6:8], data[8:10], "little")
    elif data.startswith(b"RIFF") and len(data) >= 30:
        yield from _webp(data)
    elif data.startswith(b"\xff\xd8"):
        yield from _jpeg(data)


def _jpeg(data: bytes) -> Iterator[PictureSize]:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in _SIZES:
            height, width = data[at + 5 : at + 7], data[at + 7 : at + 9]
            yield _pair(width, height, "big")
        at += 2 + max(length, 2)


def _webp(data: bytes) -> Iterator[PictureSize]:
    kind = data[12:16]
    if kind == b"VP8X":
        size = _pair(data[24:27], data[27:30], "little")
        yield PictureSize(size.width + 1, size.height + 1)
    elif kind == b"VP8 ":
        size = _pair(data[26:28], data[28:30], "little")
        yield PictureSize(size.width & 0x3FFF, size.height & 0x3FFF)
    elif kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        yield PictureSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)


def _pair(width: bytes, height: bytes, order: Literal["big", "little"]) -> PictureSize:
    return PictureSize(int.from_bytes(width, order), int.from_bytes(height, order))
