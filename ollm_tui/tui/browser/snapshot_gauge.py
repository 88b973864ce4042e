"""The gauge of a point that is looked at: the same bar, and its numbers."""

from __future__ import annotations

from ollm_tui.engine.context.budget import Budget
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.gauge.gauge_bar import LEAST_CELLS, bar
from ollm_tui.tui.gauge.gauge_line import Line, Reading, Text

LONGEST_BAR = 40


class SnapshotGauge(Gauge):
    """Shows a context as it was: nothing comes next."""

    def show_budget(self, budget: Budget | None) -> None:
        """Show how a window is divided; None shows nothing."""
        if budget is None:
            self.show_words("")
            return
        self._draw(Reading(budget.parts, budget.room, estimated=False, words=""))

    @property
    def line(self) -> Line:
        """The bar where there is room for it, and the numbers."""
        if self._reading is None:
            return Line((), ())
        used, room = self._reading.parts.total, self._reading.room
        if room is None:
            return Line((), (Text("numbers", f"{used:,} tokens"),))
        numbers = f" {used:,} of {room.window:,} tokens"
        cells = min(self.size.width - len(numbers) - 1, LONGEST_BAR)
        drawn = tuple(bar(self._reading.parts, room, cells)) if cells >= LEAST_CELLS else ()
        return Line(drawn, (Text("numbers", numbers if drawn else numbers.strip()),))
