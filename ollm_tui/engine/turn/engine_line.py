"""The line before a model server: how many requests it answers at once, and who comes next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from ollm_tui.core.events import Queued
from ollm_tui.services.topic import Topic


class Asker(NamedTuple):
    """A conversation that asks a model."""

    session_id: str
    title: Callable[[], str]
    """Returns the title of its session, which may change while it waits."""
    model: str = ""
    """The model, where the conversation asks several."""

    def name_for(self, other: Asker) -> str:
        """Return what tells this asker from another one: in a comparison that is the model."""
        return self.model if self.session_id == other.session_id and self.model else self.title()


class CacheLost(NamedTuple):
    """A server with one slot goes back and forth between conversations: each time it reads the
    whole prompt again."""

    session_id: str
    """The conversation whose prompt is read again."""
    other_id: str
    """The one that had the slot in between."""


@dataclass(eq=False)
class Request:
    """One request of a conversation: waits, is answered, and is done."""

    asker: Asker
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever its place may have changed."""
    is_answered: bool = False
    """Whether it has a slot."""


class EngineLine:
    """The line before one server. Whoever came first is answered first, but the conversation the
    user looks at goes before all others."""

    def __init__(self, slots: int, first: Callable[[], str | None]) -> None:
        self._slots = slots
        self._first = first
        self._answered: list[Request] = []
        self._waiting: list[Request] = []
        self._before: tuple[str, ...] = ()
        """The last two conversations that had the only slot, the latest last."""

    def join(self, asker: Asker) -> Request:
        """Add a request; it may have a slot at once."""
        request = Request(asker)
        self._waiting.append(request)
        self._advance()
        return request

    def leave(self, request: Request) -> None:
        """Take a request out, answered or not; the next one gets its slot."""
        for requests in (self._answered, self._waiting):
            if request in requests:
                requests.remove(request)
        self._advance()

    def place(self, request: Request) -> Queued:
        """Return which in line a request is, and behind whom."""
        order = [*self._answered, *self._in_order()]
        at = order.index(request)
        return Queued(at + 1, order[at - 1].asker.name_for(request.asker) if at else "")

    def returns(self, asker: Asker) -> CacheLost | None:
        """Note that a conversation has a slot; returns what it lost if it had the only one before
        another conversation did."""
        if self._slots > 1 or self._before[-1:] == (asker.session_id,):
            return None
        before, self._before = self._before, (*self._before[-1:], asker.session_id)
        if before[:1] == (asker.session_id,) and len(before) > 1:
            return CacheLost(asker.session_id, before[-1])
        return None

    def show_again(self) -> None:
        """Have everybody look at their place: another conversation goes first now."""
        self._advance()

    def _in_order(self) -> list[Request]:
        first = self._first()
        return sorted(self._waiting, key=lambda each: each.asker.session_id != first)

    def _advance(self) -> None:
        while self._waiting and len(self._answered) < self._slots:
            request = self._in_order()[0]
            self._waiting.remove(request)
            self._answered.append(request)
            request.is_answered = True
        for request in (*self._answered, *self._waiting):
            request.moved.set()


class Place:
    """A place in line, for one request."""

    def __init__(self, line: EngineLine, asker: Asker, lost: Topic[CacheLost]) -> None:
        self._line = line
        self._lost = lost
        self._request = line.join(asker)

    async def changes(self) -> AsyncGenerator[Queued, None]:
        """Tell each change of the place. This ends when the request may be sent; nothing comes if
        there is a free slot."""
        line, request = self._line, self._request
        shown: Queued | None = None
        while not request.is_answered:
            if (place := line.place(request)) != shown:
                shown = place
                yield place
            request.moved.clear()
            if not request.is_answered:
                await request.moved.wait()
        if shown:
            yield Queued(0)
        if lost := line.returns(request.asker):
            self._lost.publish(lost)

    def leave(self) -> None:
        """Leave the place to the next; again, this does nothing."""
        self._line.leave(self._request)


InLine = AbstractContextManager[Place]
"""A place in line for as long as a block runs."""


class EngineLines:
    """The lines of all servers, by the names of their providers."""

    def __init__(self, slots: Callable[[str], int] = lambda _: 1) -> None:
        """`slots` returns how many requests a provider answers at once."""
        self._slots = slots
        self._lines: dict[str, EngineLine] = {}
        self._first: str | None = None
        self.lost = Topic[CacheLost]()
        """Publishes that a prompt has to be read again."""

    def put_first(self, session_id: str | None) -> None:
        """Have a conversation answered before others that wait: the user looks at it."""
        self._first = session_id
        for line in self._lines.values():
            line.show_again()

    @contextmanager
    def place(self, provider: str, asker: Asker) -> Generator[Place]:
        """Have a place in line for as long as the block runs."""
        place = Place(self._line(provider), asker, self.lost)
        try:
            yield place
        finally:
            place.leave()

    def _line(self, provider: str) -> EngineLine:
        if provider not in self._lines:
            slots = max(self._slots(provider), 1)
            self._lines[provider] = EngineLine(slots, lambda: self._first)
        return self._lines[provider]
