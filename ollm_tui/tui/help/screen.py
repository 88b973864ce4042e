"""The help screen: every key and command, which can be found by words, and where files are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from ollm_tui.core.intake import visible
from ollm_tui.tui.help.words import FIND_PLACEHOLDER
from ollm_tui.tui.keymap import key_name
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.reading_screen import ReadingScreen

WIDEST_KEYS = 16
"""Cells of the column of keys at most; more keys are wrapped."""
HERE = "help.here"
"""The key that shows this."""
ON_THIS_SCREEN = "On this screen"
NOTHING_FITS = "No matches. Esc shows all."
WIDE = 100
"""Columns of the terminal from which the page has two of its own."""
MARGIN = 6
"""Columns at the sides of the page that the text cannot have."""
KEYS = "↑↓ PgUp PgDn scroll   / find   Esc close"
FIND_KEYS = "↑↓ PgUp PgDn scroll   Esc show all"


class HelpEntry(NamedTuple):
    """One thing that can be done; entries of a group follow one another."""

    group: str
    keys: str
    title: str
    slash: str = ""
    description: str = ""
    colour: str = "$accent"
    """The colour of the keys."""

    @property
    def first(self) -> str:
        """What stands in the column of keys: without a key the name of the command, as an empty
        column looks as if the line belonged to the command above."""
        return self.keys or self.slash.partition(" ")[0]

    @property
    def beside(self) -> str:
        """What stands behind the title: the name and what may follow it, as far as not said."""
        return self.slash if self.keys else self.slash.partition(" ")[2]

    def fits(self, words: Iterable[str]) -> bool:
        """Return whether every word is in the entry."""
        text = " ".join(self[:-1]).casefold()
        return all(word in text for word in words)


class HelpScreen(ReadingScreen):
    """Shows the entries it is given, group by group, then the places."""

    PAGE = VerticalScroll
    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape", "back", "Close", id="help.back", tooltip="Clear the filter, or close"),
        Binding("q,question_mark", "close", "Close", id="help.close", tooltip="Close"),
        Binding("slash", "find", "Find", id="help.find", tooltip="Filter"),
        Binding("j,down", "scroll(1)", "Down", id="help.down", tooltip="Scroll down"),
        Binding("k,up", "scroll(-1)", "Up", id="help.up", tooltip="Scroll up"),
        Binding(
            "pagedown,space",
            "page(1)",
            "Page down",
            id="help.page_down",
            tooltip="Scroll a page down",
        ),
        Binding("pageup", "page(-1)", "Page up", id="help.page_up", tooltip="Scroll a page up"),
        Binding("g,home", "edge(0)", "Top", id="help.top", tooltip="Go to the top"),
        Binding("G,end", "edge(1)", "End", id="help.end", tooltip="Go to the bottom"),
    ]

    def __init__(self, entries: Sequence[HelpEntry], places: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._entries = entries
        self._places = [(what, visible(path)) for what, path in places]
        self._words: list[str] = []

    def compose(self) -> ComposeResult:
        """Lay out the title, the page, the find line and the keys."""
        yield Static(Content("Help"), id="title")
        with VerticalScroll(can_focus=False):
            with Horizontal(id="columns"):
                yield Static(id="left")
                yield Static(id="right")
            yield Static(places_text(self._places), id="places")
        yield LineInput(placeholder=FIND_PLACEHOLDER)
        yield Static(Content(KEYS), id="keys")

    def on_mount(self) -> None:
        """Hide the find line until / is pressed."""
        self._find_line.display = False

    def on_resize(self) -> None:
        """Lay the page out for the width there is."""
        self._lay_out()

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Show only the entries that have every word."""
        self._words = event.value.casefold().split()
        self._lay_out()
        self.action_edge(0)

    def action_find(self) -> None:
        """Show the find line."""
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
        self.query_one("#places").display = bool(self._places) and not self._words


def keys_of(screen: Screen[Any]) -> list[HelpEntry]:
    """Return the keys that can be used on a screen now, as the user has mapped them."""
    named: dict[str, list[str]] = {}
    bindings: dict[str, Binding] = {}
    for key, active in screen.active_bindings.items():
        binding = active.binding
        if active.enabled and binding.id and binding.tooltip:
            named.setdefault(binding.id, []).append(key_name(key))
            bindings[binding.id] = binding
    return [
        HelpEntry(ON_THIS_SCREEN, " ".join(dict.fromkeys(named[name])), binding.tooltip)
        for name, binding in bindings.items()
        if name != HERE
    ]


def help_columns(entries: Sequence[HelpEntry], widths: Sequence[int]) -> list[Content]:
    """Return the entries laid out in as many columns as there are widths."""
    if not entries:
        return [Content(NOTHING_FITS), *(Content("") for _ in widths[1:])]
    key_width = min(max(len(entry.first) for entry in entries), WIDEST_KEYS) + 2
    groups = [
        _group(name, tuple(members), key_width, min(widths))
        for name, members in groupby(entries, key=lambda entry: entry.group)
    ]
    columns: list[list[Content]] = [[] for _ in widths]
    share = sum(map(len, groups)) / len(widths)
    placed = 0
    for group in groups:
        # A group goes where the middle of it falls, so columns end at about the same line.
        column = min(int((placed + len(group) / 2) / share), len(widths) - 1)
        columns[column] += group
        placed += len(group)
    return [Content("\n").join(lines) for lines in columns]


def places_text(places: Sequence[tuple[str, str]]) -> Content:
    """Return the list of files: what each is, and its path."""
    width = max((len(what) for what, _ in places), default=0) + 2
    lines = [Content.styled("Files", "bold $primary")]
    lines += [Content.assemble((what.ljust(width), "$text-muted"), path) for what, path in places]
    return Content("\n").join(lines)


def _group(name: str, entries: Sequence[HelpEntry], key_width: int, width: int) -> list[Content]:
    lines = [Content.styled(name, "bold $primary")]
    for entry in entries:
        lines += _lines(entry, key_width, max(width - key_width, 12))
    return [*lines, Content("")]


def _lines(entry: HelpEntry, key_width: int, room: int) -> list[Content]:
    title = wrap(f"{entry.title}  {entry.beside}".rstrip(), room) or [""]
    keys = wrap(entry.first, key_width - 2) or [""]
    said = [(line, "") for line in title]
    said += [(line, "$text-muted") for line in wrap(entry.description, room)]
    count = max(len(said), len(keys))
    keys += [""] * (count - len(keys))
    said += [("", "")] * (count - len(said))
    return [
        Content.assemble((key.ljust(key_width), entry.colour), (text, style))
        for key, (text, style) in zip(keys, said, strict=True)
    ]
