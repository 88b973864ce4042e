"""Failures that come again: of one tool on one file, for one reason, or after every change."""

from __future__ import annotations

from typing import NamedTuple

from ollm_tui.engine.loops import evidence
from ollm_tui.engine.loops.allowances import unsure
from ollm_tui.engine.loops.answers import Answer
from ollm_tui.engine.loops.calls import Call, same_place

MOST_TARGETS = 2
"""Files whose changes count as attempts at one thing; more of them are work on many files."""
MOST_SEEN = 256
"""Failures and answers of checks that are remembered."""


class Failure(NamedTuple):
    """A failure that came too often, in words."""

    words: str
    times: int


class Failures:
    """Counts how often a call failed, whatever it answered, or a tool on the same file or thing.

    Commands, and calls that name nothing, are also known by the reason that they give: a model
    that is stuck varies its calls, and then the answers vary as well.
    """

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], int] = {}

    def add(self, call: Call, answer: Answer, limit: int) -> Failure | None:
        """Count a failure since the last success or change; return it if it is one too many."""
        if not answer.is_error:
            self._times.pop((call.name, call.digest), None)
            self._times.pop((call.name, self._known_as(call)), None)
            return None
        same = self._count(call.name, call.digest)
        if same >= unsure(limit):
            return Failure(evidence.failed(call.shown, same), same)
        if call.names_a_subject:
            times = self._count(call.name, self._known_as(call))
            found = Failure(evidence.failed_on(call.name, times, call.subject), times)
            return found if times >= unsure(limit) else None
        times = self._count(call.name, answer.reason) if answer.reason else 0
        found = Failure(evidence.failed_for(call.name, times, answer.reason), times)
        return found if times >= 2 * limit else None

    def forget(self) -> None:
        """Begin counting again, because the state changed."""
        self._times.clear()

    def _known_as(self, call: Call) -> str:
        """The spelling in which the file of a call failed before: also a/b for ../x/a/b."""
        known = (what for tool, what in self._times if tool == call.name and "/" in what)
        return next((what for what in known if same_place(what, call.subject)), call.subject)

    def _count(self, tool: str, what: str) -> int:
        while len(self._times) >= MOST_SEEN:
            del self._times[next(iter(self._times))]
        self._times[tool, what] = times = self._times.get((tool, what), 0) + 1
        return times


class FailingChecks:
    """Counts how often an answer came again although something had been changed.

    Whether the answer reports a failure is left to the caller: finding out takes longer than
    everything here.
    """

    def __init__(self) -> None:
        self._changes = 0
        self._targets: set[str] = set()
        self._remarks: set[str] = set()
        self._seen: dict[str, None] = {}
        self._times: dict[str, tuple[int, int]] = {}
        """For each answer since the last new one: how often it came, and after how many changes."""

    @property
    def only_counts(self) -> bool:
        """Whether the changes since the last new answer differ only in what the program counts."""
        return len(self._remarks) == 1

    def changed(self, target: str, remark: str) -> None:
        """Count a change that was never made before."""
        self._changes += 1
        if len(self._remarks) <= 1:
            self._remarks.add(remark)
        if len(self._targets) <= MOST_TARGETS:
            self._targets.add(target)

    def add(self, step: str, target: str) -> int:
        """Return how often this answer to this call came, each time after another change.

        0 if more than MOST_TARGETS files were changed since the last new answer.
        """
        # To read the file that is being changed is part of the attempt and starts nothing new.
        is_new = step not in self._seen and target not in self._targets
        if is_new or len(self._times) >= MOST_SEEN:
            self._targets.clear()
            self._remarks.clear()
            self._times.clear()
        if len(self._seen) >= MOST_SEEN:
            del self._seen[next(iter(self._seen))]
        self._seen[step] = None
        times, changes = self._times.get(step, (0, -1))
        times += changes < self._changes
        self._times[step] = (times, self._changes)
        return times if len(self._targets) <= MOST_TARGETS else 0
