"""The summary of a checkpoint as it is written, and then to be edited."""

from __future__ import annotations

from textual import events
from textual.widgets import TextArea

from ollm_tui.core.intake import clean


class SummaryArea(TextArea):
    """Text that grows at its end until the user edits it. What is pasted is filtered."""

    def __init__(self) -> None:
        super().__init__(
            read_only=True,
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            show_cursor=False,
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False

    def follow(self, text: str) -> None:
        """Show a text that is longer than before, or another one; its end is in view."""
        shown = self.text
        if text == shown:
            return
        if shown and text.startswith(shown):
            self.insert(text[len(shown) :], self.document.end, maintain_selection_offset=True)
        else:
            self.load_text(text)
        self.scroll_end(animate=False)

    def open(self) -> None:
        """Let it be edited, from its end."""
        self.read_only = False
        self.show_cursor = True
        self.move_cursor(self.document.end)
        self.focus()

    def close(self) -> None:
        """Let it only be read."""
        self.read_only = True
        self.show_cursor = False

    def action_paste(self) -> None:
        """Paste what was copied in this program."""
        self._put(self.app.clipboard)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._put(event.text)

    def _put(self, text: str) -> None:
        if not self.read_only:
            self.move_cursor(self.replace(clean(text), *self.selection).end_location)
