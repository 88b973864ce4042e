"""How a project stands: its active tasks, and what failed lately. All of it is untrusted data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ollm_tui.core.intake import clean
from ollm_tui.core.session.message import ToolResultPart
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.services.tasks.project_tasks import ProjectTasks

ACTIVE = ("in_progress", "review", "disputed", "failed", "pending")
"""The states of tasks that are still to be done, the most pressing first."""
MOST_TASKS = 30
MOST_FAILURES = 3
LOGS = ".steroids/logs"
MOST_LOGS = 2
LAST_LINES = 20
TAIL_BYTES = 20_000
_FAILED = re.compile(r"\[(?:exit [1-9]|timeout\b)")


def active_tasks(tasks: ProjectTasks) -> list[str]:
    """One line for each task that is still to be done, the most pressing first."""
    board = tasks.board()
    known = [task for task in board.tasks if task.status in ACTIVE]
    known.sort(key=lambda task: ACTIVE.index(task.status))
    lines = [
        f"[{task.status}] {task.id} {task.title} ({board.section_of(task).name or 'no section'})"
        for task in known[:MOST_TASKS]
    ]
    left = len(known) - len(lines)
    return [*lines, *([f"… and {left} more"] if left else [])]


def recent_errors(root: Path, state: SessionState) -> list[str]:
    """The ends of what failed last in a session, and of the latest logs of a runner."""
    lines: list[str] = []
    failures = sorted((*_failed_calls(state), *_failed_commands(state)))
    for _, name, text in failures[-MOST_FAILURES:]:
        lines += [f"{name} failed:", *text.strip().split("\n")[-LAST_LINES:], ""]
    for path in _latest_logs(root):
        lines += [f"{path.relative_to(root)}:", *_tail(path), ""]
    return lines


def _failed_calls(state: SessionState) -> Iterator[tuple[str, str, str]]:
    """Time, name and output of each call of the model that failed."""
    for message in state.branch():
        for part in message.parts:
            if isinstance(part, ToolResultPart) and part.is_error and not part.trusted:
                yield message.timestamp, part.name, part.content


def _failed_commands(state: SessionState) -> Iterator[tuple[str, str, str]]:
    """The same of each command that the user ran; its last line says how it ended."""
    for call in state.tool_calls:
        text = call.result.llm_content
        if call.is_command and _FAILED.match(text.rstrip("\n").rpartition("\n")[2]):
            yield call.timestamp, clean(call.command), text


def _latest_logs(root: Path) -> list[Path]:
    """The logs that were written last; links and what is no file are left out."""
    try:
        found = [
            path
            for path in (root / LOGS).rglob("*.log")
            if path.is_file()
            and not path.is_symlink()
            and path.resolve().is_relative_to(root.resolve())
        ]
        return sorted(found, key=lambda path: path.stat().st_mtime)[-MOST_LOGS:]
    except OSError:
        return []


def _tail(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            text = file.read(TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    return clean(text).strip().split("\n")[-LAST_LINES:]
