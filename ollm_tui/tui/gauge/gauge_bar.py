"""The stacked bar of the gauge, in true proportion: what each of its cells shows, and the marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from ollm_tui.services.tokens.prompt_count import GROUPS, Group, Parts, shared_out

if TYPE_CHECKING:
    from ollm_tui.engine.context.budget import Room

MarkKind = Literal["trigger", "snapshot"]
Kind = Group | Literal["free", "reserve"] | MarkKind
"""What a cell of the bar stands for."""
MARKS: tuple[MarkKind, ...] = ("trigger", "snapshot")
Run = tuple[Kind, int]
"""A number of cells in a row that are of one kind."""

EIGHTHS = 8
PARTIAL = "▏▎▍▌▋▊▉"
"""The left one to seven eighths of a cell."""

Characters = Mapping[Kind, str]


class Cell(NamedTuple):
    """One cell: what it stands for, how much of it, and what stands in the rest of it."""

    kind: Kind
    eighths: int = EIGHTHS
    rest: Kind | None = None
    """What is behind a mark, or right of the eighths."""


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


def bar(parts: Parts, room: Room, width: int) -> list[Cell]:
    """Return the window from left to right in exactly this many cells, in true proportion.

    Every boundary is where its tokens are, to the eighth of a cell. A mark takes the place of a
    cell and moves nothing.
    """
    segments = _segments(parts, room)
    window = max(sum(tokens for _, tokens in segments), 1)
    total = width * EIGHTHS
    ends = _ends([tokens for _, tokens in segments], window, total)
    cells = [_cell(segments, ends, at * EIGHTHS) for at in range(width)]
    positions: dict[MarkKind, int] = {
        "trigger": min(parts.fixed + room.trigger, room.limit),
        "snapshot": room.snapshot,
    }
    taken: set[int] = set()
    for kind, tokens in positions.items():
        at = min(tokens * width // window, width - 1)
        # Where both are in one cell, the one with fewer tokens stays left.
        at = at if at not in taken else at + 1 if tokens >= min(positions.values()) else at - 1
        if 0 <= at < width:
            taken.add(at)
            cells[at] = Cell(kind, EIGHTHS, cells[at].kind)
    return cells


def _ends(tokens: Sequence[int], window: int, total: int) -> list[int]:
    """Return where each segment ends, in eighths; what is there has one at least."""
    ends: list[int] = []
    reached = end = 0
    for number in tokens:
        reached += number
        exact = (reached * total * 2 + window) // (window * 2)
        end = min(max(exact, end + bool(number)), total)
        ends.append(end)
    return ends


def _cell(segments: Sequence[Run], ends: Sequence[int], start: int) -> Cell:
    """Return the cell that begins at an eighth. Where several segments meet in it, the first
    one that reaches far is drawn up to its end, the next behind it."""
    inside: list[tuple[Kind, int]] = []
    before = start
    for (kind, _), end in zip(segments, ends, strict=True):
        if end > before and before < start + EIGHTHS:
            inside.append((kind, min(end, start + EIGHTHS) - before))
            before = min(end, start + EIGHTHS)
    if not inside:
        return Cell(segments[-1][0])
    if len(inside) == 1:
        return Cell(inside[0][0])
    # Used up to here, free from there: that boundary is the one that must be right.
    used = [part for part in inside if part[0] in GROUPS]
    if used and len(used) < len(inside):
        reached = sum(eighths for _, eighths in used)
        return Cell(max(used, key=lambda part: part[1])[0], reached, inside[len(used)][0])
    if not used:  # free room and reserve: which of them has the cell says enough
        return Cell(max(inside, key=lambda part: part[1])[0])
    kind, eighths = inside[0]
    return Cell(kind, eighths, max(inside[1:], key=lambda part: part[1])[0])


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
