"""The tasks of a project, wherever they are kept, and the block about one for the model."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.task import Task, TaskBoard, TaskEvent
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.storage.files.beneath import Beneath
from ollm_tui.storage.tasks.steroids_database import SteroidsDatabase
from ollm_tui.storage.tasks.tasks_file import TasksFile

MOST_TOKENS = 2_000
"""The most that the block about a task may take of every prompt."""
SPEC_SHARE = 0.5
"""The share of that for the specification; what it does not need is left to the rest."""
MOST_SIBLINGS = 15
MOST_EVENTS = 8
LARGEST_SPEC = 200_000
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$", re.MULTILINE)


class ProjectTasks:
    """Reads tasks: of a Steroids project, else of `.ollm/tasks.yaml`. All methods read files, so
    they belong in a thread."""

    def __init__(self, project: Path, environ: Mapping[str, str] | None = None) -> None:
        self._project = project
        self._path = (environ or {}).get("PATH")
        self._steroids = SteroidsDatabase(project)
        self._own = TasksFile(project)

    @property
    def source(self) -> SteroidsDatabase | TasksFile | None:
        """Where the tasks are kept; None if the project has none."""
        if self._steroids.path.is_file():
            return self._steroids
        return self._own if self._own.path.is_file() else None

    @property
    def command(self) -> str | None:
        """The program that changes tasks of Steroids, where it is installed."""
        return shutil.which("steroids", path=self._path)

    def board(self) -> TaskBoard:
        """All sections and tasks. UsageError if the project has none."""
        source = self.source
        if source is None:
            hint = "add .ollm/tasks.yaml or .steroids/steroids.db"
            raise UsageError("this project has no tasks", hint)
        return source.board()

    def history(self, task_id: str) -> tuple[TaskEvent, ...]:
        """What happened to a task, the latest first."""
        source = self.source
        return source.history(task_id) if source else ()

    def find(self, name: str, board: TaskBoard | None = None) -> Task:
        """Return a task by its id, the beginning of that, or its title. UsageError."""
        board = board or self.board()
        word = name.strip()
        exact = [task for task in board.tasks if task.id == word]
        found = exact or [task for task in board.tasks if word and task.id.startswith(word)]
        found = found or [task for task in board.tasks if task.title.casefold() == word.casefold()]
        if len(found) != 1:
            count = "several tasks are" if found else "no task is"
            raise UsageError(f"{count} called {clean(word)!r}", "/task list shows them")
        return found[0]

    def block(self, task: Task) -> str:
        """What the model is told about a task, within MOST_TOKENS: data, never instructions."""
        board = self.board()
        section, siblings = board.section_of(task), board.siblings(task)
        done, count = board.progress(task.section_id)
        place = f" in {section.name}, {done} of {count} done" if section.name else ""
        head = [f"Task {task.id}: {task.title}", f"Status: {task.status}{place}"]
        if task.rejections:
            head.append(f"Rejected {task.rejections} times")
        if task.description:
            head += ["", task.description]
        rest = [*self._past(task), *_beside(task, siblings)]
        spec = self._spec(task)
        used = [*_within(head, MOST_TOKENS * (1 - SPEC_SHARE) / 2)]
        room = MOST_TOKENS - _cost(used)
        short = _within(rest, room - min(_cost(spec), room * SPEC_SHARE))
        return "\n".join((*used, *_within(spec, room - _cost(short)), *short))

    def _past(self, task: Task) -> list[str]:
        """The latest changes of a task; the notes of rejections are what matters most."""
        events = self.history(task.id)[:MOST_EVENTS]
        facts = (
            (each.at[:16], each.before, "→", each.after, each.actor, each.notes) for each in events
        )
        lines = ["- " + " ".join(" ".join(fact).split()) for fact in facts]
        return ["", "History, the latest first:", *lines] if lines else []

    def _spec(self, task: Task) -> list[str]:
        """The specification of a task: its file, or the part of it under its heading."""
        if not task.source_file:
            return []
        try:
            root = self._project.resolve()
            path = (root / task.source_file).resolve().relative_to(root)
            file = Beneath(root).read(path.as_posix(), LARGEST_SPEC)
        except (OSError, ValueError, RuntimeError):
            return ["", f"Specification: {task.source_file} cannot be read in this project"]
        text = clean((file.data or b"").decode("utf-8", "replace")) if file else ""
        part = under_heading(text, task.anchor)
        return ["", f"Specification, from {task.source_file}:", *part.strip().split("\n")]


def under_heading(text: str, anchor: str) -> str:
    """Return the part of a Markdown text under a heading; all of it if there is none such."""
    wanted = _slug(anchor)
    headings = list(_HEADING.finditer(text)) if wanted else []
    for number, heading in enumerate(headings):
        if _slug(heading[2]) == wanted:
            after = (
                each.start() for each in headings[number + 1 :] if len(each[1]) <= len(heading[1])
            )
            return text[heading.start() : next(after, len(text))]
    return text


def _slug(heading: str) -> str:
    return re.sub(r"[^\w]+", "-", heading.casefold().lstrip("#")).strip("-")


def _beside(task: Task, siblings: tuple[Task, ...]) -> list[str]:
    """The titles of tasks of the same section, those around this one."""
    others = [each for each in siblings if each.id != task.id]
    at = next((number for number, each in enumerate(siblings) if each.id == task.id), 0)
    start = max(0, min(at - MOST_SIBLINGS // 2, len(others) - MOST_SIBLINGS))
    lines = [
        f"- [{'x' if each.is_done else ' '}] {each.id} {each.title}"
        for each in others[start : start + MOST_SIBLINGS]
    ]
    return ["", "In the same section:", *lines] if lines else []


def _within(lines: list[str], tokens: float) -> list[str]:
    """The first lines that take no more than so many tokens, with a mark if some are left out."""
    return list(_fitting(lines, tokens))


def _fitting(lines: list[str], tokens: float) -> Iterator[str]:
    room = tokens - 2
    for line in lines:
        room -= careful_estimate(line) + 1
        if room < 0:
            yield "…"
            return
        yield line


def _cost(lines: list[str]) -> float:
    return sum(careful_estimate(line) + 1 for line in lines)
