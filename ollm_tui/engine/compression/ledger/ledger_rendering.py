"""A ledger as lines of a prompt: what matters most first, never above its room."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from ollm_tui.core.session.ledger import Fact, FactKind, Ledger
from ollm_tui.engine.compression.ledger.facts_claims import said_in
from ollm_tui.engine.compression.ledger.facts_kinds import is_strong

_TITLES: dict[FactKind, str] = {
    "constraint": "constraints (the user's words)",
    "decision": "decided",
    "todo": "open",
    "dead-end": "dead ends",
    "error": "errors",
    "file": "files",
    "value": "values",
    "command": "commands",
    "identifier": "names",
    "note": "also said",
}
"""By what matters most."""

_LISTED: frozenset[FactKind] = frozenset(("file", "value", "command", "identifier"))
_LISTED_SEPARATOR: dict[FactKind, str] = {"file": ", ", "identifier": ", "}
_NAMES: frozenset[FactKind] = frozenset(("file", "command", "identifier"))
_FIRST_ROUND = 8
"""Facts of each kind that come before the rest of any kind, so that none crowds out all others."""


def rendered(ledger: Ledger, most_tokens: int, count: Callable[[str], int]) -> str:
    """The ledger as text of at most `most_tokens`; empty if there is nothing to tell."""
    facts = _by_importance(ledger)
    text = _text(facts)
    tokens = count(text)
    if tokens <= most_tokens:
        return text
    # Counting takes most of the time: letters tell about where the border is.
    letters = list(accumulate(len(fact.text) for _, fact in facts))
    middle = bisect_left(letters, letters[-1] * max(most_tokens, 0) // tokens)
    fits, too_many, step, best = 0, len(facts), 1, ""
    while too_many - fits > 1:
        middle = min(max(middle, fits + 1), too_many - 1)
        text = _text(facts[:middle])
        if count(text) <= most_tokens:
            fits, best = middle, text
            middle += step
        else:
            too_many = middle
            middle -= step
        step *= 2
    return best


def _by_importance(ledger: Ledger) -> list[tuple[int, Fact]]:
    """The facts that are shown, each with its place, the one that goes first at the end."""
    shown = [(place, fact) for place, fact in enumerate(ledger.facts) if fact.current]
    spoken = "\n".join(fact.text for _, fact in shown if fact.kind not in _LISTED)
    told = "\n".join(fact.text for _, fact in shown if fact.kind != "identifier")
    covering: dict[FactKind, str] = {"value": spoken, "identifier": told}
    later = {fact.now for _, fact in shown if fact.from_user and fact.kind not in _LISTED}
    users: list[tuple[int, Fact]] = []
    rounds: tuple[list[tuple[int, Fact]], list[tuple[int, Fact]]] = ([], [])
    for kind in _TITLES:
        of_kind = [
            (place, fact)
            for place, fact in shown
            if fact.kind == kind
            and fact.text not in covering.get(kind, "")
            and not (fact.from_user and not fact.now and fact.text in later)
        ]
        of_kind.sort(key=_rank, reverse=True)
        if kind not in _NAMES:
            users.extend(placed for placed in of_kind if placed[1].from_user)
            of_kind = [placed for placed in of_kind if not placed[1].from_user]
        first = [placed for placed in of_kind if _is_telling(placed[1])][:_FIRST_ROUND]
        rounds[0].extend(first)
        rounds[1].extend(placed for placed in of_kind if placed not in first)
    return users + rounds[0] + rounds[1]


def _is_telling(fact: Fact) -> bool:
    """Whether a fact is one beyond doubt, or names something."""
    return fact.kind == "error" or is_strong(fact) or bool(said_in(fact.text).about.values)


def _rank(placed: tuple[int, Fact]) -> tuple[bool, bool, bool, int]:
    place, fact = placed
    return fact.from_user, not fact.now, is_strong(fact), place


def _text(chosen: Sequence[tuple[int, Fact]]) -> str:
    in_order = [fact for _, fact in sorted(chosen, key=lambda pair: pair[0])]
    return "\n".join(line for kind in _TITLES for line in _lines(kind, in_order))


def _lines(kind: FactKind, facts: Sequence[Fact]) -> Iterator[str]:
    told = [_told(fact) for fact in facts if fact.kind == kind]
    if not told:
        return
    if kind in _LISTED:
        yield f"{_TITLES[kind]}: {_LISTED_SEPARATOR.get(kind, '; ').join(told)}"
    else:
        yield f"{_TITLES[kind]}:"
        yield from (f"- {text}" for text in told)


def _told(fact: Fact) -> str:
    if fact.now:
        return f"earlier: {fact.text} Now: {fact.now}"
    return f"{fact.text} → {fact.about}" if fact.kind == "command" and fact.about else fact.text
