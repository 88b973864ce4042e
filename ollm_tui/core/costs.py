"""What answers cost: tokens in, out and cached, and money where the price is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.session.message import Usage

UNKNOWN = "unknown"
"""The cost of an answer from another machine whose price nobody told."""


class Bill(NamedTuple):
    """The cost of several answers."""

    answers: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    hits: int = 0
    """Answers for which the server took something from its cache."""
    misses: int = 0
    """Answers for which the server found nothing in its cache."""
    dollars: float = 0.0
    unpriced: int = 0
    """Answers whose price is unknown."""

    @property
    def is_free(self) -> bool:
        """Whether nothing was paid for: all answers came from this machine."""
        return not self.dollars and not self.unpriced

    def __str__(self) -> str:
        """The money in words: "free", "$0.0123", "$0.5 and 2 unknown", "unknown"."""
        if self.is_free:
            return "free"
        if not self.dollars:
            return UNKNOWN
        rest = f" and {self.unpriced} {UNKNOWN}" if self.unpriced else ""
        return money(self.dollars) + rest

    @property
    def cache_words(self) -> str:
        """What the servers' caches did, in words; empty if none has one."""
        if not self.hits and not self.misses:
            return ""
        misses = f"{self.misses:,} {'miss' if self.misses == 1 else 'misses'}"
        saved = f"{short_count(self.cached_tokens)} tokens saved"
        return f"{counted(self.hits, 'hit')}, {misses}, {saved}"


def added(bills: Iterable[Bill]) -> Bill:
    """Add up several bills."""
    return Bill._make(map(sum, zip(Bill(), *bills, strict=True)))


def bill_of(usages: Iterable[Usage | None]) -> Bill:
    """Add up what answers cost."""
    used = [usage for usage in usages if usage is not None]
    return Bill(
        answers=len(used),
        input_tokens=sum(usage.input_tokens for usage in used),
        output_tokens=sum(usage.output_tokens for usage in used),
        cached_tokens=sum(usage.cached_tokens or 0 for usage in used),
        hits=sum(1 for usage in used if usage.cached_tokens),
        misses=sum(1 for usage in used if usage.cached_tokens == 0),
        dollars=sum(usage.cost for usage in used if isinstance(usage.cost, float)),
        unpriced=sum(1 for usage in used if usage.cost == UNKNOWN),
    )


def money(dollars: float) -> str:
    """Return an amount with as many digits as it needs to be seen."""
    if dollars >= 1:
        return f"${dollars:,.2f}"
    return f"${dollars:.4f}" if dollars >= 0.0001 else "<$0.0001"


def cost_words(cost: float | str | None) -> str:
    """Return what one answer cost in words; empty if it came from this machine."""
    if cost is None:
        return ""
    return money(cost) if isinstance(cost, float) else "price unknown"
