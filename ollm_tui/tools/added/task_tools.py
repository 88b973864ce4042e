"""The tools for task lists: query tasks, sections, history and settings, and change them.

A database of Steroids is changed by its own command only; `.ollm/tasks.yaml` is ours to write.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError, ToolError
from ollm_tui.core.intake import clean
from ollm_tui.core.task import TaskBoard
from ollm_tui.core.tool import Action, PlannedCall, Tell, Tool, ToolOutcome
from ollm_tui.services.tasks.project_tasks import ProjectTasks
from ollm_tui.services.tasks.steroids_command import run_steroids
from ollm_tui.storage.files.beneath import Beneath
from ollm_tui.storage.tasks.tasks_file import FILE, TasksFile
from ollm_tui.tools.call_arguments import Arguments, Planned, one_line, spec_of, understood

MOST_TASKS = 50
"""How many tasks one answer lists."""
CONFIG = ".steroids/config.yaml"
LARGEST_CONFIG = 50_000


class _TasksArguments(Arguments, frozen=True):
    action: Literal["list", "show", "update"] = "list"
    task: Annotated[str, Meta(description="id of a task, for show and update")] = ""
    status: Annotated[str, Meta(description="the new status, or only tasks with it")] = ""
    section: Annotated[str, Meta(description="only tasks of this section")] = ""
    notes: Annotated[str, Meta(description="why it is changed")] = ""


class TasksTool:
    """Lists tasks, shows one with its specification, or gives one another status."""

    spec = spec_of("steroids_tasks", "The project's tasks: list, show or update.", _TasksArguments)

    def __init__(self, tasks: ProjectTasks, folder: Path, environ: Mapping[str, str]) -> None:
        self._tasks = tasks
        self._folder = folder
        self._environ = environ

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Check the arguments. ToolError if a task is unknown or cannot be changed."""
        arguments = understood(self.spec.name, _TasksArguments, args)
        if arguments.action == "list":
            return _reading("tasks", lambda: self._listed(arguments))
        found = await _in_thread(lambda: self._tasks.find(arguments.task))
        if arguments.action == "show":
            return _reading(f"task {found.id}", lambda: self._tasks.block(found))
        if not arguments.status.strip():
            raise ToolError("steroids_tasks with action update needs status")
        if isinstance(source := self._tasks.source, TasksFile):
            return self._own_update(source, found.id, arguments)
        words = ["tasks", "update", found.id, "--status", arguments.status.strip()]
        words += ["--notes", arguments.notes] if arguments.notes.strip() else []
        return _command(self._tasks, words, self._folder, self._environ)

    def _own_update(
        self, source: TasksFile, task_id: str, arguments: _TasksArguments
    ) -> PlannedCall:
        async def work(_tell: Tell) -> ToolOutcome:
            status, notes = arguments.status.strip(), clean(arguments.notes).strip()
            changed = await _in_thread(lambda: source.update(task_id, status, notes, "model"))
            return ToolOutcome(f"task {changed.id} is {changed.status} now", changed=True)

        words = f"task {task_id} → {one_line(arguments.status.strip())}"
        return Planned(Action(effect="write", title=f"set {words} in", subject=FILE), work)

    def _listed(self, arguments: _TasksArguments) -> str:
        board = self._tasks.board()
        wanted = [
            task
            for task in board.tasks
            if arguments.status.strip() in ("", task.status)
            and arguments.section.strip() in ("", task.section_id, board.section_of(task).name)
        ]
        lines = [f"{task.id} [{task.status}] {task.title}" for task in wanted[:MOST_TASKS]]
        left = len(wanted) - len(lines)
        return "\n".join((*lines, *([f"… and {left} more"] if left else ()))) or "[no tasks]"


class _SectionsArguments(Arguments, frozen=True):
    pass


