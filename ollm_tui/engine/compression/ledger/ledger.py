"""The ledger of folded messages: how it is made, merged and rendered as text.

It is made without a model and without I/O, and is the same for the same messages.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from msgspec.structs import replace

from ollm_tui.core.session.compression import Fact, FactKind, Ledger
from ollm_tui.core.session.message import Attachment, Message, Text, ToolCallPart, ToolResultPart
from ollm_tui.core.session.session import ToolCall
from ollm_tui.engine.compression.ledger.facts_claims import said_in
from ollm_tui.engine.compression.ledger.facts_kinds import is_strong
from ollm_tui.engine.compression.ledger.facts_prose import NAME_LIMIT, facts_said
from ollm_tui.engine.compression.ledger.facts_text import one_line
from ollm_tui.engine.compression.ledger.facts_tools import facts_answered, facts_called
from ollm_tui.engine.compression.ledger.facts_words import content_words
from ollm_tui.engine.compression.ledger.ledger_merging import settled

_SHARE = 0.25
"""Share of the text of all notes that is kept: the sentences with the rarest words."""

_BREVITY = 6
"""Words a sentence may have before its length counts against it."""


def with_best_notes(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts with only those notes that have rare words or give something a value."""
    words = {fact.text: content_words(fact.text) for fact in facts if fact.kind == "note"}
    seen = Counter(word for fact in facts for word in words.get(fact.text, ()))
    scores = {
        text: sum(1 / seen[word] for word in found) / (len(found) + _BREVITY)
        for text, found in words.items()
    }
    room = _SHARE * sum(len(fact.text) for fact in facts if fact.kind == "note")
    best = {text for text in words if said_in(text).about.values}
    for text in sorted(scores, key=lambda text: -scores[text]):
        room -= len(text)
        if room < 0:
            break
        best.add(text)
    return [fact for fact in facts if fact.kind != "note" or fact.text in best]


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
"""The heading of each kind, the most important kind first."""

_LISTED: frozenset[FactKind] = frozenset(("file", "value", "command", "identifier"))
_LISTED_SEPARATOR: dict[FactKind, str] = {"file": ", ", "identifier": ", "}
_NAMES: frozenset[FactKind] = frozenset(("file", "command", "identifier"))
_FIRST_ROUND = 8
"""Facts of each kind that come before all others, so that no kind crowds out the rest."""


def rendered(ledger: Ledger, most_tokens: int, count: Callable[[str], int]) -> str:
    """Return the ledger as text of at most `most_tokens`; empty if there is nothing to tell."""
    facts = _by_importance(ledger)
    text = _text(facts)
    tokens = count(text)
    if tokens <= most_tokens:
        return text
    # Counting takes most of the time: the search begins where the characters suggest.
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
    """Return the facts to show, each with its index, the most important one first."""
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
    """Whether a fact is of its kind beyond doubt, or gives a value."""
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


__all__ = ("KnownFacts", "ledger_of", "merged", "rendered")


class KnownFacts:
    """Remembers the facts of messages that were read: a message never changes, so a preview
    and the compression after it read it once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Message, tuple[Fact, ...]]] = {}

    def of(self, message: Message, args: dict[str, dict[str, Any]]) -> tuple[Fact, ...]:
        """Return the facts of a message; `args` are the arguments of calls by their ids."""
        known = self._known.get(message.id)
        if known is None or known[0] is not message:
            known = self._known[message.id] = message, tuple(_of_message(message, args))
        return known[1]

    def forget_all_but(self, messages: Sequence[Message]) -> None:
        """Forget other messages: once they are in a checkpoint, they are not read again."""
        kept = {message.id for message in messages}
        self._known = {key: known for key, known in self._known.items() if key in kept}


def ledger_of(
    messages: Sequence[Message],
    tool_calls: Sequence[ToolCall] = (),
    known: KnownFacts | None = None,
) -> Ledger:
    """Return the facts of messages and of the tool calls made between them.

    Give it the user's messages too, also those that stay in the prompt: what they change must
    not be shown as it was before. `Ledger.without_sources` leaves their own facts out.
    """
    known = known or KnownFacts()
    facts = list(_facts(messages, tool_calls, known))
    known.forget_all_but(messages)
    return Ledger(settled(with_best_notes(facts)))


def merged(older: Ledger, newer: Ledger) -> Ledger:
    """Return one ledger for two ranges: facts once, done tasks closed, replaced values gone."""
    return replace(older, facts=settled((*older.facts, *newer.facts)))


def _facts(
    messages: Sequence[Message], tool_calls: Sequence[ToolCall], known: KnownFacts
) -> Iterator[Fact]:
    args = {call.call_id: call.args for message in messages for call in message.tool_calls}
    waiting = [call for call in tool_calls if call.id not in args]
    for message in messages:
        while waiting and waiting[0].timestamp < message.timestamp:
            yield from _of_tool_call(waiting.pop(0))
        yield from known.of(message, args)
    for call in waiting:
        yield from _of_tool_call(call)


def _of_message(message: Message, args: dict[str, dict[str, Any]]) -> Iterator[Fact]:
    if message.role == "system":
        return
    for part in message.parts:
        match part:
            case Text() if part.trusted and message.role != "tool":
                yield from facts_said(part.text, message.id, message.role == "user")
            case Text():
                yield from facts_answered("", {}, part.text, False, message.id)
            case ToolCallPart():
                yield from facts_called(part.name, part.args, message.id)
            case ToolResultPart():
                yield from facts_answered(
                    part.name, args.get(part.call_id, {}), part.content, part.is_error, message.id
                )
            case Attachment():
                name = one_line(part.path or part.name, NAME_LIMIT)
                yield Fact("file", name, source=message.id)
            case _:
                pass
    if message.error:
        yield Fact("error", one_line(message.error, NAME_LIMIT * 2), source=message.id)


def _of_tool_call(call: ToolCall) -> Iterator[Fact]:
    yield from facts_called(call.name, call.args, call.id)
    yield from facts_answered(call.name, call.args, call.result.llm_content, False, call.id)
