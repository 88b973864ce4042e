"""What is shown before the first word of an answer: what goes on, how far, how fast, how long."""

from __future__ import annotations

import time
from collections.abc import Callable

from ollm_tui.core.counts import percent, short_count
from ollm_tui.tui.chat.words import READING

SURE_SHARE = 0.02
"""The share of the prompt that must be read before a rate is told."""


class Waiting:
    """The wait for one answer."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._since = now()
        self._what = ""
        self._what_since = self._since
        self._fraction: float | None = None

    def begin(self, what: str) -> None:
        """Note what is waited for, unless something is known already."""
        if not self._what:
            self.note(what, None)

    def note(self, what: str, fraction: float | None) -> None:
        """Note what goes on now, and how much of it is done."""
        if what != self._what:
            self._what, self._what_since = what, self._now()
        self._fraction = fraction

    def words(self, tokens: int) -> str:
        """Return all of it in one line; `tokens` are those of the prompt."""
        facts = [self._what]
        if self._fraction is not None:
            facts.append(percent(self._fraction))
        if self._what.startswith(READING) and tokens:
            facts += self._reading(tokens)
        facts.append(f"{self._now() - self._since:.0f} s")
        return " · ".join(facts)

    def _reading(self, tokens: int) -> list[str]:
        if self._fraction is None:
            return [f"{short_count(tokens)} tokens"]
        read = self._fraction * tokens
        facts = [f"{short_count(round(read))} of {short_count(tokens)} tokens"]
        seconds = self._now() - self._what_since
        if self._fraction >= SURE_SHARE and seconds > 0:
            facts.append(f"{short_count(round(read / seconds))} tok/s")
        return facts
