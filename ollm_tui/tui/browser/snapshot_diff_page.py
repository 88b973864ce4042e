"""The page of a comparison: as many lines as there are messages, drawn as they are seen."""

from __future__ import annotations

from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ollm_tui.services.snapshots.snapshot_diff import ContextDiff
from ollm_tui.tui.browser.snapshot_diff_lines import Line, diff_lines


class SnapshotDiffPage(ScrollView, can_focus=False):
    """Scrolls through the lines of a comparison."""

    COMPONENT_CLASSES = {
        "diff--plain",
        "diff--quiet",
        "diff--added",
        "diff--gone",
        "diff--changed",
        "diff--title",
    }
    DEFAULT_CSS = """
    SnapshotDiffPage {
        height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        & > .diff--plain { color: $foreground; }
        & > .diff--quiet { color: $text-muted; }
        & > .diff--added { color: $text-success; }
        & > .diff--gone { color: $text-error; }
        & > .diff--changed { color: $text-warning; }
        & > .diff--title { color: $primary; text-style: bold; }
    }
    """

    def __init__(self, diff: ContextDiff, names: tuple[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._diff = diff
        self._names = names
        self._lines: list[Line] = []

    def on_resize(self) -> None:
        """Another width lays the lines out anew."""
        width = self.scrollable_content_region.width
        self._lines = diff_lines(self._diff, self._names, width)
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def go_to_next(self) -> None:
        """Show the next message that differs, below what is at the top; after the last, the
        first."""
        head = len(self._lines) - len(self._diff.messages)
        places = [
            head + number for number, each in enumerate(self._diff.messages) if each.fate != "same"
        ]
        above = self.scroll_offset.y + 1
        wanted = next((place for place in places if place - 1 > above), None)
        if wanted is None and places:
            wanted = places[0]
        if wanted is not None:
            self.scroll_to(y=max(wanted - 1, 0), animate=False)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        number, width = y + self.scroll_offset.y, self.size.width
        line = self._lines[number] if number < len(self._lines) else ()
        strip = Strip([Segment(text, self._style(look)) for look, text in line])
        return strip.adjust_cell_length(width, self.rich_style).apply_style(self.rich_style)

    def _style(self, look: str) -> Style:
        return self.get_component_rich_style(f"diff--{look}")
