"""Compares two snapshots, or a snapshot and now: messages, goals, pins, model, files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Literal, NamedTuple

import msgspec

from ollm_tui.core.session.compression import Shortening
from ollm_tui.core.session.goals import Goal
from ollm_tui.core.session.message import Message
from ollm_tui.core.snapshot import ContextSnapshot, FileVersion

Form = Literal["", "sent", "folded", "elided", "excluded"]
"""How a message is in a context: absent (""), whole, replaced by a checkpoint or its first words,
with its data cut short, or left out by the user."""

Outcome = Literal["same", "added", "gone", "changed"]
"""`changed`: the message is in both, but sent in another form."""


class MessageDiff(msgspec.Struct, frozen=True, gc=False):
    """One message of either side, with its form on both."""

    key: str
    outcome: Outcome = msgspec.field(name="fate")  # so it is called in `diff --json`
    left: Form
    right: Form


class Change(NamedTuple):
    """A value that differs: what it is, and both sides in words."""

    what: str
    left: str
    right: str


class ContextDiff(msgspec.Struct, frozen=True):
    """The differences between two contexts, left and right."""

    messages: tuple[MessageDiff, ...]
    """The messages of both sides, in their order; where the sides branch, the left one first."""
    words: Mapping[str, Message]
    """The messages themselves by id, as far as one of the sides has them."""
    tokens: tuple[int, int]
    estimated: tuple[bool, bool] = (False, False)
    """Whether the tokens of each side are only estimated."""
    parts: tuple[tuple[str, int, int], ...] = ()
    """Name and tokens (left, right) of each part of the prompt, if they were given."""
    goals: tuple[Change, ...] = ()
    facts: tuple[Change, ...] = ()
    """Model, provider, window, mode, system prompt."""
    pins: tuple[MessageDiff, ...] = ()
    """Messages that are pinned on one side only."""
    files: tuple[Change, ...] = ()

    def count(self, outcome: Outcome) -> int:
        """Return how many messages have an outcome."""
        return sum(each.outcome == outcome for each in self.messages)


def diff(
    left: ContextSnapshot,
    right: ContextSnapshot,
    left_parts: Mapping[str, int] | None = None,
    right_parts: Mapping[str, int] | None = None,
) -> ContextDiff:
    """Compare two contexts; either may be a snapshot of the present that is not stored."""
    messages = tuple(_aligned(left, right))
    one_sided = frozenset(left.pins) ^ frozenset(right.pins)
    said = (left.user_messages, left.messages, right.user_messages, right.messages)
    return ContextDiff(
        messages=messages,
        words={message.id: message for message in chain(*said)},
        tokens=(left.token_count, right.token_count),
        estimated=(left.tokens_estimated, right.tokens_estimated),
        parts=_parts(left_parts or {}, right_parts or {}),
        goals=tuple(_goals(left.goal_stack.goals, right.goal_stack.goals)),
        facts=tuple(_facts(left, right)),
        pins=tuple(each for each in messages if each.key in one_sided) if one_sided else (),
        files=tuple(_files(left.files, right.files)),
    )


def _aligned(left: ContextSnapshot, right: ContextSnapshot) -> Iterator[MessageDiff]:
    """Yield the messages of both sides with their forms."""
    # For long contexts most of the time of a diff is spent in this loop.
    left_form, right_form = _forms(left).get, _forms(right).get
    for key in _merged(left.order, right.order):
        was, now = left_form(key, ""), right_form(key, "")
        if was == now:
            yield MessageDiff(key, "same", was, now)
        elif was and now:
            yield MessageDiff(key, "changed", was, now)
        else:
            yield MessageDiff(key, "gone" if was else "added", was, now)


def _forms(snapshot: ContextSnapshot) -> dict[str, Form]:
    """Return the form in which each message of a context is sent."""
    branch = frozenset(snapshot.order)
    pinned = frozenset(snapshot.pins)
    covered = Shortening(snapshot.checkpoints).within(branch).covered
    # The later ones win: pins keep a message from being folded or left out.
    forms: dict[str, Form] = dict.fromkeys(snapshot.order, "sent")
    forms |= dict.fromkeys(branch.intersection(snapshot.compressed.elided), "elided")
    forms |= dict.fromkeys(branch & (covered | snapshot.folded.keys()) - pinned, "folded")
    forms |= dict.fromkeys(branch.intersection(snapshot.excluded) - pinned, "excluded")
    return forms


def _merged(left: tuple[str, ...], right: tuple[str, ...]) -> list[str]:
    """Merge both orders into one. Ids are unique, so one walk with a table is enough."""
    numbers = {key: number for number, key in enumerate(right)}
    merged: list[str] = []
    done = 0
    for key in left:
        at = numbers.get(key, -1)
        if at < 0:
            merged.append(key)
        elif at >= done:  # else it stands earlier on the right and is in the list already
            merged += right[done : at + 1]
            done = at + 1
    merged += right[done:]
    return merged


def _parts(left: Mapping[str, int], right: Mapping[str, int]) -> tuple[tuple[str, int, int], ...]:
    return tuple((name, left.get(name, 0), right.get(name, 0)) for name in {**left, **right})


def _goals(left: tuple[Goal, ...], right: tuple[Goal, ...]) -> Iterable[Change]:
    was, now = ({goal.id: goal for goal in goals} for goals in (left, right))
    for key in {**was, **now}:
        before, after = was.get(key), now.get(key)
        if before != after:
            named = before or after
            yield Change(named.text if named else "", _state(before), _state(after))


def _state(goal: Goal | None) -> str:
    """Return the state of a goal in words; nothing if there is no goal."""
    if goal is None:
        return ""
    done = sum(step.done for step in goal.subtasks)
    steps = f", {done} of {len(goal.subtasks)} steps" if goal.subtasks else ""
    decided = f", {len(goal.decisions)} decided" if goal.decisions else ""
    return f"{goal.status}{steps}{decided}"


def _facts(left: ContextSnapshot, right: ContextSnapshot) -> Iterable[Change]:
    for what, before, after in (
        ("model", left.metadata.model, right.metadata.model),
        ("provider", left.provider, right.provider),
        ("window", left.window, right.window),
        ("mode", left.mode, right.mode),
        ("system prompt", left.system_prompt, right.system_prompt),
        ("checkpoints", len(left.checkpoints), len(right.checkpoints)),
        ("notes", _notes(left), _notes(right)),
    ):
        if before != after:
            yield Change(what, str(before), str(after))


def _notes(snapshot: ContextSnapshot) -> str:
    return ", ".join(entry.key for entry in snapshot.context_entries)


def _files(left: tuple[FileVersion, ...], right: tuple[FileVersion, ...]) -> Iterable[Change]:
    was, now = ({each.path: each for each in files} for files in (left, right))
    for path in sorted({**was, **now}):
        before, after = was.get(path), now.get(path)
        if before is None or after is None or before.sha256 != after.sha256:
            yield Change(path, _version(before), _version(after))


def _version(file: FileVersion | None) -> str:
    if file is None:
        return "unchanged"
    return "removed" if file.sha256 is None else f"{file.size:,} bytes"
