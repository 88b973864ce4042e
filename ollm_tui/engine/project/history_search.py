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

from ollm_tui.core.errors import OllmError, StoreError
from ollm_tui.core.events import StoreEvent
from ollm_tui.core.search import (
    Activity,
    Hit,
    IndexProgress,
    Order,
    Overview,
    Query,
    Results,
    SnippetRoom,
    Where,
    Why,
)
from ollm_tui.core.session.message import Message, Retrieval, Role, Text
from ollm_tui.engine.project.meaning import Meaning
from ollm_tui.engine.project.search_model import SearchModels
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
SOON_SECONDS = 0.05
"""How long a search waits for what its words mean before it looks for other forms of them."""
WITHIN_SECONDS = 2.0
"""How long a message may wait for passages that are sent along unasked."""
COVERED, CLOSE = 0.5, 0.5
"""The share of the words looked for that a passage must contain to be sent along unasked, or how
near its meaning must be."""
ALIKE = 0.8
"""The share of words from which two passages say the same."""

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
    closeness: float = 0.0
    """How near its meaning is, from 0 to 1; 0 where that was not compared."""
    why: Why = "words"

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
        models: SearchModels,
    ) -> None:
        """`models` finds the model that compares meanings; `most` is the default number of hits."""
        self._store = store
        self._saving = saving
        self._most = most
        self._recall_tokens = recall_tokens
        self._models = models
        self._refreshing: asyncio.Task[None] | None = None
        self.progress: Topic[IndexProgress] = Topic()
        """Published while sessions are read into the index."""

    @cached_property
    def recall(self) -> Recall:
        """Finds passages of earlier sessions for the model."""
        return Recall(self, self._recall_tokens)

    @cached_property
    def meaning(self) -> Meaning:
        """Compares what was said by meaning, where a model can."""
        return Meaning(self._models, lambda: self._index, self.refresh)

    def feed(self) -> None:
        """From now on take in what is recorded, a little later and in the background."""
        _ = self._index  # which subscribes to what is recorded when it is made
        self.meaning.wake_later()

    def release(self) -> None:
        """Give back the memory that searching took."""
        if "_index" in self.__dict__:
            self._thread.submit(self._index.release)

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
        meant: str = "",
    ) -> AsyncGenerator[Results, None]:
        """The results found at once, and again where a longer search finds more: by other forms
        of the words, inside words, by meaning. StoreError.

        `meant` is the text that the query is made of, where that says more than its words.
        """
        from ollm_tui.services.search.passages import asked_text

        self.cancel()
        limit = most or self._most
        asking = asyncio.create_task(self.meaning.vector(meant or asked_text(query)))
        try:
            find = partial(self._index.search, query, limit=limit, order=order, room=room)
            by_words = find()
            if results := await self._in_thread(partial(next, by_words, None)):
                yield results
            # A vector that comes soon makes the other searches by words superfluous.
            await asyncio.wait({asking}, timeout=SOON_SECONDS)
            if not (asking.done() and await _given(asking)):
                while results := await self._in_thread(partial(next, by_words, None)):
                    yield results
            if vector := await _given(asking):
                found = find(vector=vector)
                while results := await self._in_thread(partial(next, found, None)):
                    yield results
        finally:
            asking.cancel()

    async def overview(
        self, query: Query, where: Where = "words", others: Sequence[int] = ()
    ) -> Overview | None:
        """All hits by days; None if another search has begun. StoreError.

        `others` are the messages that a search found without having all words.
        """
        return await self._in_thread(partial(self._index.overview, query, where, others))

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
        if "meaning" in self.__dict__:
            await self.meaning.close()
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

        return HistorySearch(self._store, self._saving, self._fed())

    def _fed(self) -> Callable[[], None]:
        """Return what is called in another thread when the index took something in."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return lambda: None

        def wake() -> None:
            try:
                loop.call_soon_threadsafe(self.meaning.wake)
            except RuntimeError:
                pass  # the program ends

        return wake


class Recall:
    """Finds passages of earlier sessions, by words and by meaning."""

    def __init__(self, history: History, budget: int) -> None:
        self._history = history
        self.budget = budget
        """The most tokens that all passages of a message may take."""

    @property
    def note(self) -> str:
        """Why the last passages were found by their words alone; empty if they were not."""
        return self._history.meaning.note

    async def passages(self, words: str, but: str | None = None) -> list[Passage]:
        """The passages that answer the words best, each thing once, none of the session `but`.

        StoreError if the search fails; UsageError if the provider in the settings makes no
        embeddings.
        """
        # Imported late: a front end that only answers needs none of the search.
        from ollm_tui.services.search.passages import query_about

        query = query_about(words)
        if not query.terms:
            return []
        await self._history.refresh()
        found: list[Passage] = []
        search = self._history.search(query, most=LOOKED_AT, room=PASSAGE, meant=words)
        async with aclosing(search) as rounds:
            async for results in rounds:
                titles = {session.session_id: session.title for session in results.sessions}
                found = [
                    _passage(titles[hit.session_id], hit)
                    for hit in results.ranked
                    if hit.session_id != but
                ]
        return _each_once(found)[:MOST]

    async def for_prompt(self, words: str, but: str) -> tuple[Retrieval, ...]:
        """The passages that are sent along with a message unasked, within the budget; none if the
        search fails or takes too long."""
        try:
            async with asyncio.timeout(WITHIN_SECONDS):
                found = await self.passages(words, but)
        except (OllmError, TimeoutError) as error:
            log.warning("nothing recalled", exc_info=error)
            return ()
        fitting = [each for each in found if each.covered >= COVERED or each.closeness >= CLOSE]
        return tuple(each.retrieval for each in self.within_budget(fitting))

    def within_budget(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return the best passages that fit into the budget together."""
        room, chosen = self.budget, list[Passage]()
        for passage in passages:
            if passage.tokens <= room:
                room -= passage.tokens
                chosen.append(passage)
        return chosen


async def _given(asking: asyncio.Task[Sequence[float]]) -> Sequence[float]:
    """Return a vector; nothing if the settings name a model that makes none."""
    try:
        return await asking
    except OllmError as error:
        log.warning("not searched by meaning", exc_info=error)
        return ()


async def _with_store_errors(work: Awaitable[R]) -> R:
    """The result of some work; an OSError becomes a StoreError."""
    try:
        return await work
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "free disk space or fix the directory; see ollm doctor"
        raise StoreError(f"cannot search the sessions: {reason}", hint) from error


def _passage(title: str, hit: Hit) -> Passage:
    text = hit.snippet.text
    tokens = round(careful_estimate(text))
    facts = (title, hit.message_id, hit.role, hit.timestamp)
    return Passage(hit.session_id, *facts, text, tokens, hit.covered, hit.closeness, hit.why)


def _each_once(found: Sequence[Passage]) -> list[Passage]:
    """Return passages without those that say nearly the same as a better one."""
    chosen: list[tuple[frozenset[str], Passage]] = []
    for passage in found:
        words = frozenset(passage.text.lower().split())
        if not any(len(words & other) >= ALIKE * len(words | other) for other, _ in chosen):
            chosen.append((words, passage))
    return [passage for _, passage in chosen]
