"""Reading the header of a GGUF model file: facts about the model, and its vocabulary."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import BYTE_LEVEL, Vocabulary

# Numbers of the GGUF format: kinds of values, the bytes each takes, and how integers are packed.
_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_INTEGER = 5
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_INTEGERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_LENGTH = struct.Struct("<Q")
_PREFIX = "tokenizer.ggml."
_MAX_ENTRIES = 100_000
_MAX_STRING_BYTES = 1 << 20
_MAX_ARRAY_LENGTH = 1 << 32
"""More of anything means a damaged file; without limits it could claim any amount of memory."""


class ModelHeader(msgspec.Struct, frozen=True):
    """What a model file says about itself; None where it says nothing."""

    architecture: str | None = None
    parameters: str | None = None
    max_window: int | None = None
    window_bytes_per_token: int | None = None
    """Memory that each token of the window takes."""


def read_header(path: Path) -> ModelHeader:
    """Read the header of `path`. Unavailable if it is not a whole GGUF header."""
    try:
        with path.open("rb") as file:
            values = _read_values(file)
    except OSError as error:
        raise Unavailable(f"{path.name} cannot be read: {error.strerror}") from error
    except (ValueError, struct.error) as error:
        raise Unavailable(
            f"{path.name} is not a model file or is damaged",
            "pull it again",
        ) from error
    architecture = _text(values.get("general.architecture"))
    window = values.get(f"{architecture}.context_length")
    return ModelHeader(
        architecture=architecture,
        parameters=_text(values.get("general.size_label")),
        max_window=window if isinstance(window, int) and window > 0 else None,
        window_bytes_per_token=_cache_bytes(values, architecture or ""),
    )


def _cache_bytes(values: Mapping[str, str | int], architecture: str) -> int | None:
    """Return the memory of one token in the window: a key and a value of 16 bits in each layer."""

    def number(name: str) -> int:
        value = values.get(f"{architecture}.{name}")
        return value if isinstance(value, int) and value > 0 else 0

    heads = number("attention.head_count")
    cached = number("attention.head_count_kv") or heads
    width = number("embedding_length") // heads if heads else 0
    key = number("attention.key_length") or width
    value = number("attention.value_length") or width
    return number("block_count") * cached * (key + value) * 2 or None


def read_vocabulary(path: Path) -> Vocabulary | None:
    """Read the vocabulary of a model file; None if tokens cannot be counted with it."""
    try:
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return _Header(data).vocabulary()
    except (OSError, ValueError, KeyError, struct.error):
        return None


class _Header:
    """Reads a mapped header from its beginning on. ValueError if it is damaged."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._position = 0

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
                break  # the merges that follow are long and not needed
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
        end = self._position + length
        if end > len(self._data):
            raise ValueError("the file ends too early")
        taken = self._data[self._position : end]
        self._position = end
        return taken


def _text(value: str | int | None) -> str | None:
    """Return the printable characters of a text: it is shown in a terminal."""
    if not isinstance(value, str):
        return None
    return "".join(character for character in value if character.isprintable()) or None


def _read_values(file: BinaryIO) -> dict[str, str | int]:
    if file.read(4) != _MAGIC:
        raise ValueError("wrong magic")
    _version, _tensors, entries = struct.unpack("<IQQ", file.read(20))
    if entries > _MAX_ENTRIES:
        raise ValueError("too many entries")
    values: dict[str, str | int] = {}
    for _ in range(entries):
        key = _read_string(file)
        if key.startswith("tokenizer."):
            # The vocabulary comes last and takes longer to read than all the rest.
            break
        value = _read_value(file, _read_number(file, "<I"))
        if value is not None:
            values[key] = value
    return values


def _read_value(file: BinaryIO, kind: int) -> str | int | None:
    """Read one value; kinds that are not used are skipped and give None."""
    if kind == _STRING:
        return _read_string(file)
    if kind == _ARRAY:
        _skip_array(file)
        return None
    if kind in _INTEGERS:
        return _read_number(file, _INTEGERS[kind])
    file.seek(_size_of(kind), 1)
    return None


def _skip_array(file: BinaryIO) -> None:
    kind, length = _read_number(file, "<I"), _read_number(file, "<Q")
    if length > _MAX_ARRAY_LENGTH:
        raise ValueError("array too long")
    if kind == _STRING:
        for _ in range(length):
            _read_string(file)
    else:
        file.seek(_size_of(kind) * length, 1)


def _size_of(kind: int) -> int:
    if kind not in _SIZES:
        raise ValueError(f"unknown kind {kind}")
    return _SIZES[kind]


def _read_number(file: BinaryIO, form: str) -> int:
    number: int
    (number,) = struct.unpack(form, file.read(struct.calcsize(form)))
    return number


def _read_string(file: BinaryIO) -> str:
    length = _read_number(file, "<Q")
    if length > _MAX_STRING_BYTES:
        raise ValueError("string too long")
    data = file.read(length)
    if len(data) != length:
        raise ValueError("the file ends in the middle of a string")
    return data.decode("utf-8", errors="replace")
