"""The timeline of a session: a curve of tokens, and below it what happened when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.session.timeline import MarkKind, Timeline, TimelineMark
from ollm_tui.tui.browser.words import AUTOMATIC, MARK_WORDS, NAMED, NO_SNAPSHOTS

LEVELS = "▁▂▃▄▅▆▇█"
MARKS: Mapping[MarkKind, str] = {
    "named": NAMED,
    "automatic": AUTOMATIC,
    "compression": "⤓",
    "restore": "↺",
    "loop": "↻",
    "model": "⇄",
}
MOST_CELLS = 4
"""Cells of one message at most: several, so that marks have room in a short session."""
ASIDE = 2
"""How many cells a mark may stand beside its place, where that is taken."""
_RANKS: tuple[MarkKind, ...] = ("named", "compression", "restore", "loop", "automatic", "model")
"""Marks in the order in which they get a place; where there is no room, the last are left out."""
LABEL = 9
"""Cells for the word at the left."""


class Drawing(NamedTuple):
    """The two lines of a timeline; they are equally long."""

    curve: str
    marks: tuple[TimelineMark | None, ...]
    """The mark below each cell."""


class TimelineStrip(Widget):
    """Shows a session in two lines: the curve, and the marks with their meaning."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {
        "timeline--curve",
        "timeline--mark",
        "timeline--selected",
        "timeline--words",
    }
    DEFAULT_CSS = """
    TimelineStrip {
        height: 2;
        & > .timeline--curve { color: $primary; }
        & > .timeline--mark { color: $accent; }
        & > .timeline--selected {
            color: $block-cursor-foreground; background: $block-cursor-background;
        }
        & > .timeline--words { color: $text-muted; }
    }
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._timeline: Timeline | None = None
        self._selected = ""

    def show(self, timeline: Timeline | None, selected: str = "") -> None:
        """Show a session, and where in it a snapshot was taken."""
        self._timeline, self._selected = timeline, selected
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the curve, or the marks below it."""
        width, words = self.size.width, self._style("words")
        if self._timeline is None or not self._timeline.tokens:
            return Strip([]).adjust_cell_length(width, self.rich_style)
        drawn = drawing(self._timeline, max(width - LABEL - 1, 0), self._selected)
        segments = self._curve(drawn) if y == 0 else self._marks(drawn)
        label = "tokens" if y == 0 else ""
        strip = Strip([Segment(f" {label:<{LABEL - 1}}", words), *segments])
        note = self._peak() if y == 0 else self._legend(width - strip.cell_length - 3)
        if note and strip.cell_length + len(note) + 3 <= width:
            gap = width - strip.cell_length - len(note) - 1
            strip = Strip([*strip, Segment(" " * gap), Segment(note, words)])
        return strip.adjust_cell_length(width, self.rich_style).apply_style(self.rich_style)

    def _curve(self, drawn: Drawing) -> list[Segment]:
        return [Segment(drawn.curve, self._style("curve"))]

    def _marks(self, drawn: Drawing) -> list[Segment]:
        segments: list[Segment] = []
        for mark in drawn.marks:
            if mark is None:
                segments.append(Segment(" "))
                continue
            is_selected = bool(mark.key) and mark.key == self._selected
            style = self._style("selected" if is_selected else "mark")
            segments.append(Segment(MARKS[mark.kind], style))
        if any(drawn.marks):
            return segments
        room = self.size.width - LABEL - 1
        words = next((text for text in NO_SNAPSHOTS if len(text) <= room), "")
        return [Segment(words, self._style("words"))]

    def _peak(self) -> str:
        timeline = self._timeline
        if timeline is None:
            return ""
        window = f" of {short_count(timeline.window)}" if timeline.window else ""
        peak = f"peak {short_count(max(timeline.tokens))}{window}"
        return f"{counted(len(timeline.tokens), 'message')} · {peak}"

    def _legend(self, room: int) -> str:
        """Return what the marks that are there mean, as far as there is room."""
        timeline = self._timeline
        kinds: dict[MarkKind, None] = (
            {mark.kind: None for mark in timeline.marks} if timeline else {}
        )
        said = [f"{MARKS[kind]} {MARK_WORDS[kind]}" for kind in MARKS if kind in kinds]
        while said and len("  ".join(said)) > room:
            said.pop()
        return "  ".join(said)

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"timeline--{part}")


def drawing(timeline: Timeline, width: int, selected: str = "") -> Drawing:
    """Draw a timeline in at most this many cells; the selected snapshot is never left out."""
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
    """Return the highest of the numbers that fall into a cell: a peak is what matters."""
    first = cell * len(tokens) // cells
    last = max((cell + 1) * len(tokens) // cells, first + 1)
    return max(tokens[first:last])
