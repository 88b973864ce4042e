"""The ledger of folded messages: how it is made, merged, and rendered as text of a given size.

It is made without a model and without I/O, and is the same for the same messages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.session.compression import Fact, FactKind, Ledger
from ollm_tui.core.session.message import Message
from ollm_tui.core.unkept_outputs import message_without_outputs
from ollm_tui.engine.compression.ledger.ledger_records import facts_in
from ollm_tui.engine.compression.ledger.quotes import ends

Count = Callable[[str], int]
"""Returns the tokens of a text."""


class _Kind(NamedTuple):
    """How the entries of one kind are shown."""

    title: str
    share: float
    """Share of the room that it may take before others may take what it leaves."""
    separator: str = ""
    """Between entries that stand on one line; without one, each has a line of its own."""
    head_share: float = 0.6
    """Share of a quote that is its beginning; the rest is its end."""
    least: int = 40
    """Characters of the shortest quote that still says something."""


_KINDS: Mapping[FactKind, _Kind] = {
    "decided": _Kind("decided by the user", 0.10),
    "open": _Kind("open steps of the goal", 0.05),
    "user": _Kind("the user said, newest first", 0.25),
    "changed": _Kind("files changed", 0.08, ", "),
    "read": _Kind("files read", 0.07, ", "),
    "command": _Kind("commands", 0.10, "; "),
    "failed": _Kind("last lines of what failed, newest first", 0.20, head_share=0.2),
    "test": _Kind("test results, newest first", 0.03, "; "),
    "said": _Kind("the model said, newest first", 0.20, head_share=0.35),
    "name": _Kind("names", 0.22, ", "),
    "excerpt": _Kind("excerpts, newest first", 0.50),
    "note": _Kind("noted earlier", 0.10),
}
"""The kinds in the order in which they are shown."""

_FILLING: tuple[FactKind, ...] = ("excerpt", "said", "name")
"""Kinds that take the room that is left, one after the other."""
NEWEST_WEIGHT = 4.0
"""How many times longer the quote of the newest message may be than that of the oldest."""
TRIES = 5
"""How often the text is fitted anew: tokens are known only once it is counted."""
FULL_ENOUGH = 0.96
TITLE_FRAME = 3
"""Characters around the title of a kind."""
CHARACTERS_PER_TOKEN = 3.2
"""The first guess; the text is counted then."""


def ledger_of(
    messages: Sequence[Message], kept: Collection[Message] = (), *, of_outputs: bool = True
) -> Ledger:
    """Return the entries for messages that fold; `kept` are those that stay in the prompt.

    Without `of_outputs` nothing of what tools answered goes into it: ledgers are stored.
    """
    if not of_outputs:
        messages = [message_without_outputs(message) for message in messages]
    return Ledger(facts=_once(facts_in(messages, kept)))


def merged(older: Ledger, newer: Ledger) -> Ledger:
    """Return one ledger for two ranges, with each record once."""
    return replace(older, facts=_once((*older.facts, *newer.facts)))


class Rendered(NamedTuple):
    """A ledger as text, and the ledger with just what the text says."""

    text: str
    ledger: Ledger


def rendered(ledger: Ledger, most_tokens: int, count: Count) -> Rendered:
    """Return a ledger as text of at most `most_tokens`; empty if nothing can be said in them."""
    facts = [_current(fact) for fact in ledger.facts if fact.current]
    best = Rendered("", Ledger())
    room, used, tries = int(most_tokens * CHARACTERS_PER_TOKEN), 0, 0
    everything = sum(len(fact.text) + len(fact.about) + 4 for fact in facts)
    while room > 0 and (tries < TRIES or not used):
        tries += 1
        made = _fitted(facts, room)
        tokens = count(made.text) if made.text else 0
        if used < tokens <= most_tokens:
            best, used = made, tokens
        if (
            not tokens
            or most_tokens * FULL_ENOUGH <= tokens <= most_tokens
            or (tokens <= most_tokens and room > everything * 1.2)
        ):
            break
        # A little less than what the count suggests, so that one more try is enough; ever less
        # where it is not.
        room = int(room * most_tokens / tokens * (0.99 if tries < TRIES else 0.8))
    return best


def _current(fact: Fact) -> Fact:
    """Return an entry of an earlier version as a note: it was sorted by guesses."""
    if fact.kind in _KINDS:
        return fact
    return replace(fact, kind="note", about="", now="")


def _once(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return the entries with each record once, at its last place; a changed file is not listed
    as read, too."""
    last: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        key = (fact.kind, f"{fact.text}\n{fact.source}" if fact.kind == "said" else fact.text)
        last.pop(key, None)
        last[key] = fact
    for kind, text in list(last):
        if kind == "changed":
            last.pop(("read", text), None)
    return tuple(last.values())


