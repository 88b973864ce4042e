"""What syncing remembers: what was sent, what was seen, and the wrapped keys of sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ollm_tui.storage.store_layout import FILE_MODE, make_directory

_TABLES = """
create table if not exists fact (name text primary key, value text not null) without rowid;
create table if not exists sent (
    session text primary key, mark text not null, cursor text not null) without rowid;
create table if not exists branch (
    machine text not null, name text not null, tip text not null,
    number integer not null, chain blob not null, primary key (machine, name)) without rowid;
create table if not exists entry (
    machine text not null, hash blob not null, kind integer not null, sealed blob not null,
    primary key (machine, hash)) without rowid;
create table if not exists bucket (
    machine text not null, name text not null, sha text not null,
    primary key (machine, name)) without rowid;
create table if not exists waiting (
    machine text not null, month text not null, hash blob not null,
    primary key (machine, month, hash)) without rowid;
"""

KEY, DELETED = 0, 1
"""The kinds of an entry: the wrapped key of a session, or that it was deleted."""


class Sent(NamedTuple):
    """How far a session is on the remote."""

    mark: str
    cursor: str


class Branch(NamedTuple):
    """How far a branch was written or read."""

    tip: str
    number: int = 0
    """The last segment."""
    chain: bytes = b""
    """The hash over all segments up to it."""


class Entry(NamedTuple):
    """What a machine says about a session: its wrapped key, or that it was deleted."""

    hash: bytes
    kind: int
    sealed: bytes


class SyncState:
    """The memory of syncing with one remote; may be lost: then everything is sent again."""

    def __init__(self, path: Path) -> None:
        make_directory(path.parent)
        path.touch(FILE_MODE)
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.executescript(
            # The key of a deleted session must not stay in a page that is free now.
            "pragma journal_mode = wal; pragma synchronous = normal; pragma secure_delete = on;"
            + _TABLES
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def saving(self) -> Generator[None]:
        """Save all changes of the block together, or none of them."""
        self._connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._connection.execute("rollback")
            raise
        self._connection.execute("commit")

    def fact(self, name: str) -> str:
        """Return a single value; empty if there is none."""
        row = self._connection.execute("select value from fact where name = ?", (name,)).fetchone()
        return row[0] if row else ""

    def set_fact(self, name: str, value: str) -> None:
        """Keep a single value."""
        self._connection.execute("insert or replace into fact values (?, ?)", (name, value))

    def facts(self, prefix: str) -> dict[str, str]:
        """Return the values whose names begin alike, without that beginning."""
        rows = self._connection.execute(
            "select name, value from fact where substr(name, 1, ?) = ?", (len(prefix), prefix)
        )
        return {name[len(prefix) :]: value for name, value in rows}

    def sent(self) -> dict[str, Sent]:
        """Return how far each session is on the remote."""
        rows = self._connection.execute("select session, mark, cursor from sent")
        return {session: Sent(mark, cursor) for session, mark, cursor in rows}

    def set_sent(self, sent: Mapping[str, Sent]) -> None:
        """Keep how far sessions are on the remote."""
        rows = [(session, *each) for session, each in sent.items()]
        self._connection.executemany("insert or replace into sent values (?, ?, ?)", rows)

    def forget_sent(self) -> None:
        """Forget how far sessions are on the remote."""
        self._connection.execute("delete from sent")

    def branches(self) -> dict[tuple[str, str], Branch]:
        """Return how far each branch was written or read, by machine and name."""
        rows = self._connection.execute("select machine, name, tip, number, chain from branch")
        return {(machine, name): Branch(*rest) for machine, name, *rest in rows}

    def set_branch(self, machine: str, name: str, branch: Branch) -> None:
        """Keep how far a branch was written or read."""
        row = (machine, name, *branch)
        self._connection.execute("insert or replace into branch values (?, ?, ?, ?, ?)", row)

    def waiting(self) -> dict[tuple[str, str], set[bytes]]:
        """Return the sessions that could not be taken in, as hashes, by machine and month."""
        found: dict[tuple[str, str], set[bytes]] = {}
        for machine, month, hash_ in self._connection.execute("select * from waiting"):
            found.setdefault((machine, month), set()).add(hash_)
        return found

    def wait_for(
        self,
        machine: str,
        month: str,
        hashes: Iterable[bytes],
        instead_of: Iterable[bytes] = (),
    ) -> None:
        """Keep which sessions could not be taken in, and that others wait no more."""
        no_more = [(machine, month, each) for each in instead_of]
        rows = [(machine, month, each) for each in hashes]
        self._connection.executemany(
            "delete from waiting where machine = ? and month = ? and hash = ?", no_more
        )
        self._connection.executemany("insert or ignore into waiting values (?, ?, ?)", rows)

    def entries(self, machine: str, bucket: str = "") -> list[Entry]:
        """Return what a machine says about sessions, in order; all, or those of a bucket."""
        rows = self._connection.execute(
            "select hash, kind, sealed from entry where machine = ? and lower(hex(hash)) glob ?"
            " order by hash",
            (machine, f"{bucket}*"),
        )
        return [Entry(*row) for row in rows]

    def entry(self, machine: str, hash_: bytes) -> Entry | None:
        """Return what a machine says about one session."""
        row = self._connection.execute(
            "select hash, kind, sealed from entry where machine = ? and hash = ?", (machine, hash_)
        ).fetchone()
        return Entry(*row) if row else None

    def set_entries(self, machine: str, entries: Iterable[Entry]) -> None:
        """Keep what a machine says about sessions; that one was deleted is never taken back."""
        self._connection.executemany(
            "insert into entry values (?, ?, ?, ?) on conflict do update set"
            " kind = excluded.kind, sealed = excluded.sealed where entry.kind = 0",
            [(machine, *each) for each in entries],
        )

    def deleted(self) -> set[bytes]:
        """Return the hashes of the sessions that some machine deleted."""
        rows = self._connection.execute(
            "select distinct hash from entry where kind = ?", (DELETED,)
        )
        return {row[0] for row in rows}

    def buckets(self, machine: str) -> dict[str, str]:
        """Return which files of keys of a machine were read last, by name."""
        rows = self._connection.execute(
            "select name, sha from bucket where machine = ?", (machine,)
        )
        return dict(rows.fetchall())

    def set_buckets(self, machine: str, buckets: Mapping[str, str]) -> None:
        """Keep which files of keys of a machine were read last."""
        rows = [(machine, name, sha) for name, sha in buckets.items()]
        self._connection.executemany("insert or replace into bucket values (?, ?, ?)", rows)

    def forget_machine(self, machine: str) -> None:
        """Forget everything about a machine."""
        for table in ("branch", "entry", "bucket", "waiting"):
            self._connection.execute(f"delete from {table} where machine = ?", (machine,))
