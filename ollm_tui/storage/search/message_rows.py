"""The tables of the search index, and writing sessions into them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import msgspec

from ollm_tui.core.session.message import Role
from ollm_tui.storage.search.message_matching import (
    SLACK_SECONDS,
    TOKENIZER,
    as_words,
    has_unspaced,
)
from ollm_tui.storage.sessions.directory import Fingerprint

SCHEMA_VERSION = 6
NOT_TOLD = -1
"""Stands where a server or a price table says nothing."""
_PENDING_BYTES = 16 * 1024 * 1024
"""What FTS5 may gather before it writes: more than a batch, so that each is written once."""
_MERGED_FROM = 16
"""Batches that lie side by side before FTS5 merges them: merging costs more than searching."""

# The number of a message is the second it was said in, or the next free one: so the latest of
# all that match come first without sorting, and a range of time is a range of numbers.
# Missing text is '', not NULL: sqlite3 looks for an adapter for each None, as for each bool.
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
    journal_time INTEGER NOT NULL,
    late INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    on_branch INTEGER NOT NULL,
    has_tool INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    is_call INTEGER NOT NULL,
    content INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    cost REAL NOT NULL
);
CREATE TABLE texts (
    number INTEGER PRIMARY KEY,
    asked TEXT NOT NULL,
    said TEXT NOT NULL,
    aside TEXT NOT NULL,
    tools TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
    asked, said, aside, tools, content='', tokenize='{TOKENIZER}'
);
INSERT INTO words (words, rank) VALUES ('hashsize', {_PENDING_BYTES});
INSERT INTO words (words, rank) VALUES ('automerge', {_MERGED_FROM});
PRAGMA user_version = {SCHEMA_VERSION};
"""
_WORDS = "asked, said, aside, tools"
_BY_SESSION = "CREATE INDEX IF NOT EXISTS by_session ON messages (session)"
"""Created when a known session changes first: filling the index needs none and is faster."""
_PUT_WORDS = f"""
INSERT INTO words (rowid, {_WORDS})
SELECT number, iif(type = 'array', json_extract(value, '$[1]'), asked),
    iif(type = 'array', json_extract(value, '$[2]'), said),
    iif(type = 'array', json_extract(value, '$[3]'), aside),
    iif(type = 'array', json_extract(value, '$[4]'), tools)
FROM json_each(?) CROSS JOIN texts
    ON number = iif(type = 'array', json_extract(value, '$[0]'), value)
"""
"""Takes a JSON list: numbers of messages whose texts are indexed as they are, and lists of a
number and the words to index."""
_LATEST_SECOND = 2**40
"""Later times are cut to this."""
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
    "UPDATE messages SET model = ?, on_branch = ?, has_tool = ?, pinned = ?, tokens = ?, "
    "cached = ?, cost = ? WHERE number = ?"
)
_ROWS = (
    "SELECT number, id, role, at, model, on_branch, has_tool, pinned, tokens, "
    "asked || said, aside, tools, is_call, cached, cost "
    "FROM messages JOIN texts USING (number) WHERE session = ?"
)


class IndexedMessage(msgspec.Struct, frozen=True, gc=False):
    """What the index keeps of a message. A hundred thousand of them are made when it is built, so
    the garbage collector is told to ignore them: none refers to another.
    """

    id: str
    role: Role
    at: int
    """Microseconds since 1970."""
    model: str
    """Empty where it is the session's."""
    on_branch: bool
    has_tool: bool
    pinned: bool
    tokens: int
    """Tokens read and written, as the server measured them."""
    said: str
    aside: str
    """Reasoning, attachments and the like."""
    tools: str
    """What tools were asked for, and what they answered."""
    is_call: bool = False
    """Whether it is a tool call in no message, such as a command of the user."""
    cached: int = NOT_TOLD
    """Tokens that the server took from its cache, or NOT_TOLD."""
    cost: float = 0.0
    """US dollars, or NOT_TOLD for an answer whose price is unknown."""

    @property
    def facts(self) -> tuple[str, bool, bool, bool, int, int, float]:
        """The columns that may change while the texts stay the same."""
        flags = self.on_branch, self.has_tool, self.pinned
        return self.model, *flags, self.tokens, self.cached, self.cost

    @property
    def texts(self) -> tuple[str, str, str]:
        """The texts that can be searched."""
        return self.said, self.aside, self.tools


NumberedMessages = list[tuple[int, IndexedMessage]]
"""Messages with their numbers, in order."""
_NewMessage = tuple[int, IndexedMessage]
"""The number of a session, and a message of it."""


class IndexedSession(NamedTuple):
    """A session as the index keeps it; `marks` are those of the files it is made from."""

    session_id: str
    title: str
    project: str | None
    model: str
    pinned: bool
    archived: bool
    marks: Fingerprint
    messages: tuple[IndexedMessage, ...]


