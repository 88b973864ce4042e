"""Steps that come round again: for every period up to five, how long it has held."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

LONGEST_PERIOD = 5


class Step(NamedTuple):
    """Something the model did, with what came of it."""

    digest: str
    tool: str = ""
    shown: str = ""


class Round(NamedTuple):
    """The steps that repeat, and how often they have been done."""

    steps: tuple[Step, ...]
    times: int

    @property
    def pattern(self) -> str:
        """The same wherever in the round one begins."""
        digests = [step.digest for step in self.steps]
        turned = [digests[at:] + digests[:at] for at in range(len(digests))]
        return ":".join(min(turned))


class Periods:
    """Counts, for each period, the steps in a row that equal the one a period earlier."""

    def __init__(self) -> None:
        self._recent: deque[Step] = deque(maxlen=LONGEST_PERIOD)
        self._held = [0] * LONGEST_PERIOD

    def add(self, step: Step, *, fresh: bool = False) -> None:
        """One step more. A fresh one repeats nothing, whatever came before it."""
        for at in range(LONGEST_PERIOD):
            known = not fresh and at < len(self._recent)
            same = known and self._recent[-1 - at].digest == step.digest
            self._held[at] = self._held[at] + 1 if same else 0
        self._recent.append(step)

    def repeated(self, times: int) -> Round | None:
        """The shortest round that was done at least that often in a row."""
        for period, held in enumerate(self._held, start=1):
            if held >= (times - 1) * period:
                return Round(tuple(self._recent)[-period:], held // period + 1)
        return None
