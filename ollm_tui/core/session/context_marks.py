"""Marks the user sets on messages in the context: pinned, excluded, or folded to their first words.

Marks change what is sent, never what was said; a message has one at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import Literal

import msgspec
from msgspec.structs import replace

from ollm_tui.core.errors import UsageError
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Metadata

Mark = Literal["", "pinned", "excluded", "folded"]

Action = Literal["pin", "unpin", "exclude", "include", "fold", "unfold", "drop", "fold-above"]
"""`drop` excludes the whole exchanges of the keys. `fold-above` folds what stands above the
first of the keys and is neither the user's nor marked."""

_GIVES: Mapping[Action, Mark] = MappingProxyType(
    {"pin": "pinned", "exclude": "excluded", "fold": "folded"}
)
_TAKES: Mapping[Action, Mark] = MappingProxyType(
    {"unpin": "pinned", "include": "excluded", "unfold": "folded"}
)


class ContextChange(msgspec.Struct, frozen=True):
    """A change of the marks of some messages."""

    action: Action
    keys: tuple[str, ...]


class MarksRestored(msgspec.Struct, frozen=True):
    """Undoes a change: messages get back the marks they had."""

    marks: tuple[tuple[str, Mark], ...]
    folded: tuple[tuple[str, int], ...] = ()
    """The tokens each folded message had."""


AnyContextChange = ContextChange | MarksRestored


class Marks(msgspec.Struct, frozen=True):
    """The marks of a session, for quick lookup."""

    pinned: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    folded: Mapping[str, int] = MappingProxyType({})

    @classmethod
    def of(cls, metadata: Metadata) -> Marks:
        """Take the stored marks; where a message has several, the one that keeps most wins."""
        pinned = frozenset(metadata.pins)
        excluded = frozenset(metadata.excluded) - pinned
        marked = pinned | excluded
        return cls(pinned, excluded, {k: n for k, n in metadata.folded.items() if k not in marked})

    def mark(self, key: str) -> Mark:
        """Return the mark of a message; empty if it has none."""
        if key in self.pinned:
            return "pinned"
        if key in self.excluded:
            return "excluded"
        return "folded" if key in self.folded else ""

    def including(self, key: str) -> Marks:
        """Return the marks without excluding one message: the one that is to be answered."""
        return replace(self, excluded=self.excluded - {key}) if key in self.excluded else self


def resolved(change: AnyContextChange, branch: Sequence[Message], marks: Marks) -> dict[str, Mark]:
    """Return the new mark of each message that gets another. UsageError if a key is unknown."""
    if isinstance(change, MarksRestored):
        return {key: mark for key, mark in change.marks if marks.mark(key) != mark}
    known = {message.id for message in branch}
    for key in change.keys:
        if key not in known:
            raise UsageError("that message is not in this conversation", "choose another one")
    if change.action in _TAKES:
        taken = _TAKES[change.action]
        return {key: "" for key in change.keys if marks.mark(key) == taken}
    if change.action == "drop":
        return _new(_exchanges(branch, change.keys), "excluded", marks)
    if change.action == "fold-above":
        return _new(_replies_above(branch, change.keys, marks), "folded", marks)
    return _new(change.keys, _GIVES[change.action], marks)


def marked(
    metadata: Metadata, changes: Mapping[str, Mark], tokens_of: Callable[[str], int]
) -> Metadata:
    """Return the metadata with changed marks; folding a message notes the tokens it had."""
    others = {
        "pinned": tuple(key for key in metadata.pins if key not in changes),
        "excluded": tuple(key for key in metadata.excluded if key not in changes),
    }
    new = {
        kind: tuple(key for key, mark in changes.items() if mark == kind)
        for kind in ("pinned", "excluded", "folded")
    }
    folded = {key: n for key, n in metadata.folded.items() if key not in changes}
    return replace(
        metadata,
        pins=others["pinned"] + new["pinned"],
        excluded=others["excluded"] + new["excluded"],
        folded=folded | {key: tokens_of(key) for key in new["folded"]},
    )


def way_back(changes: Iterable[str], marks: Marks) -> MarksRestored:
    """Return the change that gives these messages back the marks they have now."""
    before: tuple[tuple[str, Mark], ...] = tuple((key, marks.mark(key)) for key in changes)
    folded = tuple((key, marks.folded[key]) for key, mark in before if mark == "folded")
    return MarksRestored(before, folded)


def _new(keys: Iterable[str], mark: Mark, marks: Marks) -> dict[str, Mark]:
    return {key: mark for key in keys if marks.mark(key) != mark}


def _exchanges(branch: Sequence[Message], keys: Iterable[str]) -> list[str]:
    """Return all messages of the exchanges of the keys.

    An exchange begins with a message of the user and ends before the next one.
    """
    exchange, number = dict[str, int](), 0
    for message in branch:
        number += message.role == "user"
        exchange[message.id] = number
    chosen = {exchange[key] for key in keys}
    return [message.id for message in branch if exchange[message.id] in chosen]


def _replies_above(branch: Sequence[Message], keys: Iterable[str], marks: Marks) -> list[str]:
    below = set(keys)
    above = takewhile(lambda message: message.id not in below, branch)
    return [m.id for m in above if m.role in ("assistant", "tool") and not marks.mark(m.id)]
