"""A page of lines to be read: all that a tool would do, did or printed, and what tools may do."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.intake import visible
from ollm_tui.tui.kit.diff_lines import DiffLines
from ollm_tui.tui.kit.reading import ReadingScreen
from ollm_tui.tui.kit.toned_lines import TonedLine

KEYS = "j k Space g G read   Esc close"


class ToolPage(ReadingScreen):
    """Shows lines on the whole screen."""

    PAGE = DiffLines
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    ToolPage {
        layout: vertical; background: $background;
        & #heading { height: 1; padding: 0 1; background: $surface; color: $primary; }
        & DiffLines { height: 1fr; padding: 0 1; background: $background; }
        & #keys { height: 1; padding: 0 1; color: $text-muted; background: $surface; }
    }
    """
    BINDINGS = [
        Binding("escape,q,v", "close", "Close", id="toolpage.close", tooltip="Close the page"),
        Binding("j,down", "scroll(1)", "Down", id="toolpage.down", tooltip="A line down"),
        Binding("k,up", "scroll(-1)", "Up", id="toolpage.up", tooltip="A line up"),
        Binding(
            "pagedown,space", "page(1)", "Page down", id="toolpage.page_down", tooltip="A page on"
        ),
        Binding("pageup", "page(-1)", "Page up", id="toolpage.page_up", tooltip="A page back"),
        Binding("g,home", "edge(0)", "Top", id="toolpage.top", tooltip="To the top"),
        Binding("G,end", "edge(1)", "End", id="toolpage.end", tooltip="To the end"),
    ]

    def __init__(self, title: str, lines: Sequence[TonedLine], keys: str = KEYS) -> None:
        super().__init__()
        self._heading = visible(title)
        self._page = DiffLines(lines)
        self._keys = keys

    @property
    def end_was_seen(self) -> bool:
        """Whether all of it was read."""
        return self._page.end_was_seen

    def compose(self) -> ComposeResult:
        """A title, the lines, the keys."""
        yield Static(Content(self._heading), id="heading", markup=False)
        yield self._page
        yield Static(Content(self._keys), id="keys")
