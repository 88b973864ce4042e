"""The search index: every message of a store in one SQLite file, made from the session files.

It may be deleted at any time. Sessions remember size and time of the files they were made
from, so a stale one is seen by comparing them with the directory.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ollm_tui.core.errors import StoreError
from ollm_tui.core.search import Order, Query, Where
from ollm_tui.core.session.message import Role
from ollm_tui.storage.search.message_matching import MODEL, SLACK_SECONDS, source_of
from ollm_tui.storage.search.message_rows import (
    SCHEMA,
    SCHEMA_VERSION,
    IndexedSession,
    write_sessions,
    write_words,
)
from ollm_tui.storage.sessions.directory import Fingerprint
from ollm_tui.storage.store_layout import FILE_MODE

RANKED = 500
"""How many of the latest matches are compared with each other."""
BUSY_MILLISECONDS = 10_000
"""Long, because another process may be building the index, and recording never waits for it."""
_CACHE_KILOBYTES = 16_384
_PAGE_BYTES = 16_384
"""Smaller pages would be a sixth empty: a message seldom fits into the room another left."""
_TABLES = ("sessions", "messages", "texts", "words")

_RANK = "bm25(words, 2.0, 1.0, 0.5, 0.4)"
"""The user's text weighs most, then the answers, the thoughts, and what tools were given."""
_FOUND = (
    "SELECT m.number, s.session_id, s.title, s.project, s.pinned, s.archived, m.id, m.role, m.at, "
    f"{MODEL}, m.on_branch, m.has_tool, m.pinned, t.asked || t.said, t.aside, t.tools "
    "FROM messages m JOIN sessions s ON s.number = m.session JOIN texts t USING (number) "
    "WHERE m.number IN ({})"
)
_DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Errors that say the file is not what we wrote."""
_PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
"""Errors that end when another process does."""

Row = tuple[Any, ...]
"""A row of a result of SQLite."""


class IndexLost(Exception):
    """The index was damaged or could not be written; it is empty now and has to be filled."""


class FoundMessage(NamedTuple):
    """A message of the index and the session it is in."""

    session_id: str
    title: str
    project: str | None
    session_pinned: bool
    archived: bool
    id: str
    role: Role
    at: int
    model: str
    on_branch: bool
    has_tool: bool
    pinned: bool
    said: str
    aside: str
    tools: str


class MessageIndex:
    """One connection to the search index, opened when first needed.

    Used by one thread at a time, except for `interrupt`. A damaged file is replaced; where none
    can be written, or no path is given, the index lives in memory. Whatever reads or writes it
    raises IndexLost where it had to be replaced, or StoreError while another process writes.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def marks(self) -> dict[str, Fingerprint]:
        """Return the sessions it knows, with the fingerprints of the files they are made from."""
        rows = self._rows(
            "SELECT session_id, file_size, file_time, journal_size, journal_time FROM sessions"
        )
        return {row[0]: row[1:] for row in rows}

    def update(
        self,
        changed: Sequence[IndexedSession],
        gone: Collection[str] = (),
        before_words: Callable[[], None] | None = None,
    ) -> None:
        """Write sessions as they are now and drop others, all or none.

        `before_words` is called when the rest of the work lets other threads run.
        """
        connection = self._open()
        try:
            # Deleted text is overwritten on disk; for rows written again that would cost twice.
            connection.execute(f"PRAGMA secure_delete = {'ON' if gone else 'FAST'}")
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                new = write_sessions(connection, changed, gone)
                if before_words:
                    before_words()
                write_words(connection, new)
        except sqlite3.Error as error:
            raise self._lost(error) from error

    def find(self, query: Query, where: Where, order: Order) -> list[int] | None:
        """Return the numbers of up to RANKED messages, the best or the latest first.

        None if it was interrupted.
        """
        source = source_of(query, where, self._slack(query))
        ranked = order == "relevance" and source.has_rank
        # Numbers follow time: the latest matches are found without sorting all of them, and
        # only these are ranked.
        latest = (
            f"SELECT {source.number} AS number{f', {_RANK} AS rank' if ranked else ''} "
            f"{source.sql} ORDER BY {source.number} DESC LIMIT {RANKED}"
        )
        if ranked:
            latest = f"SELECT number FROM ({latest}) ORDER BY rank, number DESC"
        rows = self._rows_unless_interrupted(latest, source.values)
        return None if rows is None else [row[0] for row in rows]

    def hours(self, query: Query, where: Where) -> list[tuple[int, int, int]] | None:
        """Count all matches by hour since 1970 and number of the session.

        None if it was interrupted.
        """
        source = source_of(query, where, self._slack(query), with_messages=True)
        return self._rows_unless_interrupted(  # its columns are known
            f"SELECT m.at / 3600000000, m.session, count(*) {source.sql} GROUP BY 1, 2",
            source.values,
        )

    def activity(self) -> list[tuple[int, str, int, int, int]]:
        """Count messages, answers and tokens by hour since 1970 and model."""
        return self._rows(  # its columns are known
            f"SELECT m.at / 3600000000, {MODEL}, count(*), "
            "sum(m.role = 'assistant'), sum(m.tokens) "
            "FROM messages m JOIN sessions s ON s.number = m.session WHERE NOT m.is_call "
            "GROUP BY 1, 2"
        )

    def messages(self, numbers: Sequence[int]) -> list[FoundMessage]:
        """Return the messages with these numbers, in the order in which they are given.

        Those that are missing are left out: another process may have removed them meanwhile.
        """
        rows = self._rows(_FOUND.format(", ".join(map(str, numbers))))
        found = {row[0]: FoundMessage(*row[1:]) for row in rows}
        return [found[number] for number in numbers if number in found]

    def give_up(self, reason: str) -> IndexLost | StoreError:
        """Return what to raise where the index contradicts itself; the next one is new."""
        return self._lost(sqlite3.DatabaseError(reason))

    def interrupt(self) -> None:
        """End the search that another thread is doing."""
        if self._connection:
            self._connection.interrupt()

    def close(self) -> None:
        """Close the connection."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _slack(self, query: Query) -> int:
        """Return by how many seconds numbers may be later than their times."""
        if not query.before:
            return SLACK_SECONDS
        rows = self._rows("SELECT max(late) FROM sessions")
        return rows[0][0] or SLACK_SECONDS

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        try:
            return self._open().execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._lost(error) from error

    def _rows_unless_interrupted(self, sql: str, values: Sequence[Any]) -> list[Row] | None:
        try:
            return self._open().execute(sql, values).fetchall()
        except sqlite3.Error as error:
            if _code(error) == sqlite3.SQLITE_INTERRUPT:
                return None
            raise self._lost(error) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = _connect(self._path)
            except sqlite3.Error as error:
                raise self._lost(error) from error
        return self._connection

    def _lost(self, error: Exception) -> IndexLost | StoreError:
        """Return what to raise. Unless the error passes, the next connection is to a new index:
        in place of the damaged file, or in memory where a file cannot be written.
        """
        if _code(error) in _PASSING:
            return StoreError("another ollm is writing the search index", "try again in a moment")
        self.close()
        if not (_code(error) in _DAMAGE and _remove(self._path)):
            self._path = None
        return IndexLost(str(error))


def remove_index(path: Path) -> None:
    """Remove a search index, where there is one. OSError if that fails."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def forget_session(path: Path, session_id: str) -> None:
    """Remove a session from an index, where there is one; if that fails, the whole index."""
    if not path.exists():
        return
    index = MessageIndex(path)
    try:
        index.update((), (session_id,))
    except (IndexLost, StoreError):
        _remove(path)
    finally:
        index.close()


def _remove(path: Path | None) -> bool:
    if path is None:
        return False
    try:
        remove_index(path)
    except OSError:
        return False
    return True


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        _create_private(path)
    connection = sqlite3.connect(str(path) if path else ":memory:", check_same_thread=False)
    try:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
        connection.execute("PRAGMA synchronous = NORMAL")
        # Never WAL: it maps a file into memory, and a full disk then kills the process.
        connection.execute("PRAGMA journal_mode = DELETE")
        _create_tables(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _create_tables(connection: sqlite3.Connection) -> None:
    version = "PRAGMA user_version"
    if connection.execute(version).fetchone()[0] == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        if connection.execute(version).fetchone()[0] == SCHEMA_VERSION:
            return  # another process was quicker
        for table in _TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in SCHEMA.split(";"):
            connection.execute(statement)


def _create_private(path: Path) -> None:
    """Create a file for this user only; SQLite would make it readable for everybody."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    except OSError:
        pass  # it is there already, or sqlite3 will say what is wrong


def _code(error: Exception) -> int:
    # The low byte is the kind of error; the rest of the code says more about it.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
