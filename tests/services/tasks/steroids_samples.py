"""Databases of Steroids, made after its schema, whole or of another version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

SCHEMA = """
CREATE TABLE sections (id TEXT PRIMARY KEY, name TEXT, position INTEGER, priority INTEGER);
CREATE TABLE tasks (id TEXT PRIMARY KEY, title TEXT, description TEXT, status TEXT,
    section_id TEXT, source_file TEXT, file_anchor TEXT, rejection_count INTEGER, created_at TEXT);
CREATE TABLE audit (id INTEGER PRIMARY KEY, task_id TEXT, from_status TEXT, to_status TEXT,
    actor TEXT, notes TEXT, commit_sha TEXT, created_at TEXT);
"""


def database(project: Path, schema: str = SCHEMA, tasks: int = 0) -> Path:
    """A small project, or one with many tasks."""
    path = project / ".steroids" / "steroids.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(schema)
        if schema != SCHEMA:
            return path
        base.execute(
            "INSERT INTO sections VALUES ('s1', 'Uploads', 1, 50), ('s2', 'Search', 2, 50)"
        )
        rows = (
            (
                "t1",
                "Retry uploads \x1b[2J",
                "Back off.",
                "in_progress",
                "s1",
                "docs/spec.md",
                "Retries",
                2,
            ),
            ("t2", "Cancel uploads", "", "completed", "s1", "../secret.md", "", 0),
            ("t3", "Find words", "", "pending", "s2", "", "", 0),
        )
        base.executemany("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, '2026-01-01')", rows)
        many = ((f"m{number}", f"Task {number}", "x " * 500) for number in range(tasks))
        base.executemany(
            "INSERT INTO tasks VALUES (?, ?, ?, 'pending', 's1', '', '', 0, '2026-01-02')", many
        )
        base.execute(
            "INSERT INTO audit VALUES (1, 't1', 'review', 'in_progress', 'reviewer',"
            " 'no test for the jitter', 'abc', '2026-01-03T10:00:00')"
        )
    return path


def specification(project: Path) -> None:
    """The file with the specification of the first task."""
    (project / "docs").mkdir()
    (project / "docs" / "spec.md").write_text(
        "# Uploads\nAll of it.\n## Retries\nWait 1, 2, 4 s.\n### Jitter\nYes.\n"
        "## Cancel\nAt once.\n"
    )
