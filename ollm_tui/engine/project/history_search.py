"""Everything ever said, as a front end with an event loop searches it."""

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
from ollm_tui.services.search.snippets import recall_query, terms_in
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.services.topic import Topic
from ollm_tui.storage.sessions.session_store import SessionStore

if TYPE_CHECKING:
    from ollm_tui.services.search.searching import HistorySearch


PASSAGE = SnippetRoom(characters=1200, before=300, lines_before=6, lines_after=24)
LOOKED_AT = 60
"""Hits among which the best are chosen."""
MOST = 20
WITHIN_SECONDS = 2.0
"""A message is not kept waiting any longer by what may be of help."""
PATIENCE_SECONDS = 5.0
"""Who asks for passages waits so long for a server that compares what they mean."""
COMPARED = 24
COMPARED_CHARACTERS = 600
"""So much of so many passages is compared: small servers read a few hundred tokens a second, and
many models of vectors take 512 at a time."""
COVERED = 0.5
"""The share of the telling words that a passage needs to be taken unasked."""

Embed = Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]]
"""Turns texts into vectors that lie near each other where the texts mean something alike."""

log = logging.getLogger(__name__)


class Passage(NamedTuple):
    """A piece of an earlier message, where it is from, and about what it costs."""

    session_id: str
    title: str
    message_id: str
    role: Role
    timestamp: str
    text: str
    tokens: int
    covered: float
    """The share of the words that were looked for that stand in it."""

    @property
    def retrieval(self) -> Retrieval:
        """The part of a message that carries it."""
        return Retrieval(text=self.text, session_id=self.session_id, message_id=self.message_id)

    @property
    def message(self) -> Message:
        """A message that says no more than this."""
        return Message(self.message_id, self.role, (Text(self.text),), self.timestamp)


class Recall:
    """Finds passages; where there is an `embed`, those that mean something alike come first."""

    def __init__(self, history: History, budget: int, embed: Embed | None = None) -> None:
        self._history = history
        self.budget = budget
        """The most tokens that all passages of a message may take."""
        self._embed = embed

    async def passages(
        self, words: str, but: str | None = None, patience: float = PATIENCE_SECONDS
    ) -> list[Passage]:
        """What was said about the same things, the best first; nothing of one session, if that
        is wanted. StoreError, or UsageError where the setting names nobody who makes vectors.
        """
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
        """In a better order, or as they are where the server fails or takes too long."""
        try:
            async with asyncio.timeout(patience):
                return await _ranked(found, words, embed)
        except (ProviderError, TimeoutError) as error:
            log.warning("passages are in the order of their words", exc_info=error)
            return found

    async def for_prompt(self, words: str, but: str) -> tuple[Retrieval, ...]:
        """What goes along with a message by itself, within the budget; nothing if that fails."""
        try:
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


def _passage(session: SessionHits, hit: Hit, covered: float) -> Passage:
    text = hit.snippet.text
    tokens = round(careful_estimate(text))
    return Passage(*hit[:1], session.title, *hit[1:4], text, tokens, covered)


async def _ranked(found: list[Passage], words: str, embed: Embed) -> list[Passage]:
    """By both ranks together: 1/(60 + place) in each, added up, as is usual."""
    compared = [passage.text[:COMPARED_CHARACTERS] for passage in found[:COMPARED]]
    wanted, *others = await embed([words[:COMPARED_CHARACTERS], *compared])
    alike = [_likeness(wanted, other) for other in others]
    nearest = sorted(range(len(alike)), key=lambda at: -alike[at])
    scores = {at: 1 / (60 + at) for at in range(len(found))}
    for place, at in enumerate(nearest):
        scores[at] += 1 / (60 + place)
    return [found[at] for at in sorted(scores, key=lambda at: -scores[at])]


def _likeness(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = sum(x * x for x in one) * sum(x * x for x in other)
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths**0.5 if lengths else 0.0


R = TypeVar("R")


class History:
    """Searches one store in threads of its own. A new search ends the one before.

    The index is made from the session files when it is first refreshed; `feed` keeps it near
    what is recorded here.
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
        """`embed` puts what is recalled into a better order."""
        self._store = store
        self._saving = saving
        self._most = most
        self._recall_tokens = recall_tokens
        self._embed = embed
        self._refreshing: asyncio.Task[None] | None = None
        self.progress: Topic[IndexProgress] = Topic()
        """While sessions are read into the index."""

    @cached_property
    def recall(self) -> Recall:
        """Passages for the model to read along."""
        return Recall(self, self._recall_tokens, self._embed)

    def feed(self) -> None:
        """From now on take in what is recorded, a little later and in the background."""
        _ = self._index

    async def refresh(self) -> None:
        """Make the index say what the files say. StoreError.

        It goes on when nobody waits any more; whoever asks meanwhile waits for the same work.
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
        """What is found: at once, and again where looking longer finds more. StoreError."""
        self.cancel()
        limit = most or self._most
        found = self._index.search(query, limit=limit, order=order, room=room)
        while results := await self._in_thread(partial(next, found, None)):
            yield results

    async def overview(self, query: Query, where: Where = "words") -> Overview | None:
        """All that is found, by days; None if another search has begun. StoreError."""
        return await self._in_thread(partial(self._index.overview, query, where))

    async def activity(self) -> tuple[Activity, ...]:
        """What was said day by day, the first one first, by models. StoreError."""
        return await self._in_thread(self._index.activity)

    def cancel(self) -> None:
        """Nobody waits for the last search any more."""
        if "_index" in self.__dict__:
            self._index.cancel()

    async def close(self) -> None:
        """Stop feeding and let go of the index; what is not in it yet is the next time."""
        if "_index" not in self.__dict__:
            return
        await asyncio.to_thread(self._index.close)
        self._thread.shutdown(wait=False)

    async def _refresh(self) -> None:
        loop = asyncio.get_running_loop()

        def tell(done: int, total: int) -> None:
            loop.call_soon_threadsafe(self.progress.publish, IndexProgress(done, total))

        await _told(asyncio.to_thread(self._index.refresh, tell))

    async def _in_thread(self, work: Callable[[], R]) -> R:
        """In the order they were asked for; one that nobody waits for is not begun."""
        loop = asyncio.get_running_loop()
        return await _told(loop.run_in_executor(self._thread, work))

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="ollm-search")

    @cached_property
    def _index(self) -> HistorySearch:
        # Loaded when first asked for: a front end that only answers needs none of it.
        from ollm_tui.services.search.searching import HistorySearch

        return HistorySearch(self._store, self._saving)


async def _told(work: Awaitable[R]) -> R:
    """The answer; what the disk refuses is a StoreError."""
    try:
        return await work
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "free some space or mend the directory; ollm doctor looks at it"
        raise StoreError(f"the history cannot be searched: {reason}", hint) from error