class SectionsTool:
    """Lists the sections with how much of each is done."""

    spec = spec_of("steroids_sections", "The sections of the project's tasks.", _SectionsArguments)

    def __init__(self, tasks: ProjectTasks) -> None:
        self._tasks = tasks

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Plan to list them."""
        understood(self.spec.name, _SectionsArguments, args)
        return _reading("sections", lambda: "\n".join(_sections(self._tasks.board())))


class _AuditArguments(Arguments, frozen=True):
    task: Annotated[str, Meta(description="id of a task")]


class AuditTool:
    """Shows what happened to a task: changes, rejections, notes."""

    spec = spec_of("steroids_audit", "The history of one task.", _AuditArguments)

    def __init__(self, tasks: ProjectTasks) -> None:
        self._tasks = tasks

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Check the task. ToolError if there is none."""
        arguments = understood(self.spec.name, _AuditArguments, args)
        found = await _in_thread(lambda: self._tasks.find(arguments.task))

        def read() -> str:
            lines = [
                " ".join(
                    f"{each.at} {each.before} → {each.after} {each.actor} {each.notes}".split()
                )
                for each in self._tasks.history(found.id)
            ]
            return "\n".join(lines) or "[nothing happened yet]"

        return _reading(f"history of {found.id}", read)


class _ConfigArguments(Arguments, frozen=True):
    key: Annotated[str, Meta(description="the key to change")] = ""
    value: Annotated[str, Meta(description="its new value")] = ""


class ConfigTool:
    """Reads the settings of Steroids; changes one by its own command."""

    spec = spec_of("steroids_config", "Read or change settings of Steroids.", _ConfigArguments)

    def __init__(self, tasks: ProjectTasks, folder: Path, environ: Mapping[str, str]) -> None:
        self._tasks = tasks
        self._folder = folder
        self._environ = environ

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Check the arguments. ToolError if there is nothing to read or to change."""
        arguments = understood(self.spec.name, _ConfigArguments, args)
        if arguments.key.strip():
            words = ["config", "set", arguments.key.strip(), arguments.value]
            return _command(self._tasks, words, self._folder, self._environ)
        return _reading(CONFIG, self._read)

    def _read(self) -> str:
        try:
            file = Beneath(self._folder.resolve()).read(CONFIG, LARGEST_CONFIG)
        except OSError as error:
            raise ToolError(f"there is no {CONFIG} here") from error
        text = clean((file.data or b"").decode("utf-8", "replace")) if file else ""
        if not text.strip():
            raise ToolError(f"there is no {CONFIG} here")
        return text


def task_tools(tasks: ProjectTasks, folder: Path, environ: Mapping[str, str]) -> Iterator[Tool]:
    """Yield the tools for the tasks of a project; none if it has no tasks."""
    if (source := tasks.source) is None:
        return
    yield TasksTool(tasks, folder, environ)
    yield SectionsTool(tasks)
    yield AuditTool(tasks)
    if not isinstance(source, TasksFile):
        yield ConfigTool(tasks, folder, environ)


def _sections(board: TaskBoard) -> Iterator[str]:
    if not board.sections:
        yield "[no sections]"
    for section in board.sections:
        done, count = board.progress(section.id)
        yield f"{section.id} {section.name}: {done} of {count} done"


def _reading(subject: str, read: Callable[[], str]) -> PlannedCall:
    async def work(_tell: Tell) -> ToolOutcome:
        text = await _in_thread(read)
        return ToolOutcome(text, changed=False, summary=counted(text.count("\n") + 1, "line"))

    return Planned(Action(effect="none", title="read", subject=subject), work)


def _command(
    tasks: ProjectTasks, words: list[str], folder: Path, environ: Mapping[str, str]
) -> PlannedCall:
    """A call of the command of Steroids, shown in full before it is run."""
    program = tasks.command
    if program is None:
        raise ToolError("tasks of Steroids are changed by its command, which is not installed")

    async def work(_tell: Tell) -> ToolOutcome:
        text = await run_steroids(program, words, folder, environ)
        return ToolOutcome(text or "done", summary="exit 0")

    line = shlex.join(["steroids", *words])
    action = Action(effect="run", title="run", subject=line, place=str(folder), is_outside=True)
    return Planned(action, work)


async def _in_thread(read: Callable[[], Any]) -> Any:
    """Read or write off the event loop; an error becomes one for the model."""
    try:
        return await asyncio.to_thread(read)
    except ToolError:
        raise
    except OllmError as error:
        raise ToolError(error.message, error.hint) from error
