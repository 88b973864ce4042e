"""Joining what several machines recorded: each join gives the same in any order, and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.compression import Compression
from ollm_tui.core.session.encoding import encode, to_tree
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import FieldChange, MachineLine, Session, ToolCall

V = TypeVar("V", Message, ToolCall)

SESSION_FIELDS = ("title", "pinned", "archived", "tags")
"""Fields of a session that all machines share."""
METADATA_FIELDS = ("pins", "goals")
"""Fields of its metadata that all machines share; the others belong to the context of each."""


def fuller(known: V, other: V) -> V:
    """Return the version that says more: a message only ever grows, until it is finished."""
    return other if _fullness(other) > _fullness(known) else known


def shared_fields(session: Session) -> dict[str, Any]:
    """Return the values of all fields that machines share, as on disk."""
    tree, metadata = to_tree(replace(session, messages=(), tool_calls=())), session.metadata
    inner = to_tree(metadata)
    return {name: tree[name] for name in SESSION_FIELDS} | {
        name: inner[name] for name in METADATA_FIELDS
    }


def change_of(name: str, session: Session) -> FieldChange | None:
    """Return when a shared field was last changed; None if it is as it was in the beginning."""
    return next((each for each in session.changes if each.name == name), None)


def with_change(session: Session, change: FieldChange) -> Session:
    """Return a session that knows of a change."""
    others = (each for each in session.changes if each.name != change.name)
    return replace(session, changes=(*others, change))


def noting_changes(before: Session, after: Session, at: str) -> Session:
    """Return a session that knows which shared fields were changed here."""
    old, new = shared_fields(before), shared_fields(after)
    for name in new:
        if old[name] != new[name]:
            known = change_of(name, after)
            moment = _after(at, known.at) if known else at
            after = with_change(after, FieldChange(name=name, at=moment))
    return after


def line_of(machine: str, session: Session) -> MachineLine:
    """Return what a session knows of another machine."""
    found = (line for line in session.machines if line.machine == machine)
    return next(found, MachineLine(machine=machine))


def with_line(session: Session, line: MachineLine) -> Session:
    """Return a session with other knowledge of a machine, in an order that all machines share."""
    others = [each for each in session.machines if each.machine != line.machine]
    lines = sorted((*others, line), key=lambda each: each.machine)
    return replace(session, machines=tuple(lines))


def with_number(numbers: Sequence[tuple[int, int]], number: int) -> tuple[tuple[int, int], ...]:
    """Add a number to runs of numbers."""
    runs: list[tuple[int, int]] = []
    for first, last in sorted((*numbers, (number, number))):
        if runs and first <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(runs[-1][1], last))
        else:
            runs.append((first, last))
    return tuple(runs)


def with_compression(known: Sequence[Compression], other: Compression) -> tuple[Compression, ...]:
    """Add a compression to those of a machine; one that was undone later counts as undone."""
    by_number = {(each.number, each.at): each for each in known}
    key = (other.number, other.at)
    if key not in by_number or _standing(other) > _standing(by_number[key]):
        by_number[key] = other
    return tuple(by_number[each] for each in sorted(by_number))


def _standing(compression: Compression) -> tuple[str, bytes]:
    return compression.undone_at or "", encode(compression)


def _fullness(value: Message | ToolCall) -> tuple[bool, int, bytes, bool, str]:
    data = encode(replace(value, machine=None))
    is_whole = not (isinstance(value, Message) and value.status == "streaming")
    # The same on two machines belongs to this one, or to one that all agree on.
    return is_whole, len(data), data, not value.machine, value.machine or ""


def _after(at: str, known: str) -> str:
    """Return a time, or the first one after `known`: the clock of this machine may be behind."""
    if clock.later(known, at) == at and at != known:
        return at
    return clock.iso(clock.parse(known) + timedelta(microseconds=1))
