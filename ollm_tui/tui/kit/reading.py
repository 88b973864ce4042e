"""What screens to read from share: moving by lines, pages and to the ends, and closing."""

from __future__ import annotations

from textual.screen import Screen
from textual.widget import Widget


class ReadingScreen(Screen[None]):
    """A screen with one page that is longer than it. Its keys are those of the subclass."""

    PAGE: type[Widget]
    """The widget that scrolls."""

    def action_close(self) -> None:
        """Back to where one came from."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Read on, line by line."""
        self.query_one(self.PAGE).scroll_relative(y=lines, animate=False)

    def action_page(self, direction: int) -> None:
        """Read on, page by page."""
        self.action_scroll(direction * max(self.query_one(self.PAGE).size.height - 1, 1))

    def action_edge(self, end: int) -> None:
        """To the top or to the end."""
        page = self.query_one(self.PAGE)
        page.scroll_to(y=page.max_scroll_y if end else 0, animate=False)
