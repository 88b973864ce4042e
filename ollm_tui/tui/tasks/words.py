"""The words of tasks."""

from __future__ import annotations

from collections.abc import Mapping

TITLE = "Tasks"
NO_TASKS = "No tasks in this project."
NO_SECTION = "No section"
MARKS: Mapping[str, str] = {
    "completed": "✓",
    "in_progress": "▸",
    "review": "◆",
    "disputed": "!",
    "failed": "!",
    "skipped": "·",
    "partial": "·",
}
"""The marks of tasks by their status; others have none."""
BAR_CELLS = 10


def progress(done: int, count: int) -> str:
    """Return a bar of how much is done, with the numbers."""
    full = round(BAR_CELLS * done / count) if count else 0
    return f"{'█' * full}{'░' * (BAR_CELLS - full)} {done}/{count}"


def pinned(title: str, tokens: str) -> str:
    """Say that a task is in every prompt now."""
    return f"Task {title} added to every prompt: {tokens} tokens · /task off removes it"


# Said in commands

TASK_REMOVED = "Task removed"
