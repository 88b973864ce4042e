"""What the program and its counting process say to each other over a pair of pipes.

Each message is MessagePack after its length in four bytes. Every request gets one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

import msgspec

from ollm_tui.core.provider import Vocabulary

_LENGTH_BYTES = 4


class Learn(msgspec.Struct, frozen=True, tag=True):
    """Asks to load a model's own vocabulary under a name; the answer is whether it can be used."""

    name: str
    vocabulary: Vocabulary


class CountTexts(msgspec.Struct, frozen=True, tag=True):
    """Asks for the tokens of texts; the answer is None if no vocabulary of that name is known."""

    name: str
    texts: Sequence[str]


Request = Learn | CountTexts
Answer = bool | list[int] | None


def send(pipe: IO[bytes], message: Request | Answer) -> None:
    """Write one message. OSError if the other side has ended."""
    data = msgspec.msgpack.encode(message)
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes:
    """Read one message, still encoded. EOFError if the other side has ended."""
    size = int.from_bytes(_exactly(pipe, _LENGTH_BYTES), "big")
    return _exactly(pipe, size)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data
