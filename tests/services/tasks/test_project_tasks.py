"""Tasks of a project: the block about one, whatever the database is like, and never a write."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ollm_tui.core.errors import UsageError
from ollm_tui.services.tasks.project_tasks import MOST_TOKENS, ProjectTasks, under_heading
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.storage.tasks.tasks_file import TasksFile
from tests.services.tasks.steroids_samples import database, specification


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_block_tells_what_matters_about_a_task(tmp_path: Path) -> None:
    path = database(tmp_path)
    specification(tmp_path)
    before = digest(path)
    tasks = ProjectTasks(tmp_path)
    block = tasks.block(tasks.find("t1"))
    for words in (
        "Task t1: Retry uploads",
        "in_progress in Uploads, 1 of 2 done",
        "Rejected 2 times",
        "Back off.",
        "Wait 1, 2, 4 s.",
        "### Jitter",
        "no test for the jitter",
        "[x] t2 Cancel uploads",
    ):
        assert words in block
    assert "At once" not in block and "\x1b" not in block and "Find words" not in block
    assert digest(path) == before and [*path.parent.iterdir()] == [path]


def test_a_specification_outside_of_the_project_is_not_opened(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    database(project)
    (tmp_path / "secret.md").write_text("swordfish")
    tasks = ProjectTasks(project)
    block = tasks.block(tasks.find("t2"))
    assert "swordfish" not in block and "cannot be read in this project" in block


def test_ten_thousand_tasks_give_a_block_within_its_cap(tmp_path: Path) -> None:
    path = database(tmp_path, tasks=10_000)
    before, tasks = digest(path), ProjectTasks(tmp_path)
    assert len(tasks.board().tasks) == 10_003
    block = tasks.block(tasks.find("m5000"))
    assert careful_estimate(block) <= MOST_TOKENS
    assert "m5001 Task 5001" in block and block.count("- [ ]") == 15
    assert digest(path) == before


def test_missing_columns_and_tables_are_no_obstacle(tmp_path: Path) -> None:
    path = database(tmp_path, "CREATE TABLE tasks (id TEXT, title TEXT, later_column TEXT);")
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("INSERT INTO tasks VALUES ('a', 'Only a title', '')")
    before, tasks = digest(path), ProjectTasks(tmp_path)
    assert "Task a: Only a title\nStatus: pending" in tasks.block(tasks.find("a"))
    assert digest(path) == before


@pytest.mark.parametrize("journal", ("delete", "wal"))
def test_a_writer_does_not_block_reading(tmp_path: Path, journal: str) -> None:
    path = database(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute(f"PRAGMA journal_mode={journal}")
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("UPDATE tasks SET title = 'half'")
        before, tasks = digest(path), ProjectTasks(tmp_path)
        assert "Find words" in tasks.block(tasks.find("t3"))
        assert digest(path) == before
        writer.execute("ROLLBACK")


def test_tasks_of_our_own_file_are_read_and_written(tmp_path: Path) -> None:
    file = tmp_path / ".ollm" / "tasks.yaml"
    file.parent.mkdir()
    file.write_text(
        "tasks:\n  - title: Water the plants\n  - {id: b, title: Rest, section: home}\n"
    )
    tasks = ProjectTasks(tmp_path)
    source = tasks.source
    assert isinstance(source, TasksFile)
    assert [task.id for task in tasks.board().tasks] == ["1", "b"]
    source.update("1", "completed", "done by hand", "user")
    assert tasks.find("Water the plants").is_done
    assert tasks.history("1")[0].notes == "done by hand"
    with pytest.raises(UsageError, match="no status"):
        source.update("1", "sideways", "", "user")


def test_a_project_without_tasks_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no tasks"):
        ProjectTasks(tmp_path).board()


def test_a_heading_that_is_not_there_gives_all_of_the_text() -> None:
    assert under_heading("# A\nx", "nothing") == "# A\nx"
