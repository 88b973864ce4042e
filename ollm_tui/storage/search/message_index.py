"""The search index: every message of a store in one SQLite file, made from the session files.

It may be deleted at any time. Sessions remember size and time of the files they were made
from, so a stale one is seen by comparing them with the directory.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ollm_tui.core.errors import StoreError
from ollm_tui.core.search import Order, Query, Term, Where
from ollm_tui.core.session.message import Role
from ollm_tui.storage.search.message_matching import MODEL, SLACK_SECONDS, source_of
from ollm_tui.storage.search.message_rows import (
    SCHEMA,
    SCHEMA_VERSION,
    IndexedSession,
    write_sessions,
    write_words,
)
from ollm_tui.storage.search.vectors import Vectors, vectors_path
from ollm_tui.storage.sessions.directory import Fingerprint
from ollm_tui.storage.store_layout import FILE_MODE

RANKED = 150
"""How many of the latest matches are compared with each other, several times what is shown."""
BUSY_MILLISECONDS = 10_000
"""Long, because another process may be building the index, and recording never waits for it."""
_CACHE_KILOBYTES = 24_576
_PAGE_BYTES = 16_384
"""Smaller pages would be a sixth empty: a message seldom fits into the room another left."""
_TABLES = ("sessions", "messages", "texts", "words")

_RANK = "bm25(words, 2.0, 1.0, 0.5, 0.4)"
"""The user's text weighs most, then the answers, the thoughts, and what tools were given."""
_FOUND = (
    "SELECT m.number, s.session_id, s.title, s.project, s.pinned, s.archived, m.id, m.role, m.at, "
    f"{MODEL}, m.on_branch, m.has_tool, m.pinned, m.content, t.asked || t.said, t.aside, t.tools "
    "FROM messages m JOIN sessions s ON s.number = m.session JOIN texts t USING (number) "
    "WHERE m.number IN (SELECT value FROM json_each(?))"
)
"""Takes a JSON list, so that SQLite knows the statement already."""
_DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Errors that say the file is not what we wrote."""
_PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
"""Errors that end when another process does."""

Row = tuple[Any, ...]
"""A row of a result of SQLite."""


_LAST_LETTER = chr(0x10FFFF)


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
    content: int
    """What messages share that say the same."""
    said: str
    aside: str
    tools: str


class Candidate(NamedTuple):
    """The beginning of a message that may answer a question."""

    number: int
    is_asked: bool
    """Whether the user said it."""
    said: str
    beside: str
    """Reasoning, attachments, and what went to and came from tools."""


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

    def erase(self, gone: Collection[str]) -> None:
        """Drop sessions so that none of their words is left in the file."""
        self.update((), gone)
        connection = self._open()
        try:
            # FTS5 only marks words as deleted until it merges what holds them; and SQLite leaves
            # copies of rows it has moved in the unused part of a page.
            with connection:
                connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            connection.execute("VACUUM")
        except sqlite3.Error as error:
            raise self._lost(error) from error

    def find(
        self, query: Query, where: Where, order: Order, most: int = RANKED
    ) -> dict[int, int] | None:
        """Return the numbers of messages, the best or the latest first, each with what it says:
        a number that its copies share. None if it was interrupted.
        """
        source = source_of(query, where, self._slack(query))
        ranked = order == "relevance" and source.has_rank
        # Numbers follow time: the latest matches are found without sorting all of them, and
        # only these are ranked.
        latest = (
            f"SELECT {source.number} AS number{f', {_RANK} AS rank' if ranked else ''} "
            f"{source.sql} ORDER BY {source.number} DESC LIMIT {most}"
        )
        # A row that is missing was removed by another process, or the index is damaged.
        content = "(SELECT content FROM messages m WHERE m.number = found.number)"
        best = "rank, number DESC" if ranked else "number DESC"
        rows = self._rows_unless_interrupted(
            f"SELECT number, {content} FROM ({latest}) found ORDER BY {best}", source.values
        )
        return None if rows is None else dict[int, int](rows)

    def hours(
        self, query: Query, where: Where, others: Sequence[int] = ()
    ) -> list[tuple[int, int, int]] | None:
        """Count all matches, and the `others`, by hour since 1970 and number of the session.

        What is said in several places counts at the latest. None if it was interrupted.
        """
        source = source_of(query, where, self._slack(query), with_messages=True)
        columns = "m.at, m.session, m.content"
        found = f"SELECT {columns} {source.sql}"
        if others:
            found += (
                f" UNION SELECT {columns} FROM messages m WHERE m.number IN ({_listed(others)})"
            )
        return self._rows_unless_interrupted(  # its columns are known
            "SELECT hour, session, count(*) FROM "
            f"(SELECT max(at) / 3600000000 AS hour, session FROM ({found}) GROUP BY content) "
            "GROUP BY 1, 2",
            source.values,
        )

    def sessions_with(
        self, query: Query, where: Where, others: Sequence[int] = ()
    ) -> list[tuple[int]] | None:
        """Return the numbers of the sessions that have a match, or one of the `others`.

        None if it was interrupted.
        """
        source = source_of(query, where, self._slack(query), with_messages=True)
        found = f"SELECT m.session {source.sql}"
        if others:
            found += f" UNION SELECT session FROM messages WHERE number IN ({_listed(others)})"
        return self._rows_unless_interrupted(f"SELECT DISTINCT * FROM ({found})", source.values)

    def version(self) -> tuple[int, int, int]:
        """Return numbers that are different after the index was changed, here or elsewhere."""
        connection = self._open()
        elsewhere = self._rows("PRAGMA data_version")[0][0]
        return id(connection), connection.total_changes, elsewhere

    def count(self) -> int:
        """Return how many messages there are."""
        return self._rows("SELECT count(*) FROM messages")[0][0]

    def vocabulary(self, first: str, lengths: tuple[int, int]) -> list[tuple[str, int]]:
        """Return the words that begin with `first` and have so many letters, and how many
        messages have each."""
        return self._rows(
            "SELECT term, doc FROM temp.vocabulary WHERE term >= ? AND term < ? "
            "AND length(term) BETWEEN ? AND ?",
            (first, first + _LAST_LETTER, *lengths),
        )

    def having(self, forms: Sequence[Term], query: Query, most: int) -> list[int] | None:
        """Return the numbers of the latest messages that match a query and have one of the forms.

        None if it was interrupted.
        """
        source = source_of(query, "words", self._slack(query), any_of=forms)
        latest = f"SELECT {source.number} {source.sql} ORDER BY {source.number} DESC LIMIT {most}"
        rows = self._rows_unless_interrupted(latest, source.values)
        return None if rows is None else [row[0] for row in rows]

    def candidates(self, numbers: Sequence[int], characters: int) -> list[Candidate]:
        """Return the beginnings of messages, each of so many characters."""
        rows = self._rows(
            f"SELECT number, asked != '', substr(asked || said, 1, {characters}), "
            f"substr(aside || char(10) || tools, 1, {characters}) "
            f"FROM texts WHERE number IN ({_listed(numbers)})"
        )
        return [Candidate(*row) for row in rows]

    def contents(self, numbers: Sequence[int]) -> dict[int, int]:
        """Return what each message says, as a number that copies of it share."""
        rows = self._rows(
            f"SELECT number, content FROM messages WHERE number IN ({_listed(numbers)})"
        )
        return dict[int, int](rows)

    def all_contents(self, query: Query | None = None) -> set[int]:
        """Return what all messages say, or those that match the filters of a query, as numbers."""
        asked = (query or Query())._replace(terms=())
        source = source_of(asked, "words", self._slack(asked), with_messages=True)
        return {row[0] for row in self._rows(f"SELECT m.content {source.sql}", source.values)}

    def numbers_of(self, contents: Collection[int], query: Query) -> dict[int, int]:
        """Return the numbers of the messages that say these things and match the filters of a
        query, the latest last, with what each says."""
        asked = query._replace(terms=tuple(term for term in query.terms if term.exact))
        self._rows("CREATE INDEX IF NOT EXISTS by_content ON messages (content)")
        source = source_of(asked, "words", self._slack(asked), with_messages=True)
        rows = self._rows(
            f"SELECT m.number, m.content {source.sql} AND m.content IN ({_listed(contents)}) "
            "ORDER BY 1",
            source.values,
        )
        return dict[int, int](rows)

    def said(self, roles: Sequence[Role]) -> list[tuple[int, int]]:
        """Return what these roles said, the latest first: number, and what copies share."""
        marks = ", ".join("?" * len(roles))
        return self._rows(
            f"SELECT max(number), content FROM messages WHERE role IN ({marks}) "
            "GROUP BY content ORDER BY 1 DESC",
            roles,
        )

    def activity(self) -> list[tuple[int, str, int, int, int]]:
        """Count messages, answers and tokens by hour since 1970 and model."""
        return self._rows(  # its columns are known
            f"SELECT m.at / 3600000000, {MODEL}, count(*), "
            "sum(m.role = 'assistant'), sum(m.tokens) "
            "FROM messages m JOIN sessions s ON s.number = m.session WHERE NOT m.is_call "
            "GROUP BY 1, 2"
        )

    def costs(self) -> list[tuple[int, str, int, int, int, float, int]]:
        """Add up by hour and model what was paid, an answer that is in several sessions once:
        answers with a cache, those that used it, its tokens, dollars, answers without a price."""
        return self._rows(
            "SELECT hour, model, sum(cached >= 0), sum(cached > 0), sum(max(cached, 0)), "
            "sum(max(cost, 0.0)), sum(cost < 0) "
            f"FROM (SELECT m.at / 3600000000 AS hour, {MODEL} AS model, cached, cost "
            "FROM messages m JOIN sessions s ON s.number = m.session "
            "WHERE (m.cached >= 0 OR m.cost != 0) GROUP BY m.id) GROUP BY 1, 2"
        )

    def messages(self, numbers: Sequence[int]) -> list[FoundMessage]:
        """Return the messages with these numbers, in the order in which they are given.

        Those that are missing are left out: another process may have removed them meanwhile.
        """
        rows = self._rows(_FOUND, (str(list(numbers)),))
        found = {row[0]: FoundMessage(*row[1:]) for row in rows}
        return [found[number] for number in numbers if number in found]

    def give_up(self, reason: str) -> IndexLost | StoreError:
        """Return what to raise where the index contradicts itself; the next one is new."""
        return self._lost(sqlite3.DatabaseError(reason))

    def interrupt(self) -> None:
        """End the search that another thread is doing."""
        if self._connection:
            self._connection.interrupt()

    def release(self) -> None:
        """Give back the memory that searching took."""
        if self._connection:
            self._connection.execute("PRAGMA shrink_memory")

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
    """Remove a search index and its vectors, where there are any. OSError if that fails."""
    _remove_tables(path)
    vectors_path(path).unlink(missing_ok=True)


def erase_sessions(path: Path, session_ids: Collection[str]) -> None:
    """Erase sessions from an index, where there is one; if that fails, the whole index goes."""
    if not path.exists():
        return
    index = MessageIndex(path)
    try:
        index.erase(session_ids)
        Vectors(path).keep(index.all_contents())
    except (IndexLost, StoreError, OSError):
        remove_index(path)
    finally:
        index.close()


def _remove_tables(path: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _remove(path: Path | None) -> bool:
    """Remove a damaged index; vectors stay, since they belong to what was said."""
    if path is None:
        return False
    try:
        _remove_tables(path)
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
        connection.execute(
            "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, words, row)"
        )
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


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _code(error: Exception) -> int:
    # The low byte is the kind of error; the rest of the code says more about it.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
