"""The header of a GGUF model file: what the model is called and how large its window may be."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

import msgspec

from ollm_tui.core.errors import Unavailable

_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_INTEGERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_MAX_ENTRIES = 100_000
_MAX_STRING_BYTES = 1 << 20
_MAX_ARRAY_LENGTH = 1 << 32
"""More of anything means a damaged file; without limits it could ask for any memory."""


class ModelHeader(msgspec.Struct, frozen=True):
    """What a model file says about itself; None where it says nothing."""

    architecture: str | None = None
    parameters: str | None = None
    max_window: int | None = None


def read_header(path: Path) -> ModelHeader:
    """Read the header of `path`. Unavailable if it is not a whole GGUF header."""
    try:
        with path.open("rb") as file:
            values = _read_values(file)
    except OSError as error:
        raise Unavailable(f"{path.name} cannot be read: {error.strerror}") from error
    except (ValueError, struct.error) as error:
        raise Unavailable(
            f"{path.name} is not a model file, or it is damaged",
            "a model file is a whole .gguf file; fetch it again",
        ) from error
    architecture = _text(values.get("general.architecture"))
    window = values.get(f"{architecture}.context_length")
    return ModelHeader(
        architecture=architecture,
        parameters=_text(values.get("general.size_label")),
        max_window=window if isinstance(window, int) and window > 0 else None,
    )


def _text(value: str | int | None) -> str | None:
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
            # Every writer puts the vocabulary last, and it takes longer than all the rest.
            break
        value = _read_value(file, _read_number(file, "<I"))
        if value is not None:
            values[key] = value
    return values


def _read_value(file: BinaryIO, kind: int) -> str | int | None:
    """One value; None for the kinds nobody asks for, which are skipped."""
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
