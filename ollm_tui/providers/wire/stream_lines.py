"""Bytes of a streamed answer as lines, server-sent events and JSON.

Lines end at \\n and nowhere else: `httpx.Response.aiter_lines` also cuts at U+2028, U+2029
and U+0085, which may stand unescaped inside JSON.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

MAX_LINE_BYTES = 32 * 1024 * 1024


class UnreadableError(ValueError):
    """Bytes that are not what the protocol promises; the text says what is wrong."""


class LineSplitter:
    """Cuts a stream of byte chunks into lines; \\r\\n counts as \\n."""

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes. UnreadableError if one grows past the limit."""
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        for piece in ended:
            self._add(piece)
            lines.append(self._take())
        self._add(rest)
        return lines

    def finish(self) -> list[bytes]:
        """The last line, where the stream did not end with a line end."""
        return [self._take()] if self._size else []

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise UnreadableError(f"a line of more than {self._max_bytes} bytes")
        if piece:
            self._pieces.append(piece)

    def _take(self) -> bytes:
        line = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        return line.removesuffix(b"\r")


class EventReader:
    """The data of server-sent events, from lines.

    Comments and other fields are passed over. An `error:` field, which llama.cpp has used,
    counts as data, and so does an event that the end of the stream cuts short.
    """

    def __init__(self) -> None:
        self._data: list[bytes] = []

    def feed(self, line: bytes) -> bytes | None:
        """The data of the event that this line ends."""
        if not line:
            return self.finish()
        field, _, value = line.partition(b":")
        if field in (b"data", b"error"):
            self._data.append(value.removeprefix(b" "))
        return None

    def finish(self) -> bytes | None:
        """The data of an event that nothing ended."""
        data = b"\n".join(self._data)
        self._data.clear()
        return data or None


def decode_json(data: bytes | str) -> Any:
    """JSON as plain values, fit to be written again. UnreadableError if it is none."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _decode_tolerantly(data)


def _decode_tolerantly(data: bytes | str) -> Any:
    """Broken UTF-8 and halves of surrogate pairs become U+FFFD, the rest stays readable."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:
        plain = json.dumps(json.loads(text), ensure_ascii=False)
        return json.loads(plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except (ValueError, RecursionError) as error:
        raise UnreadableError("broken JSON") from error
