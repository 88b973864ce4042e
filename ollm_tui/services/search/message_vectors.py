"""The vectors of an index of messages: which are missing, what is made of them, what is near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ollm_tui.core.search import Query
from ollm_tui.services.search.passages import pieces_of
from ollm_tui.storage.search.message_index import MessageIndex
from ollm_tui.storage.search.vectors import Near, Vectors

MOST_NEAR = 100
"""How many of the messages that mean nearly the same are looked at."""


class MessageVectors:
    """The vectors beside an index; used, like it, by one thread at a time.

    OSError where the file cannot be written, and what the index raises.
    """

    def __init__(self, index: MessageIndex, index_path: Path | None) -> None:
        self._index = index
        self._vectors = Vectors(index_path)

    def model(self) -> str:
        """Return the model that made the vectors; empty if there are none."""
        return self._vectors.model()

    def missing(self, model: str) -> list[int]:
        """Return the numbers of the messages that have no vector of a model, the latest first.

        Vectors of what is no longer there are removed.
        """
        known = set[int]()
        if self._vectors.model() == model:
            self._vectors.keep(self._index.all_contents())
            known = self._vectors.known()
        said = self._index.said(("user", "assistant"))
        return [number for number, content in said if content not in known]

    def pieces(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        """Return what messages say, in pieces to make vectors of; none for what says too little."""
        messages = self._index.messages(numbers)
        pieces = {message.content: pieces_of(message.said) for message in messages}
        return {content: each for content, each in pieces.items() if each}

    def add(self, model: str, made: Mapping[int, Sequence[Sequence[float]]]) -> None:
        """Keep the vectors of messages, unless they were deleted meanwhile."""
        numbers = len(next(iter(made.values()))[0])
        self._vectors.begin(model, numbers)
        self._vectors.add(made, lambda: set(self._index.numbers_of(made, Query()).values()))

    def nearest(self, vector: Sequence[float], query: Query) -> list[Near]:
        """Return what means nearly the same and passes the filters of a query, nearest first."""
        filters = query._replace(terms=(), without=())
        among = None if filters.asks_nothing else self._index.all_contents(filters)
        return self._vectors.nearest(vector, among, MOST_NEAR)

    def messages(self, near: Sequence[Near], query: Query) -> dict[int, float]:
        """Return the messages that say these things, nearest first, and how near each is."""
        closeness = dict(near)
        contents = self._index.numbers_of(closeness, query)
        order = {content: place for place, content in enumerate(closeness)}
        nearest = sorted(contents, key=lambda number: (order[contents[number]], -number))
        return {number: closeness[contents[number]] for number in nearest}

    def release(self) -> None:
        """Give back the memory that searching took."""
        self._vectors.release()
