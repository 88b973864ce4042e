"""Everything ever said, as a front end with an event loop searches it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from ollm_tui.core.errors import StoreError
from ollm_tui.core.events import StoreEvent
from ollm_tui.core.search import (
    Activity,
    IndexProgress,
    Order,
    Overview,
    Query,
    Results,
    SnippetRoom,
    Where,
)
from ollm_tui.services.topic import Topic
from ollm_tui.storage.sessions.session_store import SessionStore

if TYPE_CHECKING:
    from ollm_tui.engine.project.recall import Embed, Recall
    from ollm_tui.services.search.searching import HistorySearch

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
        # Loaded when first asked for, as all of it is.
        recall = import_module("ollm_tui.engine.project.recall")
        return recall.Recall(self, self._recall_tokens, self._embed)

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
        searching = import_module("ollm_tui.services.search.searching")
        return searching.HistorySearch(self._store, self._saving)


async def _told(work: Awaitable[R]) -> R:
    """The answer; what the disk refuses is a StoreError."""
    try:
        return await work
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "free some space or mend the directory; ollm doctor looks at it"
        raise StoreError(f"the history cannot be searched: {reason}", hint) from error
