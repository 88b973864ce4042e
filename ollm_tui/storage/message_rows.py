"""The rows of the search index: what a session says, kept equal to its files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
from msgspec.structs import astuple

from ollm_tui.core.message import Role
from ollm_tui.storage.directory import Fingerprint
from ollm_tui.storage.message_words import TOKENIZER, as_words

SCHEMA_VERSION = 2
_PENDING_BYTES = 32 * 1024 * 1024
"""What FTS5 may gather before it writes: more than a batch, so that each is written once."""

# The number of a message is the second it was said in, or the next free one: so the latest of
# all that match come first without sorting, and a range of time is a range of numbers.
SCHEMA = f"""
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    project TEXT,
    model TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    file_size INTEGER NOT NULL,
    file_time INTEGER NOT NULL,
    journal_size INTEGER NOT NULL,
    journal_time INTEGER NOT NULL
);
CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    at INTEGER NOT NULL,
    model TEXT,
    on_branch INTEGER NOT NULL,
    has_tool INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    tokens INTEGER NOT NULL
);
CREATE INDEX by_session ON messages (session);
CREATE INDEX late ON messages (number - at / 1000000) WHERE number - at / 1000000 > 3600;
CREATE TABLE texts (number INTEGER PRIMARY KEY, said TEXT, aside TEXT, tools TEXT);
CREATE VIRTUAL TABLE words USING fts5 (
    asked, said, aside, tools, content='', tokenize='{TOKENIZER}'
);
INSERT INTO words (words, rank) VALUES ('hashsize', {_PENDING_BYTES});
INSERT INTO words (words, rank) VALUES ('automerge', 8);
PRAGMA user_version = {SCHEMA_VERSION};
"""
_WORDS = "asked, said, aside, tools"
_LATEST_SECOND = 2**40
_FIELDS = (
    "title, project, model, pinned, archived, file_size, file_time, journal_size, journal_time"
)
_PUT_SESSION = (
    f"INSERT INTO sessions (session_id, {_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (session_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _FIELDS.split(", "))
    + " RETURNING number"
)
_SET_FACTS = (
    "UPDATE messages SET model = ?, on_branch = ?, has_tool = ?, pinned = ?, tokens = ? "
    "WHERE number = ?"
)
_ROWS = (
    "SELECT number, id, role, at, model, on_branch, has_tool, pinned, tokens, said, aside, tools "
    "FROM messages JOIN texts USING (number) WHERE session = ?"
)


class IndexedMessage(msgspec.Struct, frozen=True, gc=False):
    """What the index keeps of a message. A hundred thousand of them are made when it is built, so
    the garbage collector does not look at them: none refers to another.
    """

    id: str
    role: Role
    at: int
    """Microseconds since 1970."""
    model: str | None
    on_branch: bool
    has_tool: bool
    pinned: bool
    tokens: int
    """What the server measured: read and written."""
    said: str | None
    aside: str | None
    """What was thought or came along."""
    tools: str | None
    """What tools were asked for, and what they answered."""

    @property
    def facts(self) -> tuple[str | None, bool, bool, bool, int]:
        """What may change without anything else being said."""
        return self.model, self.on_branch, self.has_tool, self.pinned, self.tokens

    @property
    def texts(self) -> tuple[str | None, str | None, str | None]:
        """What can be found in it."""
        return self.said, self.aside, self.tools


class IndexedSession(NamedTuple):
    """A session as the index keeps it, and the files that was made from."""

    session_id: str
    title: str
    project: str | None
    model: str
    pinned: bool
    archived: bool
    marks: Fingerprint
    messages: tuple[IndexedMessage, ...]


def write_sessions(
    connection: sqlite3.Connection, changed: Sequence[IndexedSession], gone: Iterable[str]
) -> None:
    """Make the index say what these sessions say, and nothing of those that are gone.

    Within a transaction of the caller's.
    """
    for session_id in gone:
        _forget(connection, session_id)
    new: list[tuple[int, IndexedMessage]] = []
    for session in changed:
        number: int = connection.execute(_PUT_SESSION, _header(session)).fetchone()[0]
        new += [(number, message) for message in _changes(connection, number, session.messages)]
    _insert(connection, new)


def _header(session: IndexedSession) -> tuple[object, ...]:
    return (*session[:6], *session.marks)


def _forget(connection: sqlite3.Connection, session_id: str) -> None:
    found = connection.execute(
        "DELETE FROM sessions WHERE session_id = ? RETURNING number", (session_id,)
    ).fetchone()
    if found:
        _changes(connection, found[0], ())


def _changes(
    connection: sqlite3.Connection, session: int, messages: Sequence[IndexedMessage]
) -> list[IndexedMessage]:
    """Take away the rows that are no longer true; gives back what has to be put in."""
    rows: dict[str, tuple[int, IndexedMessage]] = {}
    for number, *values in connection.execute(_ROWS, (session,)):
        message = IndexedMessage(*values)
        rows[message.id] = number, message
    new: list[IndexedMessage] = []
    for message in messages:
        number, known = rows.pop(message.id, (0, None))
        if known == message:
            continue
        if known and _is_as_said(known, message):
            connection.execute(_SET_FACTS, (*message.facts, number))
            continue
        if known:
            rows[message.id] = number, known
        new.append(message)
    _delete(connection, list(rows.values()))
    return new


def _is_as_said(one: IndexedMessage, other: IndexedMessage) -> bool:
    return (one.role, one.at) == (other.role, other.at) and one.texts == other.texts


def _delete(connection: sqlite3.Connection, rows: list[tuple[int, IndexedMessage]]) -> None:
    connection.executemany(
        f"INSERT INTO words (words, rowid, {_WORDS}) VALUES ('delete', ?, ?, ?, ?, ?)",
        [(number, *_words(message)) for number, message in rows],
    )
    for table in ("texts", "messages"):
        connection.executemany(
            f"DELETE FROM {table} WHERE number = ?", [(number,) for number, _ in rows]
        )


def _insert(connection: sqlite3.Connection, new: list[tuple[int, IndexedMessage]]) -> None:
    """Put messages in, the oldest first: FTS5 writes out what it has when numbers go back."""
    new.sort(key=lambda each: each[1].at)
    seconds = [max(0, min(message.at // 1_000_000, _LATEST_SECOND)) for _, message in new]
    numbers = _FreeNumbers(connection, seconds)
    numbered = sorted((numbers.take(at), *each) for at, each in zip(seconds, new, strict=True))
    # Made one by one: rows that wait in a list would all be looked at by the garbage collector.
    connection.executemany(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((number, session, *astuple(message)[:8]) for number, session, message in numbered),
    )
    connection.executemany(
        "INSERT INTO texts VALUES (?, ?, ?, ?)",
        ((number, *message.texts) for number, _, message in numbered),
    )
    connection.executemany(
        f"INSERT INTO words (rowid, {_WORDS}) VALUES (?, ?, ?, ?, ?)",
        ((number, *_words(message)) for number, _, message in numbered),
    )


def _words(message: IndexedMessage) -> Iterable[str | None]:
    """What the user said has a column of its own, so that it can weigh more."""
    said, aside, tools = map(as_words, message.texts)
    return (said, None, aside, tools) if message.role == "user" else (None, said, aside, tools)


class _FreeNumbers:
    """Numbers that no message has: those of the seconds asked for, or soon after them."""

    def __init__(self, connection: sqlite3.Connection, seconds: list[int]) -> None:
        self._connection = connection
        first, last = (seconds[0], seconds[-1]) if seconds else (0, 0)
        self._known_up_to = last + len(seconds)
        rows = connection.execute(
            "SELECT number FROM messages WHERE number BETWEEN ? AND ?", (first, self._known_up_to)
        )
        self._taken: set[int] = set(chain.from_iterable(rows))
        self._next: dict[int, int] = {}

    def take(self, second: int) -> int:
        """One that nobody else gets."""
        number = self._next.get(second, second)
        while self._is_taken(number):
            number += 1
        self._taken.add(number)
        self._next[second] = number + 1
        return number

    def _is_taken(self, number: int) -> bool:
        if number in self._taken:
            return True
        if number <= self._known_up_to:
            return False
        asked = "SELECT 1 FROM messages WHERE number = ?"
        return self._connection.execute(asked, (number,)).fetchone() is not None
