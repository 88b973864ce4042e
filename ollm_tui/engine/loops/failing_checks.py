"""A check that fails in the same way after every change of the same file: trying without end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

PATIENCE = 3
"""Times as many failures as repetitions: each change was a new idea, if a small one."""
MOST_TARGETS = 2
"""Files that are changed again and again; changes of more are work on many files."""
MOST_SEEN = 256
_PATH_NAMES = ("path", "file", "file_path", "filename")


def target_of(args: object) -> str:
    """The file a call is about; empty if it names none."""
    if not isinstance(args, Mapping):
        return ""
    given = cast("Mapping[object, object]", args)
    return next((path for name in _PATH_NAMES if isinstance(path := given.get(name), str)), "")


class FailingChecks:
    """Counts how often an answer came again although something had been changed.

    Whether it tells of a failure is for others to see: that takes longer than all the rest.
    """

    def __init__(self) -> None:
        self._changes = 0
        self._targets: set[str] = set()
        self._seen: dict[str, None] = {}
        self._times: dict[str, tuple[int, int]] = {}
        """Of each answer since the last new one: how often, and after how many changes."""

    def changed(self, target: str) -> None:
        """A change never made before."""
        self._changes += 1
        if len(self._targets) <= MOST_TARGETS:
            self._targets.add(target)

    def add(self, step: str, target: str) -> int:
        """How often this answer to this call came after changes of hardly more than one file."""
        is_new = step not in self._seen and target not in self._targets
        if is_new or len(self._times) >= MOST_SEEN:
            self._targets.clear()
            self._times.clear()
        if len(self._seen) >= MOST_SEEN:
            del self._seen[next(iter(self._seen))]
        self._seen[step] = None
        times, changes = self._times.get(step, (0, -1))
        times += changes < self._changes
        self._times[step] = (times, self._changes)
        return times if len(self._targets) <= MOST_TARGETS else 0
