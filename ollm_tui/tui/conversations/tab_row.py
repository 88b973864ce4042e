"""The row of tabs: one for each open conversation, where there is room for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ollm_tui.tui.conversations.standing import LOOKS, Standing

LEAST_ROWS, LEAST_COLUMNS = 20, 60
"""The smallest terminal that has room for the row; a smaller one has the count in the title."""
LONGEST_TITLE, SHORTEST_TITLE = 24, 4
"""Columns of a title."""
GAP = "   "
"""What is between two tabs."""


class TabRow(Static):
    """Shows the open conversations; takes no room while there is only one."""

    DEFAULT_CSS = "TabRow { height: 1; padding: 0 1; display: none; text-wrap: nowrap; }"

    @dataclass
    class Clicked(Message):
        """A tab was clicked."""

        session_id: str

    def __init__(self, *, unicode: bool) -> None:
        super().__init__(id="tabs")
        self._unicode = unicode
        self._standings: Sequence[Standing] = ()
        self._ends: list[tuple[int, str]] = []
        """The column after each tab, and its session."""

    def show(self, standings: Sequence[Standing]) -> None:
        """Show how the open conversations stand."""
        self._standings = standings
        self.on_resize()

    def on_resize(self) -> None:
        """Shorten the titles where there is little room, and leave the row out in a small
        terminal."""
        size, standings = self.screen.size, self._standings
        longest = self._longest_title(size.width - 2)
        has_room = size.height >= LEAST_ROWS and size.width >= LEAST_COLUMNS
        self.display = len(standings) > 1 and has_room and longest >= SHORTEST_TITLE
        if not self.display:
            return
        tabs, self._ends, end = list[Content](), [], 1
        for each in standings:
            tab = self._tab(each, longest)
            end += tab.cell_length + len(GAP)
            self._ends.append((end, each.session_id))
            tabs.append(tab)
        self.update(Content(GAP).join(tabs))

    def on_click(self, event: events.Click) -> None:
        """Tell which tab was clicked."""
        at = next((session_id for end, session_id in self._ends if event.x < end), "")
        if at:
            self.post_message(self.Clicked(at))

    def _longest_title(self, room: int) -> int:
        """Return how many columns each title may take."""
        count = max(len(self._standings), 1)
        around = sum(len(f"{each.number}  ") + 1 for each in self._standings)  # with its glyph
        return min((room - around - len(GAP) * (count - 1)) // count, LONGEST_TITLE)

    def _tab(self, standing: Standing, longest: int) -> Content:
        look, title = LOOKS[standing.state], standing.title
        if cell_len(title) > longest:
            title = f"{set_cell_size(title, longest - 1).rstrip()}…"
        glyph = look.glyph if self._unicode else look.ascii
        style = "bold $foreground" if standing.is_shown else "$text-muted"
        return Content.assemble(
            (f"{standing.number} ", "$primary" if standing.is_shown else "$text-muted"),
            (title, style),
            (f" {glyph}" if glyph else "", look.colour),
        )
