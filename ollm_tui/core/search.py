"""What is looked for in the history, and what is found there."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, NamedTuple

from ollm_tui.core.session.message import Role

Order = Literal["relevance", "time"]
Where = Literal["words", "anywhere"]
"""`words`: terms begin where a word begins. `anywhere`: also in the middle of words."""

SHORTEST_INSIDE = 3
"""Fewer plain letters stand in the middle of nearly everything."""


class Term(NamedTuple):
    """One word, or several that follow each other; a message must have all terms."""

    text: str
    whole: bool = False
    """Whether its last word ends there; else it is only the beginning of one."""

    @property
    def has_word(self) -> bool:
        """Whether there is anything in it that an index of words knows."""
        return any(map(str.isalnum, self.text))

    @property
    def is_literal(self) -> bool:
        """Whether it begins or ends with a sign, as c++ or --flag: the signs are meant then."""
        return not (self.text[:1].isalnum() and self.text[-1:].isalnum())

    @property
    def may_stand_inside(self) -> bool:
        """Whether looking for it in the middle of words is of any use."""
        plain = self.text.isascii() and self.text.isalnum()
        return len(self.text) >= SHORTEST_INSIDE or not plain


class Query(NamedTuple):
    """What somebody looks for. Several values of one filter: any of them."""

    terms: tuple[Term, ...] = ()
    roles: tuple[Role, ...] = ()
    models: tuple[str, ...] = ()
    """Parts of the names of models."""
    projects: tuple[str, ...] = ()
    """Folders, or only their names."""
    after: datetime | None = None
    """From this moment on."""
    before: datetime | None = None
    """Until just before this moment."""
    has_tool: bool | None = None
    pinned: bool | None = None
    on_branch: bool | None = None
    """Whether it is on the branch that the session would continue."""
    any_term: bool = False
    """Whether one of the terms is enough; more of them fit better."""
    notes: tuple[str, ...] = ()
    """What could not be understood, in words."""

    @property
    def asks_nothing(self) -> bool:
        """Whether everything would be found."""
        return self._replace(notes=()) == Query()


class Snippet(NamedTuple):
    """A piece of a message, at most a few lines, and where in it the terms are."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Where each begins and ends."""


class SnippetRoom(NamedTuple):
    """How much of a message a snippet shows."""

    characters: int = 240
    before: int = 60
    """So many of them at most before the first hit."""
    lines_before: int = 1
    lines_after: int = 2


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


class SessionHits(NamedTuple):
    """What was found in one session."""

    session_id: str
    title: str
    project: str | None
    pinned: bool
    archived: bool
    hits: tuple[Hit, ...]


class Results(NamedTuple):
    """What was found, by sessions; the best or the latest first."""

    sessions: tuple[SessionHits, ...]
    total: int
    """Messages that were found; there may be fewer in `sessions`."""
    at_least: bool
    """Whether there are more than `total`: only so many of the latest were looked at."""
    where: Where = "words"

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All of them, in order."""
        return tuple(hit for session in self.sessions for hit in session.hits)


class Overview(NamedTuple):
    """How everything that was found lies in time."""

    total: int
    sessions: int
    days: tuple[tuple[date, int], ...]
    """Days with hits, in the user's zone, the first one first, and how many there are."""


class IndexProgress(NamedTuple):
    """So many of the sessions that have to be read are in the index now."""

    done: int
    total: int


class Activity(NamedTuple):
    """What was said on one day, in the user's zone, in sessions with one model."""

    day: date
    model: str
    messages: int
    answers: int
    """How many of the messages a model wrote."""
    tokens: int
    """Read and written, as far as servers measured them."""
