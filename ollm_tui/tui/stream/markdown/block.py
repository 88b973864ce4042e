"""What all blocks share: lines on the page, a margin, and how lines of source reach them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment

from ollm_tui.tui.stream.markdown.page import Indent, Lead, Line, Page, leads
from ollm_tui.tui.stream.markdown.styles import Palette


class Block:
    """A piece of the page that is laid out by itself. Only the last block can still change."""

    def __init__(self, page: Page, palette: Palette, indents: Sequence[Indent]) -> None:
        self.page = page
        self.palette = palette
        self.indents = tuple(indents)
        self.top = len(page.lines)
        """The first line of the block on the page."""
        self.first_lead, self.rest_lead = leads(self.indents, page.width)

    @property
    def room(self) -> int:
        """Cells for the text beside the margin."""
        return max(self.page.width - self.rest_lead.width, 1)

    def begin_line(self, text: str, source: int, line_start: int) -> None:
        """Begin a line of source that starts at `line_start` and whose text starts at `source`."""
        raise NotImplementedError

    def extend(self, text: str) -> None:
        """Append text to the line begun last."""
        raise NotImplementedError

    def end_line(self) -> None:
        """Mark the line begun last as complete."""

    def draw(self) -> None:
        """Bring the page up to date."""

    def close(self) -> None:
        """Draw what is missing: nothing more comes."""
        self.draw()

    def lead(self, is_first: bool) -> Lead:
        """Return the margin of the first line, or of any other line, of the block."""
        return self.first_lead if is_first else self.rest_lead


class FixedBlock(Block):
    """A line that never changes: a gap between blocks, a rule, an item without text."""

    def __init__(
        self,
        page: Page,
        palette: Palette,
        indents: Sequence[Indent],
        source: int,
        is_rule: bool = False,
    ) -> None:
        super().__init__(page, palette, indents)
        segments = (Segment("─" * self.room, palette.styles.rule),) if is_rule else ()
        page.put(self.top, [Line(self.first_lead, segments, source)])
