"""The derived index: what a list of sessions shows, without opening one of them.

It may be deleted at any time. Rows remember size and time of the files they were made from,
so a stale row is seen by comparing them with the directory.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from ollm_tui.core.session import SessionSummary
from ollm_tui.storage.directory import Fingerprint
from ollm_tui.storage.layout import FILE_MODE

SCHEMA_VERSION = 1

_SCHEMA = f"""
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    start_time TEXT NOT NULL,
    last_activity TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    message_count INTEGER NOT NULL,
    token_count INTEGER NOT NULL,
    project TEXT,
    pinned INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    tags TEXT NOT NULL,
    damage TEXT,
    file_size INTEGER NOT NULL,
    file_time INTEGER NOT NULL,
    journal_size INTEGER NOT NULL,
    journal_time INTEGER NOT NULL
);
CREATE INDEX by_activity ON sessions (last_activity DESC);
PRAGMA user_version = {SCHEMA_VERSION};
"""
_SHOWN = (
    "session_id, title, start_time, last_activity, model, provider, message_count, "
    "token_count, project, pinned, archived, tags, damage"
)
_MARKS = "file_size, file_time, journal_size, journal_time"


class SessionIndex:
    """One connection to the index of a store, opened when first needed.

    Used by one thread at a time. Where no file can be written it lives in memory.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def fingerprints(self) -> dict[str, Fingerprint]:
        """The files each row was made from."""
        rows = self._read(f"SELECT session_id, {_MARKS} FROM sessions")
        return {name: (size, time, journal, written) for name, size, time, journal, written in rows}

    def summaries(self) -> list[SessionSummary]:
        """All sessions, the latest first."""
        rows = self._read(f"SELECT {_SHOWN} FROM sessions ORDER BY last_activity DESC, number")
        return [_summary(row) for row in rows]

    def update(
        self,
        changed: Iterable[tuple[SessionSummary, Fingerprint]],
        gone: Iterable[str] = (),
    ) -> None:
        """Take in new rows and drop old ones, at once."""
        marks = ", ".join("?" * 17)
        columns = f"{_SHOWN}, {_MARKS}"
        settings = ", ".join(f"{name} = excluded.{name}" for name in columns.split(", ")[1:])
        connection = self._open()
        with connection:
            connection.executemany(
                f"INSERT INTO sessions ({columns}) VALUES ({marks}) "
                f"ON CONFLICT (session_id) DO UPDATE SET {settings}",
                ((*_row(summary), *fingerprint) for summary, fingerprint in changed),
            )
            connection.executemany(
                "DELETE FROM sessions WHERE session_id = ?", ((name,) for name in gone)
            )

    def close(self) -> None:
        """Let go of the file."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _read(self, query: str) -> list[tuple[Any, ...]]:
        try:
            return self._open().execute(query).fetchall()
        except sqlite3.DatabaseError:
            self._discard()
            return self._open().execute(query).fetchall()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = _connect(self._path)
            except sqlite3.OperationalError:
                self._connection = _connect(None)
            except sqlite3.DatabaseError:
                self._discard()
                self._connection = _connect(self._path)
        return self._connection

    def _discard(self) -> None:
        """A damaged index is no loss: away with it."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        _create_private(path)
    connection = sqlite3.connect(str(path) if path else ":memory:", check_same_thread=False)
    try:
        connection.execute("PRAGMA busy_timeout = 2000")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != SCHEMA_VERSION:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript("DROP TABLE IF EXISTS sessions;" + _SCHEMA)
        connection.execute("PRAGMA synchronous = OFF")  # it can be rebuilt
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _create_private(path: Path) -> None:
    """SQLite would create it readable for everybody."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    except OSError:
        pass  # it is there already, or sqlite3 will say what is wrong


def _row(summary: SessionSummary) -> tuple[object, ...]:
    values = (
        summary.session_id,
        summary.title,
        summary.start_time,
        summary.last_activity,
        summary.model,
        summary.provider,
        summary.message_count,
        summary.token_count,
        summary.project,
        summary.pinned,
        summary.archived,
        msgspec.json.encode(summary.tags).decode(),
        summary.damage,
    )
    # SQLite takes no lone surrogates; here they are for the eye only.
    return tuple(
        value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for value in values
    )


def _summary(row: tuple[Any, ...]) -> SessionSummary:
    *plain, pinned, archived, tags, damage = row
    return SessionSummary(
        *plain,
        pinned=bool(pinned),
        archived=bool(archived),
        tags=tuple(msgspec.json.decode(str(tags), type=list[str])),
        damage=damage,
    )
