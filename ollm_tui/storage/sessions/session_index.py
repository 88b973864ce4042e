"""The derived index: what a list of sessions shows, without opening one of them.

It may be deleted at any time. Rows remember size and time of the files they were made from,
so a stale row is seen by comparing them with the directory.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ollm_tui.core.session.session import SessionSummary
from ollm_tui.storage.sessions.directory import Fingerprint
from ollm_tui.storage.store_layout import FILE_MODE

SCHEMA_VERSION = 6
BUSY_MILLISECONDS = 250
"""Short, because recording waits in the same thread: better no row than a late record."""

IndexRow = tuple[SessionSummary, Fingerprint]
"""What is shown of a session, and the fingerprint of the files it is made from."""

_SCHEMA = f"""
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    last_activity TEXT NOT NULL,
    shown BLOB NOT NULL,
    file_size INTEGER NOT NULL,
    file_time INTEGER NOT NULL,
    journal_size INTEGER NOT NULL,
    journal_time INTEGER NOT NULL
);
CREATE INDEX by_activity ON sessions (last_activity DESC);
PRAGMA user_version = {SCHEMA_VERSION};
"""
# `shown` is one encoded value: ten thousand of them are read twice as fast as columns.
_MARKS = "file_size, file_time, journal_size, journal_time"
_SELECT = f"SELECT shown, {_MARKS} FROM sessions ORDER BY last_activity DESC, number LIMIT ?"
_COLUMNS = f"session_id, last_activity, shown, {_MARKS}"
_INSERT = (
    f"INSERT INTO sessions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (session_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", ")[1:])
)
_SIZE = "SELECT coalesce(sum(file_size + journal_size), 0) FROM sessions"
_DELETE = "DELETE FROM sessions WHERE session_id = ?"

_DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Errors that say the file is not what we wrote; others (locked, full, read-only) may pass."""
_LARGEST_INTEGER = 2**63 - 1


class SessionIndex:
    """One connection to the index of a store, opened when first needed.

    Used by one thread at a time. A damaged file is replaced; where none can be read or
    written, or no path is given, the index lives in memory. Nothing here raises: it is
    all derived.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def rows(self, most: int = -1) -> list[IndexRow]:
        """Return the sessions the index knows, the latest first; `most` of them, or all (-1)."""
        try:
            decode = msgspec.msgpack.Decoder(SessionSummary).decode
            return [(decode(row[0]), row[1:]) for row in self._open().execute(_SELECT, (most,))]
        except (sqlite3.Error, msgspec.MsgspecError, TypeError) as error:
            self._begin_anew(error)
            return []

    def stored_bytes(self) -> int:
        """Return the size in bytes of all files the rows are made from."""
        try:
            return self._open().execute(_SIZE).fetchone()[0]
        except sqlite3.Error as error:
            self._begin_anew(error)
            return 0

    def update(self, changed: Iterable[IndexRow], gone: Iterable[str] = ()) -> None:
        """Write new rows and drop old ones, all or none.

        If it is none, the next list sees by size and time that the rows are stale.
        """
        try:
            with self._open() as connection:
                connection.executemany(_INSERT, [_encoded(row) for row in changed])
                connection.executemany(_DELETE, [(name,) for name in gone])
        except sqlite3.Error as error:
            if _is_damage(error):
                self._begin_anew(error)

    def erase(self, gone: Iterable[str]) -> None:
        """Drop rows so that nothing of them is left in the file; if that fails, the file goes."""
        try:
            with self._open() as connection:
                connection.executemany(_DELETE, [(name,) for name in gone])
            connection.execute("VACUUM")
        except sqlite3.Error:
            self.close()
            self._remove_file()

    def close(self) -> None:
        """Close the connection."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = _connect(self._path)
            except sqlite3.Error as error:
                return self._begin_anew(error)
        return self._connection

    def _begin_anew(self, error: Exception) -> sqlite3.Connection:
        self.close()
        if self._path and _is_damage(error):
            try:
                if self._remove_file():
                    self._connection = _connect(self._path)
                    return self._connection
            except sqlite3.Error:
                pass  # it cannot be replaced either
        self._connection = _connect(None)
        return self._connection

    def _remove_file(self) -> bool:
        try:
            for suffix in ("", "-journal", "-wal", "-shm"):
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
        except OSError:
            return False
        return True


def showable(summary: SessionSummary) -> SessionSummary:
    """Replace what cannot be shown or stored: lone surrogates and numbers too large for SQLite."""
    return replace(
        summary,
        title=_encodable(summary.title),
        start_time=_encodable(summary.start_time),
        last_activity=_encodable(summary.last_activity),
        model=_encodable(summary.model),
        provider=_encodable(summary.provider),
        token_count=max(-_LARGEST_INTEGER, min(summary.token_count, _LARGEST_INTEGER)),
        project=None if summary.project is None else _encodable(summary.project),
        tags=tuple(map(_encodable, summary.tags)),
        damage=None if summary.damage is None else _encodable(summary.damage),
    )


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        _create_private(path)
    connection = sqlite3.connect(str(path) if path else ":memory:", check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != SCHEMA_VERSION:
            # Never WAL: it maps a file into memory, and a full disk then kills the process.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.executescript("DROP TABLE IF EXISTS sessions;" + _SCHEMA)
        connection.execute("PRAGMA synchronous = OFF")  # it can be rebuilt
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _create_private(path: Path) -> None:
    """Create a file for this user only; SQLite would make it readable for everybody."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    except OSError:
        pass  # it is there already, or sqlite3 will say what is wrong


def _is_damage(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _DAMAGE


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _encoded(row: IndexRow) -> tuple[object, ...]:
    summary, marks = row
    shown = showable(summary)
    return (shown.session_id, shown.last_activity, msgspec.msgpack.encode(shown), *marks)
