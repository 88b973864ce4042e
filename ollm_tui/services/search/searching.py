"""Searches the history: turns a query into messages with snippets, grouped by session."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from threading import Lock
from typing import NamedTuple, TypeVar

from ollm_tui.core import clock
from ollm_tui.core.costs import Bill, added
from ollm_tui.core.errors import StoreError
from ollm_tui.core.events import StoreEvent
from ollm_tui.core.search import (
    Activity,
    Hit,
    HitPlace,
    Order,
    Overview,
    Query,
    Results,
    SessionHits,
    SnippetRoom,
    Where,
)
from ollm_tui.services.search.indexing import ATTEMPTS, IndexFeed, Indexing, Progress
from ollm_tui.services.search.joining import JoinedHit, joined
from ollm_tui.services.search.message_vectors import MessageVectors
from ollm_tui.services.search.snippets import Marker
from ollm_tui.services.search.word_forms import WordForms
from ollm_tui.services.search.word_ranking import Question
from ollm_tui.services.topic import Topic
from ollm_tui.storage.search.message_index import RANKED, FoundMessage, IndexLost, MessageIndex
from ollm_tui.storage.search.vectors import Near
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
    near: tuple[Near, ...] = ()
    """What means nearly the same, the nearest first."""


class _Exact(NamedTuple):
    """The messages that have all terms."""

    contents: dict[int, int]
    """What each of them says, as a number that its copies share; the best message first."""
    at_least: bool
    """Whether there may be more."""


class HistorySearch:
    """Searches all sessions of a store.

    It is synchronous: front ends call it in a thread. `refresh` has to be called before the first
    search; `cancel` may be called from any thread. With the topic of a recording, the index is
    updated in the background. The index of a sealed store is in memory only.
    """

    def __init__(
        self,
        store: SessionStore,
        topic: Topic[StoreEvent] | None = None,
        when_fed: Callable[[], None] | None = None,
    ) -> None:
        """`when_fed` is called, in another thread, when the index was updated by itself."""
        self._store = store
        self._when_fed = when_fed
        self._index = MessageIndex(None if store.sealed else store.layout.search)
        self._vectors = MessageVectors(self._index, None if store.sealed else store.layout.search)
        self._forms = WordForms(self._index.vocabulary)
        self._using = Lock()
        self._last_exact: tuple[object, _Exact] | None = None
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
        vector: Sequence[float] = (),
    ) -> Iterator[Results]:
        """Yield the results, then better ones if there are.

        First come the messages in which words begin with the terms; if these are fewer than
        `limit`, then those that have other forms of the words or only some of them, and those that
        have the terms inside words. With a `vector`, the meaning of the query, the results come
        at once, and with those that mean nearly the same. After `cancel` nothing more is yielded.
        By relevance, whole words come before beginnings of words, and these before the rest.
        StoreError.
        """
        asked = _Search(query, order, limit, room, self._round)
        return self._near_results(asked, vector) if vector else self._results(asked)

    def _results(self, asked: _Search) -> Iterator[Results]:
        query, limit = asked.query, asked.limit
        first = self._find(asked, "words", None)
        if first is None:
            return
        yield first
        question: Question | None = None
        if not query.is_exact and (asked.order == "time" or first.total < limit):
            question = self._ask(lambda: self._question(query), asked.number)
            if question is None:
                return
            more = self._find(asked, "words", question)
            if more and more.total > first.total:
                first = more
                yield more
        if first.total < limit and any(term.may_stand_inside for term in query.terms):
            more = self._find(asked, "anywhere", question)
            if more and more.total > first.total:
                yield more

    def _near_results(self, asked: _Search, vector: Sequence[float]) -> Iterator[Results]:
        def prepare() -> tuple[_Search, Question]:
            near = self._vectors.nearest(vector, asked.query)
            return asked._replace(near=tuple(near)), self._question(asked.query)

        prepared = self._ask(prepare, asked.number)
        found = prepared and self._find(prepared[0], "words", prepared[1])
        if not (prepared and found):
            return
        yield found
        # What has the words inside others must not vanish behind what only means the same.
        has_words = any(hit.covered for hit in found.ranked)
        if not has_words and any(term.may_stand_inside for term in asked.query.terms):
            more = self._find(prepared[0], "anywhere", prepared[1])
            if more and more.total > found.total:
                yield more

    def overview(
        self, query: Query, where: Where = "words", others: Sequence[int] = ()
    ) -> Overview | None:
        """Return how many messages a query finds by day; None after `cancel`.

        `others` are messages that were found without having all its words. StoreError.
        """

        def count() -> Overview | None:
            rows = self._index.hours(query, where, others)
            sessions = self._index.sessions_with(query, where, others)
            if rows is None or sessions is None:
                return None
            # The index counts by hours of UTC; which day that is depends on the time zone.
            days = Counter[date]()
            for hour, _, number in rows:
                days[_local_day(hour)] += number
            return Overview(days.total(), len(sessions), tuple(sorted(days.items())))

        return self._ask(count, self._round)

    def activity(self) -> tuple[Activity, ...]:
        """Return the activity by day and model, the earliest day first. StoreError."""
        sums: dict[tuple[date, str], list[int]] = {}
        for hour, model, *counts in self._ask(self._index.activity, self._round) or ():
            known = sums.setdefault((_local_day(hour), model), [0, 0, 0])
            known[:] = map(sum, zip(known, counts, strict=True))
        bills = self._bills()
        rows = ((*key, *sums[key], bills.get(key, Bill())) for key in sorted(sums))
        return tuple(map(Activity._make, rows))

    def _bills(self) -> dict[tuple[date, str], Bill]:
        """Return what was paid by day and model."""
        bills: dict[tuple[date, str], Bill] = {}
        rows = self._ask(self._index.costs, self._round) or ()
        for hour, model, told, hits, cached, dollars, unpriced in rows:
            paid = Bill(
                cached_tokens=cached,
                hits=hits,
                misses=told - hits,
                dollars=dollars,
                unpriced=unpriced,
            )
            key = (_local_day(hour), model)
            bills[key] = added((bills.get(key, Bill()), paid))
        return bills

    def vectors_model(self) -> str:
        """Return the model that compared the messages by meaning; empty if none did."""
        return self._ask(self._vectors.model, None) or ""

    def without_vectors(self, model: str) -> list[int]:
        """Return the numbers of the messages that have no vector of a model, the latest first.

        Vectors of what is no longer there are removed. StoreError, OSError.
        """

        return self._ask(lambda: self._vectors.missing(model), None) or []

    def pieces(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        """Return what messages say, in pieces to make vectors of; none for what says too little."""
        return self._ask(lambda: self._vectors.pieces(numbers), None) or {}

    def add_vectors(self, model: str, made: Mapping[int, Sequence[Sequence[float]]]) -> None:
        """Keep the vectors of messages, unless they were deleted meanwhile. StoreError, OSError."""

        self._ask(lambda: self._vectors.add(model, made), None)

    def release(self) -> None:
        """Give back the memory that searching took."""
        with self._using:
            self._vectors.release()
            self._index.release()
            self._forms = WordForms(self._index.vocabulary)
            self._last_exact = None
        _give_back_memory()

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
            self._vectors.release()
            self._index.close()

    def _find(self, asked: _Search, where: Where, question: Question | None) -> Results | None:
        def find() -> Results | None:
            for _ in range(_LOOKS):
                exact = self._exactly(asked, where)
                others = exact and self._others(asked, question)
                if exact is None or others is None:
                    return None
                results = self._shown(asked, where, question, exact, others)
                if results:
                    return results
            raise self._index.give_up("it finds messages that it does not have")

        return self._ask(find, asked.number)

    def _exactly(self, asked: _Search, where: Where) -> _Exact | None:
        """Return the messages that have all terms, the best first; None if interrupted."""
        # A search by words and then by meaning begins with the same messages twice.
        key = (*asked[:3], where, self._index.version())
        if self._last_exact and self._last_exact[0] == key:
            return self._last_exact[1]
        found = self._find_exactly(asked, where)
        self._last_exact = (key, found) if found else None
        return found

    def _find_exactly(self, asked: _Search, where: Where) -> _Exact | None:
        query, order, limit = asked[:3]
        steps: list[tuple[Query, Where]] = [(query, where)]
        if order == "relevance":
            whole = query._replace(terms=tuple(t._replace(whole=True) for t in query.terms))
            # Without duplicates: for terms that are whole words the first two are the same.
            steps = list(dict.fromkeys([(whole, "words"), (query, "words"), (query, where)]))
        contents: dict[int, int] = {}
        left, most = len(steps), max(RANKED, limit)
        while left and len(contents) < limit:
            # Ranking takes longest: what comes after better hits is ordered by time.
            found = self._index.find(*steps[-left], "time" if contents else order, most)
            if found is None:
                return None
            contents |= found
            left -= 1
        return _Exact(contents, bool(left) or len(contents) >= most)

    def _others(self, asked: _Search, question: Question | None) -> list[JoinedHit] | None:
        """Return the messages found by some words, or by meaning; None if interrupted."""
        ranked = question.rank(self._index) if question and question.groups else []
        if ranked is None:
            return None
        near = self._vectors.messages(asked.near, asked.query) if asked.near else {}
        return joined(ranked, near)

    def _shown(
        self,
        asked: _Search,
        where: Where,
        question: Question | None,
        exact: _Exact,
        others: list[JoinedHit],
    ) -> Results | None:
        """Return the hits to show, each thing once; None if some are no longer there."""
        found = {each.number: each for each in others}
        more = [each.number for each in others if each.number not in exact.contents]
        places = self._places(asked.order, exact.contents, more)
        shown = list(places.values())[: asked.limit]
        messages = self._index.messages([number for group in shown for number in group])
        if None in places or len(messages) < sum(map(len, shown)):
            return None
        marked = question.marked if question and more else asked.query.terms
        marker = Marker(asked.query._replace(terms=marked), where, asked.room)
        read = iter(messages)
        hits = [
            _hit(
                list(islice(read, len(group))),
                marker,
                next(filter(None, map(found.get, group)), None),
                has_all=not exact.contents.keys().isdisjoint(group),
            )
            for group in shown
        ]
        titles = {message.session_id: message for message in messages}
        total = min(len(places), max(RANKED, asked.limit))
        return Results(
            _grouped(hits, titles), total, exact.at_least, where, tuple(more), marked, tuple(hits)
        )

    def _places(
        self, order: Order, exact: Mapping[int, int], more: Sequence[int]
    ) -> dict[int | None, list[int]]:
        """Return the messages by what they say, the best first; None says what is gone."""
        contents = {**exact, **self._index.contents(more)} if more else exact
        numbers = [*exact, *more]
        if order == "time":
            numbers.sort(reverse=True)
        places: dict[int | None, list[int]] = {}
        for number in numbers:
            places.setdefault(contents.get(number), []).append(number)
        return places

    def _question(self, query: Query) -> Question:
        return Question(query, self._forms)

    def _ask(self, work: Callable[[], R | None], current: int | None) -> R | None:
        """Run work on the index, filling it again if it turns out to be damaged.

        `current` is the round of searches it belongs to, or None if it is no search.
        """
        for _ in range(ATTEMPTS):
            try:
                with self._using:
                    return work() if current is None else self._ask_once(work, current)
            except IndexLost:
                self.refresh()
        raise StoreError("the search index keeps getting damaged", "ollm doctor")

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
        if self._when_fed:
            self._when_fed()


def _give_back_memory() -> None:
    """Have the C library give back what was freed, where it can: it would keep most of it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)


