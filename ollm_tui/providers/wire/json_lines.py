"""Splitting the bytes of a streamed answer into lines, server-sent events and JSON.

Only \\n ends a line: `httpx.Response.aiter_lines` also splits at U+2028, U+2029 and U+0085,
which may stand unescaped inside JSON.
"""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

Tree = dict[str, Any]


def as_tree(value: Any) -> Tree:
    """Return a value that should be an object; an empty one if it is not."""
    return cast(Tree, value) if isinstance(value, dict) else {}


def tree_at(tree: Tree, key: str) -> Tree:
    """Return the object at a key; an empty one if there is none."""
    return as_tree(tree.get(key))


def list_at(tree: Tree, key: str) -> list[Any]:
    """Return the list at a key; an empty one if there is none."""
    value = tree.get(key)
    return cast(list[Any], value) if isinstance(value, list) else []


def trees_at(tree: Tree, key: str) -> list[Tree]:
    """Return the objects in the list at a key."""
    return [cast(Tree, item) for item in list_at(tree, key) if isinstance(item, dict)]


def text_at(tree: Tree, key: str) -> str:
    """Return the text at a key; an empty one if there is none."""
    value = tree.get(key)
    return value if isinstance(value, str) else ""


def int_at(tree: Tree, *keys: str) -> int | None:
    """Return the value of the first of these keys that holds an integer."""
    for key in keys:
        value = tree.get(key)
        # In Python, True is an int too.
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def scaled(tree: Tree, key: str, per_second: float) -> float | None:
    """Return a duration in seconds from a number of units, `per_second` of which are a second."""
    value = tree.get(key)
    return value / per_second if isinstance(value, int | float) else None


def vectors_in(value: Any) -> tuple[tuple[float, ...], ...]:
    """Return the vectors of a list of lists; none unless all are numbers and of one length."""
    rows = cast(list[Any], value) if isinstance(value, list) else []
    vectors = tuple(_vector(row) for row in rows)
    is_whole = len({len(vector) for vector in vectors}) == 1 and all(vectors)
    return vectors if is_whole else ()


def _vector(row: Any) -> tuple[float, ...]:
    numbers = cast(list[Any], row) if isinstance(row, list) else []
    if not all(isinstance(number, int | float) for number in numbers):
        return ()
    return tuple(map(float, numbers))


MAX_LINE_BYTES = 32 * 1024 * 1024


class UnreadableError(ValueError):
    """Bytes that do not follow the protocol; the text says what is wrong."""


class LineSplitter:
    """Splits a stream of byte chunks into lines; \\r\\n counts as \\n."""

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk completes. UnreadableError if one is too long."""
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        for piece in ended:
            self._add(piece)
            lines.append(self._take())
        self._add(rest)
        return lines

    def finish(self) -> list[bytes]:
        """Return the last line, if the stream did not end with a line end."""
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
    """Reads the data of server-sent events from lines.

    Comments and other fields are ignored. An `error:` field, which llama.cpp has used, counts as
    data, and so does an event that is cut short by the end of the stream.
    """

    def __init__(self) -> None:
        self._data: list[bytes] = []

    def feed(self, line: bytes) -> bytes | None:
        """Return the data of the event that this line ends; None if it ends none."""
        if not line:
            return self.finish()
        field, _, value = line.partition(b":")
        if field in (b"data", b"error"):
            self._data.append(value.removeprefix(b" "))
        return None

    def finish(self) -> bytes | None:
        """Return the data of an event that has not been ended by an empty line."""
        data = b"\n".join(self._data)
        self._data.clear()
        return data or None


def decode_json(data: bytes | str) -> Any:
    """Decode JSON into plain values that can be encoded again. UnreadableError if it is broken."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _decode_tolerantly(data)


def _decode_tolerantly(data: bytes | str) -> Any:
    """Decode JSON with U+FFFD in place of broken UTF-8 and halves of surrogate pairs."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:
        plain = json.dumps(json.loads(text), ensure_ascii=False)
        return json.loads(plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except (ValueError, RecursionError) as error:
        raise UnreadableError("broken JSON") from error
