"""The last bytes of a stream, at their absolute offsets, however long the stream is."""

from __future__ import annotations

from ollm_tui.core.job import StreamPart

TAIL_BYTES = 1024 * 1024
SLACK_BYTES = 256 * 1024
"""Kept beyond that for a moment: cutting at every read of a flood would move the tail each time."""


class OutputTail:
    """Keeps the last bytes; `total` counts all that ever came."""

    def __init__(self, most: int = TAIL_BYTES) -> None:
        self._most = most
        self._kept = bytearray()
        self.total = 0
        self._forgotten = False

    def add(self, data: bytes) -> None:
        """More of the stream."""
        self.total += len(data)
        if self._forgotten:
            return
        self._kept += data
        if len(self._kept) > self._most + SLACK_BYTES:
            del self._kept[: -self._most]

    def read(self, start: int = 0) -> StreamPart:
        """The bytes from an absolute offset on, as far as they are kept."""
        first = self.total - self.kept
        begin = min(max(start, first), self.total)
        at = len(self._kept) - (self.total - begin)
        data = bytes(memoryview(self._kept)[at:]) if begin < self.total else b""
        return StreamPart(begin, data, start < first)

    @property
    def kept(self) -> int:
        """How many bytes can be read."""
        return min(len(self._kept), self._most)

    @property
    def truncated(self) -> bool:
        """Whether the first bytes of the stream can no longer be read."""
        return self.kept < self.total

    def forget(self) -> None:
        """Drop what is kept; the offsets stay."""
        self._kept = bytearray()
        self._forgotten = True

    def settle(self) -> None:
        """The stream has ended: give back the memory that was only there for speed."""
        if len(self._kept) > self._most:
            del self._kept[: -self._most]
        self._kept = bytearray(self._kept)
