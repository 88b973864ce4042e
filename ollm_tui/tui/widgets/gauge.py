"""The context gauge: how much of the model's window is in use, as a bar and in numbers."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from ollm_tui.core.counts import short_count

FULL, COMPACT = 100, 70
"""Columns from which there is room for the long and for the short bar."""
NEARLY_FULL = 0.8


class Gauge(Widget, can_focus=False):
    """One line. The numbers are what the server measured; before it did, there are none."""

    COMPONENT_CLASSES = {"gauge--used", "gauge--high", "gauge--free", "gauge--words"}
    DEFAULT_CSS = """
    Gauge { height: 1; }
    Gauge > .gauge--used { color: $primary; }
    Gauge > .gauge--high { color: $warning; }
    Gauge > .gauge--free { color: $text-muted 30%; }
    Gauge > .gauge--words { color: $text-muted; }
    """

    def __init__(self, *, unicode: bool = True) -> None:
        super().__init__(id="gauge")
        self._marks = ("█", "░") if unicode else ("#", ".")
        self._used = 0
        self._window: int | None = None
        self._note = ""

    def show(self, used: int, window: int | None, note: str = "") -> None:
        """Tokens in use, the window really sent (None where the server has its own), and a word
        more: the speed, what was cached."""
        if (used, window, note) != (self._used, self._window, self._note):
            self._used, self._window, self._note = used, window, note
            self.refresh()

    @property
    def words(self) -> str:
        """The numbers for the room there is."""
        if not self._used:
            return f"0 of {short_count(self._window)}" if self._window else "nothing sent yet"
        if not self._window:
            return f"{short_count(self._used)} tokens, the server does not tell its window"
        share = f"{self._used / self._window:.0%}"
        if self.size.width >= FULL:
            return f"{self._used:,} of {self._window:,} tokens  {share}"
        if self.size.width >= COMPACT:
            return f"{share}  {short_count(self._used)}/{short_count(self._window)}"
        return f"{share} of {short_count(self._window)}"

    def render_line(self, y: int) -> Strip:
        """Bar, numbers, and the note at the right edge."""
        width = self.size.width
        words = f"{self.words} " if not self._note else f"{self.words}   {self._note} "
        room = width - len(words) - 1
        bar = self._bar(min(room, width // 2)) if self._window and width >= COMPACT else []
        text = self.get_component_rich_style("gauge--words")
        strip = Strip([*bar, Segment(" " if bar else "", text), Segment(words, text)])
        return strip.crop_extend(0, width, self.rich_style).apply_style(self.rich_style)

    def _bar(self, cells: int) -> list[Segment]:
        assert self._window
        share = min(self._used / self._window, 1.0)
        full = round(share * cells) or (1 if self._used else 0)
        kind = "gauge--high" if share >= NEARLY_FULL else "gauge--used"
        used, free = self._marks
        return [
            Segment(used * full, self.get_component_rich_style(kind)),
            Segment(free * (cells - full), self.get_component_rich_style("gauge--free")),
        ]
