"""A timeline in so many cells: how high its curve is in each, and which mark stands below it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ollm_tui.core.session.timeline import MarkKind, Timeline, TimelineMark

LEVELS = "▁▂▃▄▅▆▇█"
MARKS: Mapping[MarkKind, str] = {
    "named": "◆",
    "automatic": "◇",
    "compression": "⤓",
    "restore": "↺",
    "loop": "↻",
    "model": "⇄",
}
WORDS: Mapping[MarkKind, str] = {
    "named": "snapshot",
    "automatic": "automatic",
    "compression": "compressed",
    "restore": "went back",
    "loop": "repeated itself",
    "model": "other model",
}
MOST_CELLS = 4
"""So wide a message may be, so that marks have room in a short session."""
ASIDE = 2
"""Cells a mark may stand beside its place, where another stands there."""
_RANKS: tuple[MarkKind, ...] = ("named", "compression", "restore", "loop", "automatic", "model")


class Drawing(NamedTuple):
    """Two lines of the same length."""

    curve: str
    marks: tuple[TimelineMark | None, ...]
    """What stands below each cell."""


def drawing(timeline: Timeline, width: int, selected: str = "") -> Drawing:
    """A timeline in at most so many cells; the selected snapshot is never left out."""
    count = len(timeline.tokens)
    if not count or width < 1:
        return Drawing("", ())
    cells = min(width, count * MOST_CELLS)
    highest = max(timeline.window or 0, *timeline.tokens, 1)
    curve = "".join(
        LEVELS[min(_height(timeline.tokens, cell, cells) * len(LEVELS) // highest, 7)]
        for cell in range(cells)
    )
    placed: dict[int, TimelineMark] = {}
    ranked = sorted(
        timeline.marks,
        key=lambda mark: (mark.key != selected or not selected, _RANKS.index(mark.kind)),
    )
    for mark in ranked:
        place = max(mark.place * cells // count - 1, 0)
        near = (place + step for step in (0, *range(1, ASIDE + 1)))
        free = next((cell for cell in near if cell < cells and cell not in placed), None)
        if free is not None:
            placed[free] = mark
    return Drawing(curve, tuple(placed.get(cell) for cell in range(cells)))


def _height(tokens: tuple[int, ...], cell: int, cells: int) -> int:
    """The most of what falls into a cell: a peak is what matters."""
    first = cell * len(tokens) // cells
    last = max((cell + 1) * len(tokens) // cells, first + 1)
    return max(tokens[first:last])
