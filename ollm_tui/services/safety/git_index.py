"""The names of files in the index of git, read without running git."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha1
from struct import unpack

_START = 12
"""Bytes before the first entry: a mark, the version and the number of entries."""
_FIXED = 62
"""Bytes of an entry before its name."""
_EXTENDED = 0x4000
"""A flag of an entry with two more bytes."""


def indexed_names(index: bytes) -> Iterator[str]:
    """The paths in an index. ValueError if it is of a kind that is not known."""
    if index[:4] != b"DIRC" or sha1(index[:-20]).digest() != index[-20:]:
        raise ValueError("not an index with the usual sum")
    version, count = unpack(">II", index[4:_START])
    if version not in (2, 3):
        raise ValueError(f"version {version}")
    at = _START
    for _ in range(count):
        start = (
            at + _FIXED + (2 if unpack(">H", index[at + 60 : at + _FIXED])[0] & _EXTENDED else 0)
        )
        end = index.index(b"\0", start)
        yield index[start:end].decode("utf-8", "surrogateescape")
        at += (end - at) // 8 * 8 + 8