def _grouped(hits: Sequence[Hit], sessions: Mapping[str, FoundMessage]) -> tuple[SessionHits, ...]:
    """Group hits by session, in the order of the sessions' first hits."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.session_id, []).append(hit)
    return tuple(
        SessionHits(
            session_id,
            sessions[session_id].title,
            sessions[session_id].project,
            bool(sessions[session_id].session_pinned),
            bool(sessions[session_id].archived),
            tuple(group),
        )
        for session_id, group in groups.items()
    )


def _hit(
    messages: Sequence[FoundMessage], marker: Marker, why: JoinedHit | None, *, has_all: bool
) -> Hit:
    """Return the hit for a message and its copies, and why it was found; `has_all` says that it
    has all words as they were typed."""
    message, places = messages[0], ()
    if len(messages) > 1:
        # The copy that one would go on from: on the branch of its session, in a session in use.
        message = min(messages, key=lambda each: (not each.on_branch, each.archived))
        places = tuple(
            HitPlace(each.session_id, each.id, bool(each.on_branch), each.title)
            for each in messages
            if each is not message
        )
    return Hit(
        session_id=message.session_id,
        message_id=message.id,
        role=message.role,
        timestamp=clock.from_microseconds(message.at),
        model=message.model,
        on_branch=bool(message.on_branch),
        has_tool=bool(message.has_tool),
        pinned=bool(message.pinned),
        snippet=marker.snippet((message.said, message.aside, message.tools)),
        why="words" if why is None else "both" if has_all and why.closeness else why.why,
        places=places,
        closeness=why.closeness if why else 0.0,
        covered=1.0 if has_all or why is None else why.covered,
    )


def _local_day(hour: int) -> date:
    try:
        return (_EPOCH + timedelta(hours=hour)).astimezone().date()
    except (OverflowError, ValueError, OSError):
        return _EPOCH.date()
