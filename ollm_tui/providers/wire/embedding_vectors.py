"""Vectors in an answer that came from elsewhere: all of one length and of numbers, or none."""

from __future__ import annotations

from typing import Any, cast


def vectors_in(value: Any) -> tuple[tuple[float, ...], ...]:
    """The vectors of a list of lists; none where something else stands among them."""
    rows = cast(list[Any], value) if isinstance(value, list) else []
    vectors = tuple(_vector(row) for row in rows)
    is_whole = len({len(vector) for vector in vectors}) == 1 and all(vectors)
    return vectors if is_whole else ()


def _vector(row: Any) -> tuple[float, ...]:
    numbers = cast(list[Any], row) if isinstance(row, list) else []
    if not all(isinstance(number, int | float) for number in numbers):
        return ()
    return tuple(map(float, numbers))
