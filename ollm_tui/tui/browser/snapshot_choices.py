"""Snapshots and branches as lines below their session: what each is called, and how old it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ollm_tui.core.counts import short_count
from ollm_tui.core.intake import clean
from ollm_tui.core.session.branches import Branch
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.browser.words import CURRENT, snapshot_mark, snapshot_name
from ollm_tui.tui.kit.choice_list import Choice

Age = Callable[[str], str]


class Inside(NamedTuple):
    """What is below a session in the list."""

    snapshots: Sequence[SnapshotSummary] = ()
    branches: Sequence[Branch] = ()
    """The branches; a single one has no line of its own."""
    holders: Mapping[str, str] = {}
    """The leaf of the branch each message belongs to."""
    is_whole: bool = True
    """Whether the branches are known too, not only the snapshots."""


def key_of(point: Point) -> str:
    """Return the key of a point in a list; that of a session is its id."""
    return "/".join(point).rstrip("/")


def point_of(key: str) -> Point:
    """Return the point of a key: ids of sessions and snapshots have no slash in them."""
    return Point(*key.split("/", 2))


def snapshot_choice(snapshot: SnapshotSummary, age: Age, indent: str = "") -> Choice:
    """Return the line of a snapshot: its name, or why it was taken and what was said last."""
    name, said = snapshot_name(snapshot), clean(snapshot.summary)
    text = name if snapshot.name or not said else f"{name}: {said}"
    size = short_count(snapshot.token_count) if snapshot.token_count else ""
    pinned = "kept" if snapshot.pinned else ""
    note = [pinned, size, age(snapshot.timestamp)]
    return Choice(
        key_of(Point(snapshot.session_id, snapshot.id)),
        f"{snapshot_mark(snapshot)} {text}",
        "damaged" if snapshot.damage else " · ".join(filter(None, note)),
        words=f"{said} {snapshot.model} {snapshot.id[:8]}",
        indent=indent,
    )


def choices_inside(session_id: str, inside: Inside, age: Age) -> list[Choice]:
    """Return the lines below a session: snapshots, under their branches if there are several."""
    if len(inside.branches) < 2:
        return list(_snapshot_choices(inside.snapshots, age, ""))
    under = _by_branch(inside)
    lines: list[Choice] = []
    for branch, guide in zip(inside.branches, _branches("", len(inside.branches)), strict=True):
        lines.append(_branch_choice(session_id, branch, age, guide))
        beside = "  " if guide.startswith("└") else "│ "
        lines += _snapshot_choices(under.get(branch.leaf, ()), age, beside)
    return lines


def _snapshot_choices(
    snapshots: Sequence[SnapshotSummary], age: Age, before: str
) -> Iterator[Choice]:
    for snapshot, indent in zip(snapshots, _branches(before, len(snapshots)), strict=True):
        yield snapshot_choice(snapshot, age, indent)


def _branch_choice(session_id: str, branch: Branch, age: Age, indent: str) -> Choice:
    here = f" {CURRENT}" if branch.is_current else ""
    return Choice(
        key_of(Point(session_id, message=branch.leaf)),
        f"{clean(branch.name)}{here}",
        f"{branch.messages:,} msg · {age(branch.at)}".rstrip(" ·"),
        indent=indent,
    )


def _by_branch(inside: Inside) -> dict[str, list[SnapshotSummary]]:
    """Return the snapshots by the leaf of their branch; without one, under the current branch."""
    current = next((each.leaf for each in inside.branches if each.is_current), "")
    first = current or inside.branches[0].leaf
    under: dict[str, list[SnapshotSummary]] = {}
    for snapshot in inside.snapshots:
        leaf = inside.holders.get(snapshot.head or "", first)
        under.setdefault(leaf, []).append(snapshot)
    return under


def _branches(before: str, count: int) -> Iterator[str]:
    """Yield the lines of a tree that stand before this many children."""
    for number in range(count):
        yield f"{before}{'└' if number == count - 1 else '├'} "
