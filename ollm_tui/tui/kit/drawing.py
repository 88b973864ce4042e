"""Drawing with less work: only the rows that changed, and what was just typed at once.

It overrides private parts of Textual; `tests/tui/test_textual_internals.py` fails when they change.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import cast

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

FRAME_SECONDS = 1 / 60
"""How long Textual gathers changes before it draws them."""


class RowCompositor(Compositor):
    """Asks widgets for the rows that are drawn, and for no others.

    Textual's own has every widget that touches the changed region rendered whole. While an answer
    streams, its last line and the line of state change, and everything lies between them.
    """

    _changed: Mapping[int, Sequence[tuple[int, int]]] | None = None
    """From where to where each row changed, while only what changed is drawn."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """Draw what changed, and of each row only the pieces where it did."""
        changed: dict[int, list[tuple[int, int]]] = {}
        for y, start, end in self._regions_to_spans(self._dirty_regions):
            changed.setdefault(y, []).append((start, end))
        self._changed = changed
        try:
            return super().render_partial_update()
        finally:
            self._changed = None

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        chops: list[dict[int, Strip | None]] = [{} for _ in self.cuts]
        wanted: dict[int, set[int]] = {}
        for row in range(crop.y, min(crop.bottom, len(chops))):
            if is_rendered_line(row):
                chops[row] = dict.fromkeys(self.cuts[row][:-1])
                wanted[row] = self._wanted(row)
        for widget, (region, clip) in self.visible_widgets.items():  # those in front come first
            if not wanted:
                break
            seen = region.intersection(clip)
            open_rows = [row for row, cuts in wanted.items() if _is_wanted(seen, row, cuts)]
            for run in _runs(open_rows):
                part = Region(seen.x - region.x, run.start - region.y, seen.width, len(run))
                for row, strip in zip(run, widget.render_lines(part), strict=False):
                    own = [cut for cut in self.cuts[row] if seen.x <= cut <= seen.right]
                    _fill(chops[row], own, seen, strip)
                    wanted[row].difference_update(own[:-1])
                    if not wanted[row]:
                        del wanted[row]
        return cast(Sequence[Mapping[int, Strip]], chops)

    def _wanted(self, row: int) -> set[int]:
        """Return where the pieces of a row begin that are drawn: all, or those that changed."""
        cuts = self.cuts[row]
        if self._changed is None:
            return set(cuts[:-1])
        spans = self._changed[row]
        return {
            cut
            for cut, end in pairwise(cuts)
            if any(first < end and last > cut for first, last in spans)
        }


def _is_wanted(seen: Region, row: int, cuts: set[int]) -> bool:
    """Whether a widget that is seen there shows a piece of a row that is still missing."""
    return seen.y <= row < seen.bottom and any(seen.x <= cut < seen.right for cut in cuts)


def _runs(rows: Iterable[int]) -> Iterator[range]:
    """Join rows that follow one another."""
    for _, group in groupby(enumerate(rows), lambda pair: pair[1] - pair[0]):
        run = [row for _, row in group]
        yield range(run[0], run[-1] + 1)


def _fill(chop: dict[int, Strip | None], own: list[int], seen: Region, strip: Strip) -> None:
    """Cut a row of a widget where widgets meet; pieces that one in front has filled stay."""
    is_whole = len(own) == 2 and strip.cell_length == seen.width
    pieces = (strip,) if is_whole else strip.divide([cut - seen.x for cut in own[1:]])
    for cut, piece in zip(own, pieces, strict=False):
        if chop.get(cut) is None:
            chop[cut] = piece


class LeanScreen(Screen[None]):
    """A screen that draws changed rows only, and a widget at once where that is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._compositor = RowCompositor()
        self._drawn_at = 0.0

    def draw_at_once(self, widget: Widget) -> None:
        """Draw a widget now instead of with the next frame; everything else waits for that.

        Of keys that come in a burst only the first is drawn so: whoever pastes waits for the end.
        """
        now = time.monotonic()
        is_burst, self._drawn_at = now - self._drawn_at < FRAME_SECONDS, now
        is_headless = self.app.is_headless  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        if is_burst or is_headless or not (self.is_current and widget.is_attached):
            return
        if self._layout_required or self._scroll_required or self._repaint_required:
            return  # the widget may be about to move
        others = self._dirty_widgets - {widget}
        self._compositor.update_widgets({widget})
        self._compositor_refresh()  # forgets the others
        self._dirty_widgets |= others
