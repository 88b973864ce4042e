"""The stacked bar of the gauge: how many cells each part of the window takes, and the marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from ollm_tui.services.tokens.prompt_count import GROUPS, Group, Parts, shared_out

if TYPE_CHECKING:
    from ollm_tui.engine.context.budget import Room

MarkKind = Literal["trigger", "snapshot"]
Kind = Group | Literal["free", "reserve"] | MarkKind
"""What a cell of the bar stands for."""
MARKS: tuple[MarkKind, ...] = ("trigger", "snapshot")
Run = tuple[Kind, int]
"""A number of cells in a row that are of one kind."""

LEAST_CELLS = 11
"""Enough for a cell each: seven segments, two more pieces where marks cut them, and two marks."""

Characters = Mapping[Kind, str]


def _characters(drawn: str) -> Characters:
    kinds: tuple[Kind, ...] = (*GROUPS, "free", "reserve", *MARKS)
    return MappingProxyType(dict(zip(kinds, drawn, strict=True)))


COLOURED = _characters("▓▒███░▁│┊")
WITHOUT_COLOUR = _characters("▓▒█▆▄░▁│┊")
ASCII = _characters("#%=+*._|:")


def characters_for(*, unicode: bool, no_color: bool) -> Characters:
    """Return the characters a terminal can show; without colours every part has its own."""
    if not unicode:
        return ASCII
    return WITHOUT_COLOUR if no_color else COLOURED


def bar(parts: Parts, room: Room, width: int) -> list[Run]:
    """Return the window from left to right in exactly this many cells.

    From LEAST_CELLS on, every part that is not empty has at least one. A mark has a cell of
    its own and stands where its tokens are: left of what is free once they are reached.
    """
    positions: list[tuple[MarkKind, int]] = [
        ("trigger", min(parts.fixed + room.trigger, room.limit)),
        ("snapshot", room.snapshot),
    ]
    marks = sorted(positions, key=lambda mark: mark[1]) if width >= LEAST_CELLS else []
    pieces = list(_cut(_segments(parts, room), marks))
    cells = share_cells([tokens for _, tokens in pieces], max(width - len(marks), 0))
    runs: list[Run] = []
    for (kind, _), count in zip(pieces, cells, strict=True):
        # The cells of the marks were taken off the width before.
        count = 1 if kind in MARKS else count
        if count:
            runs.append((kind, count))
    return runs


def share_cells(tokens: Sequence[int], width: int) -> list[int]:
    """Return the cells of each number: they add up to the width, and none above 0 gets no cell.

    With fewer cells than numbers the largest get one each; if all are 0, none gets any.
    """
    there = [at for at, number in enumerate(tokens) if number > 0]
    if width < len(there):
        largest = sorted(there, key=lambda at: -tokens[at])[:width]
        return [int(at in largest) for at in range(len(tokens))]
    total = sum(tokens[at] for at in there)
    # One cell each; the others go to those that are worth more than one.
    beyond = [max(0, tokens[at] * width - total) for at in there]
    shares = dict(zip(there, shared_out(width - len(there), beyond), strict=True))
    return [1 + shares[at] if at in shares else 0 for at in range(len(tokens))]


def _segments(parts: Parts, room: Room) -> list[Run]:
    """Return what is used, what is free, and the reserve for the answer, which a long prompt
    shortens."""
    used: list[Run] = [(group, getattr(parts, group)) for group in GROUPS]
    free = max(0, room.limit - parts.total)
    reserve = max(0, room.window - max(room.limit, parts.total))
    return [*used, ("free", free), ("reserve", reserve)]


def _cut(segments: Sequence[Run], marks: Sequence[tuple[MarkKind, int]]) -> Iterator[Run]:
    """Yield the segments, cut where a mark stands; a mark itself has no tokens."""
    left = list(marks)
    at = 0
    for kind, tokens in segments:
        end = at + tokens
        # The reserve comes last, so it takes every mark that is left.
        while left and (left[0][1] < end or kind == "reserve"):
            mark, position = left.pop(0)
            yield kind, max(position - at, 0)
            yield mark, 0
            at = max(position, at)
        yield kind, max(end - at, 0)
        at = end
