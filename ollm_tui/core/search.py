"""Search in the history: queries, what they find, and what the index counts."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, NamedTuple

from ollm_tui.core.costs import Bill
from ollm_tui.core.session.message import Role

Order = Literal["relevance", "time"]
Why = Literal["words", "meaning", "both"]
"""Why a message was found: by its words, by what it means, or by both."""
Where = Literal["words", "anywhere"]
"""`words`: terms begin where a word begins. `anywhere`: also in the middle of words."""

SHORTEST_INSIDE = 3
"""Shortest plain term that is searched inside words: shorter ones are in nearly all of them."""


class Term(NamedTuple):
    """One word, or several in a row.

    Messages that have all terms of a query come first; those that have other forms of its words,
    or only some of them, come after.
    """

    text: str
    whole: bool = False
    """Whether its last word must end there; otherwise it may be the beginning of a longer one."""
    exact: bool = False
    """Whether it was in quotes: then no other form of it is looked for, and it must be there."""

    @property
    def has_word(self) -> bool:
        """Whether it has letters or digits, which is all an index of words knows."""
        return any(map(str.isalnum, self.text))

    @property
    def is_literal(self) -> bool:
        """Whether it begins or ends with a symbol, as c++ or --flag: then symbols count too."""
        return not (self.text[:1].isalnum() and self.text[-1:].isalnum())

    @property
    def may_stand_inside(self) -> bool:
        """Whether it is worth searching in the middle of words."""
        plain = self.text.isascii() and self.text.isalnum()
        return len(self.text) >= SHORTEST_INSIDE or not plain


class Query(NamedTuple):
    """What to search for. Where a filter has several values, any of them matches."""

    terms: tuple[Term, ...] = ()
    roles: tuple[Role, ...] = ()
    models: tuple[str, ...] = ()
    """Parts of model names."""
    projects: tuple[str, ...] = ()
    """Paths of project folders, or only their names."""
    after: datetime | None = None
    """The earliest time, inclusive."""
    before: datetime | None = None
    """The end of the time range, exclusive."""
    has_tool: bool | None = None
    pinned: bool | None = None
    on_branch: bool | None = None
    """Whether the message is on the current branch of its session."""
    without: tuple[Term, ...] = ()
    """What a message must not have."""
    notes: tuple[str, ...] = ()
    """What could not be understood, in words."""

    @property
    def asks_nothing(self) -> bool:
        """Whether everything would be found."""
        return self._replace(notes=()) == Query()

    @property
    def is_exact(self) -> bool:
        """Whether all of it must be there as it is: it has no words, or only quoted ones."""
        return all(term.exact for term in self.terms)


class Snippet(NamedTuple):
    """A piece of a message, at most a few lines, and where in it the terms are."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Start and end of each match in the text."""


class SnippetRoom(NamedTuple):
    """How much of a message a snippet shows."""

    characters: int = 240
    before: int = 60
    """How many of the characters may stand before the first match."""
    lines_before: int = 1
    lines_after: int = 2


class HitPlace(NamedTuple):
    """Another place where the same message is: in a fork, on a branch, or a copy."""

    session_id: str
    message_id: str
    on_branch: bool
    title: str


class Hit(NamedTuple):
    """A message that was found."""

    session_id: str
    message_id: str
    role: Role
    timestamp: str
    model: str
    on_branch: bool
    has_tool: bool
    pinned: bool
    snippet: Snippet
    why: Why = "words"
    places: tuple[HitPlace, ...] = ()
    """Where else the same message is."""
    closeness: float = 0.0
    """How near its meaning is to the question's, from 0 to 1; 0 where that was not compared."""
    covered: float = 1.0
    """The share of the telling words of the query that it has, in any form."""


class SessionHits(NamedTuple):
    """What was found in one session."""

    session_id: str
    title: str
    project: str | None
    pinned: bool
    archived: bool
    hits: tuple[Hit, ...]


class Results(NamedTuple):
    """What was found, grouped by session; the best or the latest first."""

    sessions: tuple[SessionHits, ...]
    total: int
    """Number of messages found; `sessions` may hold fewer."""
    at_least: bool
    """Whether there may be more than `total`: only the latest matches are examined."""
    where: Where = "words"
    others: tuple[int, ...] = ()
    """The numbers of messages that do not have all words as they are."""
    marked: tuple[Term, ...] = ()
    """The words to mark: those of the query, and the other forms that were found."""

    ranked: tuple[Hit, ...] = ()
    """The hits in the order of their rank, whatever session they are in."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The hits of all sessions, in the order in which they are shown."""
        return tuple(hit for session in self.sessions for hit in session.hits)


class Overview(NamedTuple):
    """How all matches are spread over time."""

    total: int
    sessions: int
    days: tuple[tuple[date, int], ...]
    """Days with matches, oldest first, in the user's time zone, and how many each has."""


class IndexProgress(NamedTuple):
    """How many of the sessions that have to be read are in the index by now."""

    done: int
    total: int


class Activity(NamedTuple):
    """What was said with one model on one day, in the user's time zone."""

    day: date
    model: str
    messages: int
    answers: int
    """How many of the messages a model wrote."""
    tokens: int
    """Tokens read and written, as far as servers measured them."""
    bill: Bill = Bill()
    """What was paid, and what came from the servers' caches."""
