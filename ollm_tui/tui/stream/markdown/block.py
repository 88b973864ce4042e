"""What all blocks share: a place on the page, a margin, and how lines of source reach them."""

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
        self.first_lead: Lead
        self.rest_lead: Lead
        self._fit()

    @property
    def room(self) -> int:
        """Cells for the text beside the margin."""
        return max(self.page.width - self.rest_lead.width, 1)

    def begin_line(self, text: str, source: int, line_start: int) -> None:
        """A line of source begins; `source` is where its text is, `line_start` where it starts."""
        raise NotImplementedError

    def extend(self, text: str) -> None:
        """The line begun last goes on."""
        raise NotImplementedError

    def end_line(self) -> None:
        """The line begun last is complete."""

    def draw(self) -> None:
        """Bring the page up to date."""

    def close(self) -> None:
        """Nothing more comes."""
        self.draw()

    def lay_out(self) -> None:
        """Draw everything again at the end of the page, whose width may be another now."""
        self.top = len(self.page.lines)
        self._fit()
        self.redraw()

    def redraw(self) -> None:
        """Draw the whole block, whatever was drawn before."""
        raise NotImplementedError

    def lead(self, is_first: bool) -> Lead:
        """The margin of a line of the block."""
        return self.first_lead if is_first else self.rest_lead

    def _fit(self) -> None:
        self.first_lead, self.rest_lead = leads(self.indents, self.page.width)


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
        self._source = source
        self._is_rule = is_rule
        self.redraw()

    def redraw(self) -> None:
        """Draw the line."""
        text = "─" * self.room if self._is_rule else ""
        segments = (Segment(text, self.palette.styles.rule),) if text else ()
        self.page.put(self.top, [Line(self.first_lead, segments, self._source)])
