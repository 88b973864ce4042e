"""The base of screens that show one long page: scrolling by lines and pages, and closing."""

from __future__ import annotations

from textual.screen import Screen
from textual.widget import Widget


class ReadingScreen(Screen[None]):
    """A screen with one page that scrolls; subclasses bind keys to its actions."""

    PAGE: type[Widget]
    """The widget that scrolls."""

    def action_close(self) -> None:
        """Close the screen."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one(self.PAGE).scroll_relative(y=lines, animate=False)

    def action_page(self, direction: int) -> None:
        """Scroll by pages; one line of the last page stays in view."""
        self.action_scroll(direction * max(self.query_one(self.PAGE).size.height - 1, 1))

    def action_edge(self, end: int) -> None:
        """Scroll to the top, or to the end if `end` is not 0."""
        page = self.query_one(self.PAGE)
        page.scroll_to(y=page.max_scroll_y if end else 0, animate=False)
