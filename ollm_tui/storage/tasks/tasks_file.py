"""The task list of our own, `.ollm/tasks.yaml`: read leniently, written whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from ollm_tui.core import clock
from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.task import Task, TaskBoard, TaskEvent, TaskSection
from ollm_tui.storage.files.beneath import Beneath

FILE = ".ollm/tasks.yaml"
LARGEST_BYTES = 5_000_000
STATUSES = (
    *("pending", "in_progress", "review", "completed"),
    *("disputed", "failed", "skipped", "partial"),
)


class TasksFile:
    """Reads and changes the file. StoreError if it cannot be read."""

    name = FILE

    def __init__(self, project: Path) -> None:
        self._root = project
        self.path = project / FILE

    def board(self) -> TaskBoard:
        """All sections and tasks."""
        tree = self._read()
        sections = tuple(
            TaskSection(key, _text(each.get("name")) or key)
            for number, each in enumerate(_list(tree, "sections"), 1)
            if (key := _text(each.get("id")) or str(number))
        )
        return TaskBoard(sections, tuple(map(_task, _numbered(tree))))

    def history(self, task_id: str) -> tuple[TaskEvent, ...]:
        """What happened to a task, the latest first."""
        for each in _numbered(self._read()):
            if each["id"] == task_id:
                return tuple(
                    TaskEvent(
                        *(_text(one.get(name)) for name in ("at", "from", "to", "by", "notes"))
                    )
                    for one in reversed(_list(each, "history"))
                )
        return ()

    def update(self, task_id: str, status: str, notes: str, actor: str) -> Task:
        """Give a task another status. UsageError if there is no such task or status."""
        if status not in STATUSES:
            raise UsageError(f"no status {clean(status)!r}", ", ".join(STATUSES))
        tree = self._read()
        for each in _numbered(tree):
            if each["id"] == task_id:
                event = {"at": clock.now(), "from": _text(each.get("status")) or "pending"}
                event |= {"to": status, "by": actor}
                each["status"] = status
                each["history"] = [
                    *_list(each, "history"),
                    event | ({"notes": notes} if notes else {}),
                ]
                self._write(tree)
                return _task(each)
        raise UsageError(f"no task {clean(task_id)!r}", "/task list shows them")

    def _read(self) -> dict[str, Any]:
        import yaml

        try:
            file = Beneath(self._root).read(FILE, LARGEST_BYTES)
            tree: object = yaml.safe_load((file.data or b"") if file else b"")
        except OSError as error:
            raise StoreError(
                f"{FILE} cannot be read: {error.strerror}", "check the file"
            ) from error
        except (yaml.YAMLError, RecursionError, UnicodeDecodeError) as error:
            raise StoreError(f"{FILE} is not valid YAML", "check the file") from error
        return cast(dict[str, Any], tree) if isinstance(tree, dict) else {}

    def _write(self, tree: dict[str, Any]) -> None:
        import yaml

        text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=100)
        try:
            Beneath(self._root).write(FILE, text.encode(), None)
        except OSError as error:
            raise StoreError(
                f"{FILE} cannot be written: {error.strerror}", "free disk space"
            ) from error


def _numbered(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """The tasks; one without an id has its number."""
    tasks = _list(tree, "tasks")
    for number, each in enumerate(tasks, 1):
        each["id"] = _text(each.get("id")) or str(number)
    return tasks


def _list(tree: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found: object = tree.get(name)
    entries = cast(list[object], found) if isinstance(found, list) else []
    return [cast(dict[str, Any], each) for each in entries if isinstance(each, dict)]


def _task(tree: dict[str, Any]) -> Task:
    source, _, anchor = _text(tree.get("source")).partition("#")
    return Task(
        _text(tree.get("id")),
        _text(tree.get("title")) or "untitled",
        _text(tree.get("status")) or "pending",
        _text(tree.get("section")),
        _text(tree.get("description")),
        source,
        anchor,
        sum(
            each.get("from") == "review" and each.get("to") in ("pending", "in_progress")
            for each in _list(tree, "history")
        ),
    )


def _text(value: object) -> str:
    return "" if value is None else clean(str(value))
