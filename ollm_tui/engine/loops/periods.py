"""Periods: finds rounds of up to five steps that repeat in turn."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

LONGEST_PERIOD = 5
"""Steps of the longest round that is found."""


class Step(NamedTuple):
    """Something the model did; `digest` may include what came of it."""

    digest: str
    tool: str = ""
    shown: str = ""


class Round(NamedTuple):
    """The steps that repeat in turn, and how often they were done."""

    steps: tuple[Step, ...]
    times: int

    @property
    def pattern(self) -> str:
        """An id of the round, the same whichever of its steps comes first."""
        digests = [step.digest for step in self.steps]
        turned = [digests[at:] + digests[:at] for at in range(len(digests))]
        return ":".join(min(turned))


class Periods:
    """Counts, for each period, the steps in a row that equal the one a period earlier."""

    def __init__(self) -> None:
        self._recent: deque[Step] = deque(maxlen=LONGEST_PERIOD)
        self._held = [0] * LONGEST_PERIOD
        """At index n, how many steps in a row equal the one n + 1 steps earlier."""

    def add(self, step: Step, *, fresh: bool = False) -> None:
        """Add a step. A fresh one repeats nothing, whatever came before it."""
        for at in range(LONGEST_PERIOD):
            known = not fresh and at < len(self._recent)
            same = known and self._recent[-1 - at].digest == step.digest
            self._held[at] = self._held[at] + 1 if same else 0
        self._recent.append(step)

    def repeated(self, times: int) -> Round | None:
        """Return the shortest round that was done at least that often in a row, if there is one."""
        for period, held in enumerate(self._held, start=1):
            if held >= (times - 1) * period:
                return Round(tuple(self._recent)[-period:], held // period + 1)
        return None
