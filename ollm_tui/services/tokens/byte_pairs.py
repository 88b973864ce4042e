"""Byte-pair merging: from a piece of text to the tokens of a vocabulary, as models do it.

Written in Python on purpose: libraries build their tables in one step of a quarter of a second,
in which no other thread has its turn, and no key is seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush

MOST_KEPT, LONGEST_KEPT = 100_000, 64
"""Pieces that are remembered, and characters of each: words come again and again."""


class BytePairs(dict[str, tuple[int, ...]]):
    """The tokens of every piece that it is asked for by `[]`; most are known already."""

    def __init__(self, ranks: Mapping[bytes, int]) -> None:
        super().__init__()
        self._ranks = ranks

    def __missing__(self, piece: str) -> tuple[int, ...]:
        data = piece.encode("utf-8", "surrogatepass")
        whole = self._ranks.get(data)
        tokens = self._merged(data) if whole is None else (whole,)
        if len(piece) <= LONGEST_KEPT:
            if len(self) >= MOST_KEPT:
                self.clear()
            self[piece] = tokens
        return tokens

    def _merged(self, data: bytes) -> tuple[int, ...]:
        """Two neighbours become one, always those whose token is the first in the vocabulary.

        Parts are known by where they begin; `ends` is 0 for what is no beginning any more. Bytes
        that the vocabulary lacks are left out, as servers do.
        """
        rank, size = self._ranks.get, len(data)
        ends, befores = list(range(1, size + 1)), list(range(-1, size - 1))
        pairs = ((rank(data[start : start + 2]), start) for start in range(size - 1))
        waiting = [(token, start) for token, start in pairs if token is not None]
        heapify(waiting)
        while waiting:
            token, start = heappop(waiting)
            middle = ends[start]
            if not middle or middle == size or rank(data[start : ends[middle]]) != token:
                continue  # one of the two has grown meanwhile
            end = ends[start] = ends[middle]
            ends[middle] = 0
            if end < size:
                befores[end] = start
                if (after := rank(data[start : ends[end]])) is not None:
                    heappush(waiting, (after, start))
            if start and (before := rank(data[befores[start] : end])) is not None:
                heappush(waiting, (before, befores[start]))
        parts = (rank(data[start:end]) for start, end in enumerate(ends) if end)
        return tuple(token for token in parts if token is not None)
