"""Searches the history: turns a query into messages with snippets, grouped by session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from threading import Lock
from typing import NamedTuple, TypeVar

from ollm_tui.core import clock
from ollm_tui.core.errors import StoreError
from ollm_tui.core.events import StoreEvent
from ollm_tui.core.search import (
    Activity,
    Hit,
    Order,
    Overview,
    Query,
    Results,
    SessionHits,
    SnippetRoom,
    Where,
)
from ollm_tui.services.search.indexing import ATTEMPTS, IndexFeed, Indexing, Progress
from ollm_tui.services.search.snippets import Marker
from ollm_tui.services.topic import Topic
from ollm_tui.storage.search.message_index import RANKED, FoundMessage, IndexLost, MessageIndex
from ollm_tui.storage.sessions.session_store import SessionStore

R = TypeVar("R")

LIVE_BYTES = 4 * 1024 * 1024
"""A session with more bytes is not indexed after each turn, only when a search begins."""
_LOOKS = 2
"""How often messages that were found are looked up in vain until the index counts as damaged:
once, another process may have removed them in between."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Search(NamedTuple):
    """The arguments of a search."""

    query: Query
    order: Order
    limit: int
    room: SnippetRoom | None
    number: int
    """The round of searches it belongs to; it ends when another round begins (`cancel`)."""


class HistorySearch:
    """Searches all sessions of a store.

    It is synchronous: front ends call it in a thread. `refresh` has to be called before the first
    search; `cancel` may be called from any thread. With the topic of a recording, the index is
    updated in the background. The index of a sealed store is in memory only.
    """

    def __init__(self, store: SessionStore, topic: Topic[StoreEvent] | None = None) -> None:
        self._store = store
        self._index = MessageIndex(None if store.sealed else store.layout.search)
        self._using = Lock()
        self._round = 0
        self._is_finding = False
        self._indexing = Indexing(store, self._index, self._using)
        self._feed = IndexFeed(topic, self._take_in) if topic else None

    def refresh(self, progress: Progress | None = None) -> None:
        """Index what this and other processes recorded since the last time. StoreError."""
        self._indexing.refresh(progress)

    def search(
        self,
        query: Query,
        *,
        limit: int,
        order: Order = "relevance",
        room: SnippetRoom | None = None,
    ) -> Iterator[Results]:
        """Yield the results, then better ones if there are.

        First come the messages in which words begin with the terms; if these are fewer than
        `limit`, then those that have the terms inside words, too. After `cancel` nothing more is
        yielded. By relevance, whole words come before beginnings of words, and these before the
        rest. StoreError.
        """
        return self._results(_Search(query, order, limit, room, self._round))

    def _results(self, asked: _Search) -> Iterator[Results]:
        query, limit = asked.query, asked.limit
        first = self._find(asked, "words")
        if first is None:
            return
        yield first
        if query.any_term:
            return
        if first.total < limit and any(term.may_stand_inside for term in query.terms):
            more = self._find(asked, "anywhere")
            if more and more.total > first.total:
                yield more

    def overview(self, query: Query, where: Where = "words") -> Overview | None:
        """Return how many messages a query finds by day; None after `cancel`. StoreError."""
        # The index counts by hours of UTC; which day that is depends on the local time zone.
        rows = self._ask(lambda: self._index.hours(query, where), self._round)
        if rows is None:
            return None
        days = Counter[date]()
        for hour, _, count in rows:
            days[_local_day(hour)] += count
        sessions = len({session for _, session, _ in rows})
        return Overview(days.total(), sessions, tuple(sorted(days.items())))

    def activity(self) -> tuple[Activity, ...]:
        """Return the activity by day and model, the earliest day first. StoreError."""
        sums: dict[tuple[date, str], list[int]] = {}
        rows = self._ask(self._index.activity, self._round) or ()
        for hour, model, *counts in rows:
            known = sums.setdefault((_local_day(hour), model), [0, 0, 0])
            known[:] = map(sum, zip(known, counts, strict=True))
        return tuple(Activity(*key, *sums[key]) for key in sorted(sums))

    def cancel(self) -> None:
        """End all searches that have begun."""
        self._round += 1
        if self._is_finding:
            self._index.interrupt()

    def close(self) -> None:
        """Stop updating the index and close it."""
        self.cancel()
        self._indexing.stop()
        if self._feed:
            self._feed.close()
        with self._using:
            self._index.close()

    def _find(self, asked: _Search, where: Where) -> Results | None:
        query, order, limit, room, current = asked
        steps: list[tuple[Query, Where]] = [(query, where)]
        if order == "relevance":
            whole = query._replace(terms=tuple(t._replace(whole=True) for t in query.terms))
            # Without duplicates: for terms that are whole words the first two are the same.
            steps = list(dict.fromkeys([(whole, "words"), (query, "words"), (query, where)]))

        def find() -> Results | None:
            for _ in range(_LOOKS):
                numbers: dict[int, None] = {}
                left = len(steps)
                while left and len(numbers) < limit:
                    # Ranking takes longest: what comes after better hits is ordered by time.
                    found = self._index.find(*steps[-left], "time" if numbers else order)
                    if found is None:
                        return None
                    numbers |= dict.fromkeys(found)
                    left -= 1
                total = min(len(numbers), RANKED)
                shown = list(numbers)[:limit]
                messages = self._index.messages(shown)
                if len(messages) == len(shown):
                    sessions = _grouped(messages, Marker(query, where, room))
                    return Results(sessions, total, bool(left) or total == RANKED, where)
            raise self._index.give_up("it finds messages that it does not have")

        return self._ask(find, current)

    def _ask(self, work: Callable[[], R | None], current: int) -> R | None:
        """Run work on the index, filling it again if it turns out to be damaged."""
        for _ in range(ATTEMPTS):
            try:
                with self._using:
                    return self._ask_once(work, current)
            except IndexLost:
                self.refresh()
        raise StoreError("the search index is damaged again and again", "ollm doctor")

    def _ask_once(self, work: Callable[[], R | None], current: int) -> R | None:
        """Run work on the index; None if its round of searches was ended before or meanwhile."""
        if current != self._round:
            return None
        self._is_finding = True
        try:
            found = work()
        finally:
            self._is_finding = False
        return found if current == self._round else None

    def _take_in(self, names: Collection[str]) -> None:
        """Index the sessions that are small enough for this to be done after each turn."""
        directory = self._store.directory
        marks = {name: directory.fingerprint(name) for name in names}
        small = [name for name, each in marks.items() if each[0] + each[2] <= LIVE_BYTES]
        self._indexing.refresh(only=small)