def write_sessions(
    connection: sqlite3.Connection, changed: Sequence[IndexedSession], gone: Collection[str]
) -> NumberedMessages:
    """Bring the tables up to date with these sessions, and remove those that are gone.

    Runs within a transaction of the caller, who calls `write_words` with the result.
    """
    known = dict[str, int](connection.execute("SELECT session_id, number FROM sessions"))
    if gone or any(session.session_id in known for session in changed):
        connection.execute(_BY_SESSION)
    for session_id in gone:
        _forget(connection, session_id)
    new: list[_NewMessage] = []
    for session in changed:
        number: int = connection.execute(_PUT_SESSION, _header(session)).fetchone()[0]
        messages: Sequence[IndexedMessage] = session.messages
        if session.session_id in known:
            messages = _changes(connection, number, messages)
        new += [(number, message) for message in messages]
    return _insert(connection, new)


def write_words(connection: sqlite3.Connection, new: NumberedMessages) -> None:
    """Index the words of messages that `write_sessions` has written."""
    # One statement for all: other threads run meanwhile, and FTS5 writes out what it has gathered
    # before each statement, and when a number is lower than the last.
    rows = [
        (number, *map(as_words, _columns(each))) if _is_split(each) else number
        for number, each in new
    ]
    connection.execute(_PUT_WORDS, (msgspec.json.encode(rows).decode(),))


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
    """Remove or update outdated rows; returns the messages that have to be inserted."""
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
    kinds = (one.role, one.at, one.is_call), (other.role, other.at, other.is_call)
    return kinds[0] == kinds[1] and one.texts == other.texts


def _delete(connection: sqlite3.Connection, rows: list[tuple[int, IndexedMessage]]) -> None:
    # The words table keeps no content: FTS5 has to be given the words that it shall forget.
    connection.executemany(
        f"INSERT INTO words (words, rowid, {_WORDS}) VALUES ('delete', ?, ?, ?, ?, ?)",
        [(number, *map(as_words, _columns(message))) for number, message in rows],
    )
    for table in ("texts", "messages"):
        connection.executemany(
            f"DELETE FROM {table} WHERE number = ?", [(number,) for number, _ in rows]
        )


def _insert(connection: sqlite3.Connection, new: list[_NewMessage]) -> NumberedMessages:
    new.sort(key=lambda each: each[1].at)
    seconds = [_second(message) for _, message in new]
    numbers = _FreeNumbers(connection, seconds)
    numbered = sorted((numbers.take(at), *each) for at, each in zip(seconds, new, strict=True))
    # Generators, not lists: the garbage collector would look at every row that waits in a list.
    connection.executemany(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (_row(number, session, message) for number, session, message in numbered),
    )
    connection.executemany(
        "INSERT INTO texts VALUES (?, ?, ?, ?, ?)",
        ((number, *_columns(message)) for number, _, message in numbered),
    )
    connection.executemany(
        "UPDATE sessions SET late = max(late, ?) WHERE number = ?",
        [
            (late, session)
            for number, session, message in numbered
            if (late := number - message.at // 1_000_000) > SLACK_SECONDS
        ],
    )
    return [(number, message) for number, _, message in numbered]


def _row(number: int, session: int, m: IndexedMessage) -> tuple[str | float, ...]:
    """Return the row of a message."""
    # Flags become numbers here: sqlite3 would look for an adapter for each bool.
    return (
        number,
        session,
        m.id,
        m.role,
        m.at,
        m.model,
        1 & m.on_branch,
        1 & m.has_tool,
        1 & m.pinned,
        m.tokens,
        1 & m.is_call,
        content_key(m),
        m.cached,
        m.cost,
    )


def content_key(m: IndexedMessage) -> int:
    """Return a number that messages share which say the same, and others do not."""
    words = "\0".join((m.role, m.said, m.aside, m.tools))
    if len(words) == len(m.role) + 3:
        words = f"{m.role}\0{m.id}"  # without text, nothing says that two are the same
    digest = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _second(message: IndexedMessage) -> int:
    second = message.at // 1_000_000
    return second if 0 <= second <= _LATEST_SECOND else max(0, min(second, _LATEST_SECOND))


def _is_split(m: IndexedMessage) -> bool:
    return has_unspaced(m.said) or has_unspaced(m.aside) or has_unspaced(m.tools)


def _columns(message: IndexedMessage) -> tuple[str, str, str, str]:
    """Return the texts by column; the user's text has one of its own, so that it weighs more."""
    said, aside, tools = message.said, message.aside, message.tools
    return (said, "", aside, tools) if message.role == "user" else ("", said, aside, tools)


class _FreeNumbers:
    """Gives out numbers that no message has: a second, or the next free number after it."""

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
        """Return a free number for a second and take it."""
        number = second
        if number in self._taken:
            number = self._next.get(second, second)
            while self._is_taken(number):
                number += 1
            self._next[second] = number + 1
        self._taken.add(number)
        return number

    def _is_taken(self, number: int) -> bool:
        if number in self._taken:
            return True
        if number <= self._known_up_to:
            return False
        asked = "SELECT 1 FROM messages WHERE number = ?"
        return self._connection.execute(asked, (number,)).fetchone() is not None
