"""The vocabulary of a GGUF model file, read from its header without the model's engine."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from ollm_tui.core.vocabulary import BYTE_LEVEL, Vocabulary

_MAGIC = b"GGUF"
_INTEGER, _STRING, _ARRAY = 5, 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_LENGTH = struct.Struct("<Q")
_PREFIX = "tokenizer.ggml."


def read_vocabulary(path: Path) -> Vocabulary | None:
    """The vocabulary of a model file; None if there is none that can be counted with."""
    try:
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return _Header(data).vocabulary()
    except (OSError, ValueError, KeyError, struct.error):
        return None


class _Header:
    """A place in a header that moves on as it is read. ValueError where it makes no sense."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._place = 0

    def vocabulary(self) -> Vocabulary | None:
        if self._take(4) != _MAGIC:
            raise ValueError("wrong magic")
        entries: int = struct.unpack("<IQQ", self._take(20))[2]
        texts: dict[str, str] = {}
        tokens: list[str] = []
        kinds: tuple[int, ...] = ()
        for _ in range(entries):
            key, kind = self._text(), self._kind()
            match key.removeprefix(_PREFIX):
                case "tokens" if kind == _ARRAY:
                    tokens = self._texts()
                case "token_type" if kind == _ARRAY:
                    kinds = self._numbers()
                case name if kind == _STRING:
                    texts[name] = self._text()
                case _:
                    self._skip(kind)
            if tokens and kinds:
                break  # every writer puts the merges after them; they are long and not needed
        if texts.get("model") != BYTE_LEVEL or len(tokens) != len(kinds):
            return None
        return Vocabulary(texts.get("pre", ""), tokens, kinds)

    def _texts(self) -> list[str]:
        kind, length = self._kind(), self._number()
        if kind != _STRING:
            raise ValueError("tokens that are no text")
        return [self._text() for _ in range(length)]

    def _numbers(self) -> tuple[int, ...]:
        kind, length = self._kind(), self._number()
        if kind != _INTEGER:
            raise ValueError("kinds that are no numbers")
        return struct.unpack(f"<{length}i", self._take(4 * length))

    def _skip(self, kind: int) -> None:
        if kind == _STRING:
            self._take(self._number())
        elif kind != _ARRAY:
            self._take(_SIZES[kind])
        else:
            kind, length = self._kind(), self._number()
            if kind == _STRING:
                for _ in range(length):
                    self._take(self._number())
            else:
                self._take(_SIZES[kind] * length)

    def _kind(self) -> int:
        return int.from_bytes(self._take(4), "little")

    def _number(self) -> int:
        number: int = _LENGTH.unpack(self._take(8))[0]
        return number

    def _text(self) -> str:
        return self._take(self._number()).decode("utf-8", errors="replace")

    def _take(self, length: int) -> bytes:
        end = self._place + length
        if end > len(self._data):
            raise ValueError("the file ends too early")
        taken = self._data[self._place : end]
        self._place = end
        return taken
