"""Tasks of a project, as a task list has them: sections, tasks, and what happened to each."""

from __future__ import annotations

from typing import NamedTuple

DONE = frozenset(("completed", "skipped", "partial"))
"""The states in which nothing is left to do."""


class TaskSection(NamedTuple):
    """A group of tasks."""

    id: str
    name: str


class Task(NamedTuple):
    """One task. All of its texts are foreign."""

    id: str
    title: str
    status: str = "pending"
    section_id: str = ""
    description: str = ""
    source_file: str = ""
    """The file with its specification, relative to the project."""
    anchor: str = ""
    """The heading of that file it is under."""
    rejections: int = 0

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return self.status in DONE


class TaskEvent(NamedTuple):
    """One change of a task."""

    at: str
    before: str
    after: str
    actor: str = ""
    notes: str = ""


class TaskBoard(NamedTuple):
    """All sections and tasks at one moment."""

    sections: tuple[TaskSection, ...] = ()
    tasks: tuple[Task, ...] = ()

    def section_of(self, task: Task) -> TaskSection:
        """The section of a task; one without a name if it has none."""
        known = (each for each in self.sections if each.id == task.section_id)
        return next(known, TaskSection(task.section_id, ""))

    def siblings(self, task: Task) -> tuple[Task, ...]:
        """The tasks of the same section, this one too."""
        return tuple(each for each in self.tasks if each.section_id == task.section_id)

    def progress(self, section_id: str) -> tuple[int, int]:
        """How many tasks of a section are done, and how many there are."""
        tasks = [each for each in self.tasks if each.section_id == section_id]
        return sum(each.is_done for each in tasks), len(tasks)
