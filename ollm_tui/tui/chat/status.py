"""The widgets for the lines of state: the title line on top, the status line at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from ollm_tui.tui.kit.clickable import clickable

NARROW = 80
"""Columns below which the sidebar takes the place of the stream."""
WITH_SIDEBAR = 110
"""Columns from which on the sidebar is open unless somebody closed it."""
WIDE = 160
"""Columns from which on the inspector may stand at the right."""
BESIDE_HINTS = len("  NOT SAVED") + 4
"""Columns beside the hints: the alarm on the right, and the space around it."""
# The same as `padding` of `.right` and of `#title` in screen.tcss.
AROUND, BEFORE = 2, 2
"""The columns beside the line, and before the text on the right."""
TITLE_SHARE = 0.6
"""The share of the line that a long title has in any case."""
GAP = "   "

Words = str | Content


class PlainText(Static):
    """A text in which some words may be clicked; they look like all others."""

    def __init__(self, **options: Any) -> None:
        super().__init__("", markup=False, **options)
        self.auto_links = False


class TwoTexts(Horizontal):
    """One line with a text on the left and one on the right, which keeps its room.

    Foreign names are shown as plain text: no markup parser sees them.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._left = PlainText(classes="left")
        self._right = PlainText(classes="right")
        self._shown = (Content(""), Content(""))

    def compose(self) -> ComposeResult:
        """Lay out the two texts, pushed apart."""
        yield self._left
        yield self._right

    def show(self, *, left: Words | None = None, right: Words | None = None) -> None:
        """Change one of the texts, or both."""
        before = self._shown
        self._shown = (
            before[0] if left is None else _content(left),
            before[1] if right is None else _content(right),
        )
        # The left text has the room that is left: only another length on the right moves anything.
        if not self._shown[0].is_same(before[0]):
            self._left.update(self._shown[0], layout=False)
        if not self._shown[1].is_same(before[1]):
            self._right.update(self._shown[1])


class TitleLine(TwoTexts):
    """Shows the title of the session, which model answers where, and how freely it may act."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._title = ""
        self._who: Sequence[str] = ("",)
        self._how_freely: Callable[[int], str] = _says_nothing

    def show_names(
        self, title: str, who: Sequence[str], how_freely: Callable[[int], str] | None = None
    ) -> None:
        """Show the title and the model, in the first of some words that leave room for the title.
        `how_freely` is asked again for every width of the terminal."""
        self._title, self._who, self._how_freely = title, who, how_freely or _says_nothing
        self.show(left=title)
        self.on_resize()

    def on_resize(self) -> None:
        """Shorten the names where there is little room: missing brakes are seen at every width."""
        width = self.screen.size.width
        how_freely = self._how_freely(width)
        brakes = GAP + how_freely if how_freely else ""
        beside = width - AROUND - BEFORE - cell_len(brakes)
        room = beside - min(cell_len(self._title), int(beside * TITLE_SHARE))
        who = next((each for each in self._who if cell_len(each) <= room), self._who[-1])
        if cell_len(who) > room:
            who = f"{set_cell_size(who, max(room - 1, 0)).rstrip()}…"
        self.show(right=clickable(who, "model.choose") + brakes)


class StatusLine(TwoTexts):
    """Shows what is going on or which keys matter now, and whether all is saved."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._lines: Sequence[Content] = ()

    def show_fitting(self, lines: Sequence[Words]) -> None:
        """Show the first of some lines that there is room for, also after a change of the width."""
        self._lines = [_content(line) for line in lines]
        self.on_resize()

    def on_resize(self) -> None:
        """Show the line that fits now."""
        room = self.screen.size.width - BESIDE_HINTS
        if self._lines:
            self.show(
                left=next((line for line in self._lines if len(line) <= room), self._lines[-1])
            )


def _content(words: Words) -> Content:
    return words if isinstance(words, Content) else Content(words)


def _says_nothing(_width: int) -> str:
    return ""
