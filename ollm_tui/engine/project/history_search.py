"""The search in everything ever said, for front ends with an event loop, and the recall of
passages from earlier sessions for the prompt."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ollm_tui.core.errors import OllmError, ProviderError, StoreError
from ollm_tui.core.events import StoreEvent
from ollm_tui.core.search import (
    Activity,
    Hit,
    IndexProgress,
    Order,
    Overview,
    Query,
    Results,
    SessionHits,
    SnippetRoom,
    Where,
)
from ollm_tui.core.session.message import Message, Retrieval, Role, Text
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.services.topic import Topic
from ollm_tui.storage.sessions.session_store import SessionStore

if TYPE_CHECKING:
    from ollm_tui.services.search.searching import HistorySearch

log = logging.getLogger(__name__)

PASSAGE = SnippetRoom(characters=1200, before=300, lines_before=6, lines_after=24)
"""How much of a message a passage shows."""
LOOKED_AT = 60
"""Hits among which the best passages are chosen."""
MOST = 20
"""Passages that are returned at most."""
WITHIN_SECONDS = 2.0
"""How long a message may wait for passages that are sent along unasked."""
PATIENCE_SECONDS = 5.0
"""How long the ranking by meaning may take when the user asks for passages."""
COMPARED = 24
COMPARED_CHARACTERS = 600
"""How many passages are compared by meaning, and how much of each: small servers read a few
hundred tokens a second, and many embedding models take 512 tokens at a time."""
COVERED = 0.5
"""The share of the words looked for that a passage must contain to be sent along unasked."""

Embed = Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]]
"""Turns texts into vectors that are close to each other where the texts mean the same."""

R = TypeVar("R")


class Passage(NamedTuple):
    """A part of an earlier message, where it is from, and its estimated tokens."""

    session_id: str
    title: str
    message_id: str
    role: Role
    timestamp: str
    text: str
    tokens: int
    covered: float
    """The share of the words looked for that it contains."""

    @property
    def retrieval(self) -> Retrieval:
        """The message part that carries the passage."""
        return Retrieval(text=self.text, session_id=self.session_id, message_id=self.message_id)

    @property
    def message(self) -> Message:
        """The passage as a message of its own, for showing."""
        return Message(self.message_id, self.role, (Text(self.text),), self.timestamp)


class History:
    """Searches one store in threads. A new search ends the one before.

    The index is made from the session files when it is first refreshed; after `feed` it takes in
    what is recorded in this process.
    """

    def __init__(
        self,
        store: SessionStore,
        saving: Topic[StoreEvent],
        *,
        most: int,
        recall_tokens: int,
        embed: Embed | None = None,
    ) -> None:
        """`embed` ranks recalled passages by meaning; `most` is the default number of hits."""
        self._store = store
        self._saving = saving
        self._most = most
        self._recall_tokens = recall_tokens
        self._embed = embed
        self._refreshing: asyncio.Task[None] | None = None
        self.progress: Topic[IndexProgress] = Topic()
        """Published while sessions are read into the index."""

    @cached_property
    def recall(self) -> Recall:
        """Finds passages of earlier sessions for the model."""
        return Recall(self, self._recall_tokens, self._embed)

    def feed(self) -> None:
        """From now on take in what is recorded, a little later and in the background."""
        _ = self._index  # which subscribes to what is recorded when it is made

    async def refresh(self) -> None:
        """Bring the index up to date with the session files. StoreError.

        It goes on when nobody waits any more; a second call waits for the same work.
        """
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._refresh())
        await asyncio.shield(self._refreshing)

    async def search(
        self,
        query: Query,
        *,
        order: Order = "relevance",
        most: int | None = None,
        room: SnippetRoom | None = None,
    ) -> AsyncGenerator[Results, None]:
        """The results found at once, and again where a longer search finds more. StoreError."""
        self.cancel()
        limit = most or self._most
        found = self._index.search(query, limit=limit, order=order, room=room)
        while results := await self._in_thread(partial(next, found, None)):
            yield results

    async def overview(self, query: Query, where: Where = "words") -> Overview | None:
        """All hits by days; None if another search has begun. StoreError."""
        return await self._in_thread(partial(self._index.overview, query, where))

    async def activity(self) -> tuple[Activity, ...]:
        """How much was said each day by each model, the earliest day first. StoreError."""
        return await self._in_thread(self._index.activity)

    def cancel(self) -> None:
        """End the last search, because nobody waits for it any more."""
        # Not `self._index` at once: that would load it.
        if "_index" in self.__dict__:
            self._index.cancel()

    async def close(self) -> None:
        """Stop feeding and close the index; what it has not taken in yet it gets next time."""
        if "_index" not in self.__dict__:
            return
        await asyncio.to_thread(self._index.close)
        self._thread.shutdown(wait=False)

    async def _refresh(self) -> None:
        loop = asyncio.get_running_loop()

        def tell(done: int, total: int) -> None:
            loop.call_soon_threadsafe(self.progress.publish, IndexProgress(done, total))

        await _with_store_errors(asyncio.to_thread(self._index.refresh, tell))

    async def _in_thread(self, work: Callable[[], R]) -> R:
        """The result of some work in the one thread for searches: in order, and what nobody waits
        for any more is not begun."""
        loop = asyncio.get_running_loop()
        return await _with_store_errors(loop.run_in_executor(self._thread, work))

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="ollm-search")

    @cached_property
    def _index(self) -> HistorySearch:
        # Loaded when first asked for: a front end that only answers needs none of it.
        from ollm_tui.services.search.searching import HistorySearch

        return HistorySearch(self._store, self._saving)


class Recall:
    """Finds passages of earlier sessions; with an `embed`, those closest in meaning come first."""

    def __init__(self, history: History, budget: int, embed: Embed | None = None) -> None:
        self._history = history
        self.budget = budget
        """The most tokens that all passages of a message may take."""
        self._embed = embed

    async def passages(
        self, words: str, but: str | None = None, patience: float = PATIENCE_SECONDS
    ) -> list[Passage]:
        """The passages that have most of the words, the best first; none of the session `but`.

        StoreError if the search fails; UsageError if the provider in the settings makes no
        embeddings.
        """
        # Imported late: a front end that only answers needs none of the search.
        from ollm_tui.services.search.snippets import recall_query, terms_in

        query = recall_query(words)
        if not query.terms:
            return []
        await self._history.refresh()
        found: list[Passage] = []
        search = self._history.search(query, most=LOOKED_AT, room=PASSAGE)
        async with aclosing(search) as rounds:
            async for results in rounds:
                found = [
                    _passage(session, hit, terms_in(query, hit.snippet) / len(query.terms))
                    for session in results.sessions
                    if session.session_id != but
                    for hit in session.hits
                ]
        found.sort(key=lambda passage: -passage.covered)
        if self._embed and found:
            found = await self._by_meaning(found, words, self._embed, patience)
        return found[:MOST]

    async def _by_meaning(
        self, found: list[Passage], words: str, embed: Embed, patience: float
    ) -> list[Passage]:
        """The passages ranked by meaning too, or as they are if the server fails or takes more
        than `patience` seconds."""
        try:
            async with asyncio.timeout(patience):
                return await _ranked(found, words, embed)
        except (ProviderError, TimeoutError) as error:
            log.warning("passages are in the order of their words", exc_info=error)
            return found

    async def for_prompt(self, words: str, but: str) -> tuple[Retrieval, ...]:
        """The passages that are sent along with a message unasked, within the budget; none if the
        search fails or takes too long."""
        try:
            # Half of the time for the ranking: if that is slow, the passages are still there.
            async with asyncio.timeout(WITHIN_SECONDS):
                found = await self.passages(words, but, WITHIN_SECONDS / 2)
        except (OllmError, TimeoutError) as error:
            log.warning("nothing was recalled", exc_info=error)
            return ()
        room, chosen = self.budget, list[Retrieval]()
        for passage in found:
            if passage.covered >= COVERED and passage.tokens <= room:
                room -= passage.tokens
                chosen.append(passage.retrieval)
        return tuple(chosen)


async def _with_store_errors(work: Awaitable[R]) -> R:
    """The result of some work; an OSError becomes a StoreError."""
    try:
        return await work
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "free some space or mend the directory; ollm doctor looks at it"
        raise StoreError(f"the history cannot be searched: {reason}", hint) from error


def _passage(session: SessionHits, hit: Hit, covered: float) -> Passage:
    text = hit.snippet.text
    tokens = round(careful_estimate(text))
    return Passage(*hit[:1], session.title, *hit[1:4], text, tokens, covered)


async def _ranked(found: list[Passage], words: str, embed: Embed) -> list[Passage]:
    """Passages in the order of both ranks, by words and by meaning, joined by reciprocal rank
    fusion: 1/(60 + rank) in each, added up. 60 is the usual constant."""
    compared = [passage.text[:COMPARED_CHARACTERS] for passage in found[:COMPARED]]
    question, *others = await embed([words[:COMPARED_CHARACTERS], *compared])
    alike = [_likeness(question, other) for other in others]
    nearest = sorted(range(len(alike)), key=lambda at: -alike[at])
    scores = {at: 1 / (60 + at) for at in range(len(found))}
    for rank, at in enumerate(nearest):
        scores[at] += 1 / (60 + rank)
    return [found[at] for at in sorted(scores, key=lambda at: -scores[at])]


def _likeness(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors; 0 if one of them is zero."""
    lengths = sum(x * x for x in one) * sum(x * x for x in other)
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths**0.5 if lengths else 0.0