def _fitted(facts: Sequence[Fact], room: int) -> Rendered:
    """Return the ledger cut down to about so many characters, each kind within its share."""
    by_kind: dict[FactKind, list[Fact]] = {kind: [] for kind in _KINDS}
    for fact in reversed(facts):
        by_kind[fact.kind].append(fact)
    used: dict[FactKind, list[Fact]] = {kind: by_kind[kind] for kind in _KINDS if by_kind[kind]}
    shown: dict[FactKind, list[Fact]] = {}
    left = room
    for kind in used:
        if kind not in _FILLING:
            shown[kind] = _chosen(kind, used[kind], min(left, int(room * _KINDS[kind].share)))
            left -= _size(kind, shown[kind])
    shares: dict[FactKind, float] = {kind: _KINDS[kind].share for kind in _FILLING if kind in used}
    rest = left
    for kind, share in shares.items():
        if kind == "name":
            used[kind] = _unsaid(used[kind], shown)
        shown[kind] = _chosen(kind, used[kind], int(rest * share / sum(shares.values())))
        left -= _size(kind, shown[kind])
    # What the shares leave: first to the kinds that can always use it, then to the others.
    order: list[FactKind] = [*shares, *(kind for kind in used if kind not in shares)]
    for kind in order:
        more = left + _size(kind, shown[kind])
        if len(shown[kind]) < len(used[kind]) or left > room // 50:
            shown[kind] = _chosen(kind, used[kind], more)
            left = more - _size(kind, shown[kind])
    kept = list(chain.from_iterable(shown.get(kind, ()) for kind in _KINDS))
    text = "\n".join(line for kind in _KINDS for line in _lines(kind, shown.get(kind, ())))
    return Rendered(text, Ledger(facts=tuple(reversed(kept))))


def _unsaid(names: Sequence[Fact], shown: Mapping[FactKind, Sequence[Fact]]) -> list[Fact]:
    """Return the names that are not in what is shown already."""
    said = "\n".join(_told(fact) for facts in shown.values() for fact in facts)
    return [fact for fact in names if fact.text not in said]


def _chosen(kind: FactKind, facts: Sequence[Fact], room: int) -> list[Fact]:
    """Return what fits of the entries of one kind, which come newest first, below its title."""
    how = _KINDS[kind]
    room -= len(how.title) + TITLE_FRAME
    if how.separator:
        chosen: list[Fact] = []
        for fact in facts:
            room -= len(_told(fact)) + len(how.separator)
            if room < 0:
                break
            chosen.append(fact)
        return chosen
    # Of too many the oldest go: a few words of each would say nothing of any.
    beside = [len(_told(fact)) - len(fact.text) + 3 for fact in facts]
    needed = accumulate(
        more + min(len(fact.text), how.least * 2) for fact, more in zip(facts, beside, strict=True)
    )
    fitting = max(sum(1 for size in needed if size <= room), 1) if room > 0 else 0
    facts = facts[:fitting]
    lengths = _shared([len(fact.text) for fact in facts], room - sum(beside[:fitting]))
    cut = (
        replace(fact, text=ends(fact.text, length, how.head_share))
        for fact, length in zip(facts, lengths, strict=True)
        if length >= min(how.least, len(fact.text))
    )
    return [fact for fact in cut if fact.text]


def _shared(sizes: Sequence[int], room: int) -> list[int]:
    """Return how long each quote may be; the newest, which come first, may be longer."""
    last = max(len(sizes) - 1, 1)
    weights = [1 + (NEWEST_WEIGHT - 1) * (1 - place / last) ** 2 for place in range(len(sizes))]
    low, high = 0.0, float(max(sizes, default=0))
    for _ in range(20):
        level = (low + high) / 2
        taken = sum(min(size, level * weight) for size, weight in zip(sizes, weights, strict=True))
        low, high = (level, high) if taken <= room else (low, level)
    return [int(min(size, high * w)) for size, w in zip(sizes, weights, strict=True)]


def _size(kind: FactKind, facts: Sequence[Fact]) -> int:
    """Return the characters of entries with their title; none if there are no entries."""
    beside = len(_KINDS[kind].separator) or 3
    taken = sum(len(_told(fact)) + beside for fact in facts)
    return taken + len(_KINDS[kind].title) + TITLE_FRAME if facts else 0


def _lines(kind: FactKind, facts: Sequence[Fact]) -> Iterator[str]:
    if not facts:
        return
    how = _KINDS[kind]
    if how.separator:
        yield f"{how.title}: {how.separator.join(map(_told, facts))}"
        return
    yield f"{how.title}:"
    yield from (f"- {_told(fact)}" for fact in facts)


def _told(fact: Fact) -> str:
    if fact.kind == "command":
        return f"{fact.text} → {fact.about}"
    if fact.about and fact.kind in ("failed", "excerpt", "user", "decided"):
        return f"{fact.about}: {fact.text}"
    return fact.text
