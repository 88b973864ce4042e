"""The database of a Steroids project, read and never written, whatever its version."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from ollm_tui.core.errors import StoreError
from ollm_tui.core.intake import clean
from ollm_tui.core.task import Task, TaskBoard, TaskEvent, TaskSection

FILE = ".steroids/steroids.db"
WAIT_SECONDS = 0.2
"""How long a writer is waited for; then what is on disk is read without its lock."""
MOST_EVENTS = 200
LONGEST_TEXT = 20_000


class SteroidsDatabase:
    """Reads sections, tasks and their history. StoreError if it cannot be read."""

    name = "Steroids"

    def __init__(self, project: Path) -> None:
        self.path = project / FILE

    def board(self) -> TaskBoard:
        """All sections and tasks."""
        with self._open() as database:
            sections = tuple(
                TaskSection(_text(key), _text(name) or _text(key))
                for key, name in _rows(database, "sections", ("id", "name"), "position")
            )
            names = ("id", "title", "status", "section_id", "description", "source_file")
            more = ("file_anchor", "rejection_count")
            tasks = tuple(map(_task, _rows(database, "tasks", (*names, *more), "created_at")))
        return TaskBoard(sections, tasks)

    def history(self, task_id: str) -> tuple[TaskEvent, ...]:
        """What happened to a task, the latest first."""
        names = ("created_at", "from_status", "to_status", "actor", "notes")
        with self._open() as database:
            rows = _rows(database, "audit", names, "created_at", "task_id", task_id)
        return tuple(TaskEvent(*map(_text, row)) for row in rows[::-1][:MOST_EVENTS])

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        where = self.path.resolve().as_uri()
        for how in ("mode=ro", "immutable=1"):
            try:
                database = sqlite3.connect(f"{where}?{how}", uri=True, timeout=WAIT_SECONDS)
                with closing(database):
                    database.execute("SELECT count(*) FROM sqlite_master").fetchone()
                    yield database
                    return
            except sqlite3.OperationalError as error:
                # Locked by a writer, or in a mode that wants to write beside it.
                if how == "immutable=1":
                    raise StoreError(
                        f"{FILE} cannot be read: {error}", "is it complete?"
                    ) from error
            except sqlite3.DatabaseError as error:
                raise StoreError(f"{FILE} cannot be read: {error}", "is it damaged?") from error


def _rows(
    database: sqlite3.Connection,
    table: str,
    names: Sequence[str],
    order: str,
    key: str = "",
    value: str = "",
) -> list[tuple[object, ...]]:
    """The rows of a table; a column that this version does not have is empty."""
    columns = {str(row[1]) for row in database.execute(f"PRAGMA table_info({table})")}
    if not columns or (key and key not in columns):
        return []
    wanted = ", ".join(name if name in columns else "NULL" for name in names)
    where = f" WHERE {key} = ?" if key else ""
    by = f" ORDER BY {order}, rowid" if order in columns else ""
    return database.execute(
        f"SELECT {wanted} FROM {table}{where}{by}", (value,) if key else ()
    ).fetchall()


def _task(row: tuple[object, ...]) -> Task:
    *texts, rejections = row
    key, title, status, section, description, source, anchor = map(_text, texts)
    count = rejections if isinstance(rejections, int) else 0
    return Task(key, title, status or "pending", section, description, source, anchor, count)


def _text(value: object) -> str:
    return "" if value is None else clean(str(value))[:LONGEST_TEXT]
