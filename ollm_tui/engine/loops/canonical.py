"""Digests of calls: equal for equal arguments, however deeply nested and in whatever order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import cast

DIGEST_BYTES = 16
SHORT_TEXT = 400
"""Characters up to which numbers in a text count as positions; a longer text is content."""

_NUMBER = re.compile(r"(?<![A-Za-z_./])-?\d+(?:\.\d+)?(?![\w]*\.\w)")
"""A number by itself, as in `sed -n '1,80p'`; not the 2 of chapter2.txt."""


def call_digest(name: str, args: object) -> str:
    """Return a digest that is equal for calls with equal arguments."""
    return _digest(name, args, _leaf)


def shape_digest(name: str, args: object) -> str:
    """Return a digest that is equal for calls that differ only in numbers: pages of a file."""
    return _digest(name, args, _leaf_without_numbers)


def text_digest(text: str) -> str:
    """Return a digest of a text."""
    encoded = text.encode("utf-8", "surrogatepass")
    return blake2b(encoded, digest_size=DIGEST_BYTES).hexdigest()


def _digest(name: str, args: object, leaf: Callable[[object], bytes]) -> str:
    """Return a digest of a call, with each plain value encoded by `leaf`."""
    hashed = blake2b(digest_size=DIGEST_BYTES)
    hashed.update(_leaf(name))
    # Without recursion: a model may nest arguments deeper than the interpreter allows.
    waiting: list[object] = [args]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            items = cast("Mapping[object, object]", value).items()
            hashed.update(b"{%d," % len(items))
            for key, inner in sorted(items, key=_by_key):
                hashed.update(_leaf(key))
                waiting.append(inner)
        elif isinstance(value, list | tuple):
            entries = cast("Sequence[object]", value)
            hashed.update(b"[%d," % len(entries))
            waiting.extend(entries)
        else:
            hashed.update(leaf(value))
    return hashed.hexdigest()


def _by_key(item: tuple[object, object]) -> str:
    return str(item[0])


def _leaf(value: object) -> bytes:
    """Encode a plain value unambiguously: kinds have a letter, texts their length."""
    if isinstance(value, str):
        encoded = value.encode("utf-8", "surrogatepass")
        return b"s%d," % len(encoded) + encoded
    if isinstance(value, bool) or value is None:
        return f"b{value},".encode()
    # JSON knows one kind of number: 5 and 5.0 are the same argument.
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return f"n{int(value):x},".encode()
    return f"o{value!r},".encode("utf-8", "surrogatepass")


def _leaf_without_numbers(value: object) -> bytes:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return b"n,"
    if isinstance(value, str) and len(value) <= SHORT_TEXT:
        return _leaf(_NUMBER.sub("0", value))
    return _leaf(value)