def _grouped(messages: Sequence[FoundMessage], marker: Marker) -> tuple[SessionHits, ...]:
    """Group messages by session, in the order of the sessions' first hits."""
    groups: dict[str, list[FoundMessage]] = {}
    for message in messages:
        groups.setdefault(message.session_id, []).append(message)
    return tuple(
        SessionHits(
            session_id,
            group[0].title,
            group[0].project,
            bool(group[0].session_pinned),
            bool(group[0].archived),
            tuple(_hit(message, marker) for message in group),
        )
        for session_id, group in groups.items()
    )


def _hit(message: FoundMessage, marker: Marker) -> Hit:
    return Hit(
        session_id=message.session_id,
        message_id=message.id,
        role=message.role,
        timestamp=_timestamp(message.at),
        model=message.model,
        on_branch=bool(message.on_branch),
        has_tool=bool(message.has_tool),
        pinned=bool(message.pinned),
        snippet=marker.snippet((message.said, message.aside, message.tools)),
    )


def _timestamp(microseconds: int) -> str:
    try:
        return clock.iso(_EPOCH + timedelta(microseconds=microseconds))
    except OverflowError:
        return clock.EPOCH


def _local_day(hour: int) -> date:
    try:
        return (_EPOCH + timedelta(hours=hour)).astimezone().date()
    except (OverflowError, ValueError, OSError):
        return _EPOCH.date()
