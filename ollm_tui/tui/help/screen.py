"""The help screen: every key and command there is, found by words, and where files are."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from ollm_tui.core.intake import visible
from ollm_tui.tui.help.help_page import HelpEntry, help_columns, places_text
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.reading import ReadingScreen

WIDE = 100
"""Columns of the terminal from which the page has two of its own."""
MARGIN = 6
KEYS = "j k PgUp PgDn g G read   / find   Esc close"
FIND_KEYS = "Up Down PgUp PgDn read   Esc show all"


class HelpScreen(ReadingScreen):
    """Shows the entries it is given, group by group, then the places."""

    PAGE = VerticalScroll
    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape", "back", "Close", id="help.back", tooltip="Show all, then close"),
        Binding("q,question_mark", "close", "Close", id="help.close", tooltip="Close the help"),
        Binding("slash", "find", "Find", id="help.find", tooltip="Find by words"),
        Binding("j,down", "scroll(1)", "Down", id="help.down", tooltip="A line down"),
        Binding("k,up", "scroll(-1)", "Up", id="help.up", tooltip="A line up"),
        Binding("pagedown,space", "page(1)", "Page down", id="help.page_down", tooltip="A page on"),
        Binding("pageup", "page(-1)", "Page up", id="help.page_up", tooltip="A page back"),
        Binding("g,home", "edge(0)", "Top", id="help.top", tooltip="To the top"),
        Binding("G,end", "edge(1)", "End", id="help.end", tooltip="To the end"),
    ]

    def __init__(self, entries: Sequence[HelpEntry], places: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._entries = entries
        self._places = [(what, visible(path)) for what, path in places]
        self._words: list[str] = []

    def compose(self) -> ComposeResult:
        """A title, the page, the words to find by, the keys."""
        yield Static(Content("Keys and commands"), id="title")
        with VerticalScroll(can_focus=False):
            with Horizontal(id="columns"):
                yield Static(id="left")
                yield Static(id="right")
            yield Static(places_text(self._places), id="places")
        yield LineInput(placeholder="Type to find a key or a command")
        yield Static(Content(KEYS), id="keys")

    def on_mount(self) -> None:
        """The line that finds comes when / is pressed."""
        self._find_line.display = False

    def on_resize(self) -> None:
        """Lay the page out for the width there is."""
        self._lay_out()

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Keep what has every word."""
        self._words = event.value.casefold().split()
        self._lay_out()
        self.action_edge(0)

    def action_find(self) -> None:
        """Show the line that finds."""
        self._find_line.display = True
        self._find_line.focus()
        self._show_keys(FIND_KEYS)

    def action_back(self) -> None:
        """Show all again, or close."""
        if not self._find_line.display:
            self.action_close()
            return
        self._find_line.value = ""
        self._find_line.display = False
        self.set_focus(None)
        self._show_keys(KEYS)

    @property
    def _find_line(self) -> LineInput:
        return self.query_one(LineInput)

    def _show_keys(self, keys: str) -> None:
        self.query_one("#keys", Static).update(Content(keys))

    def _lay_out(self) -> None:
        count = 2 if self.size.width >= WIDE else 1
        width = (self.size.width - MARGIN) // count - 2
        fitting = [entry for entry in self._entries if entry.fits(self._words)]
        left, *right = help_columns(fitting, [width] * count)
        self.query_one("#left", Static).update(left)
        self.query_one("#right", Static).update(right[0] if right else Content(""))
        self.query_one("#right").display = bool(right)
        self.query_one("#places").display = not self._words
