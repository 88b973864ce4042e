"""The widgets for the lines of state: the title line on top, the status line at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

NARROW = 80
"""Columns below which the sidebar takes the place of the stream."""
BESIDE_HINTS = len("  NOT SAVED") + 4
"""Columns beside the hints: the alarm on the right, and the space around it."""
# The same as `max-width` and `padding` of `.right`, and `padding` of `#title`, in screen.tcss.
RIGHT_SHARE, AROUND, BEFORE = 0.6, 2, 2
"""The share of a line the right text may take, the columns beside the line and before that text."""
GAP = "   "


class TwoTexts(Horizontal):
    """One line with a text on the left and one on the right, which keeps its room.

    Foreign names are shown as plain text: no markup parser sees them.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._left = Static("", classes="left", markup=False)
        self._right = Static("", classes="right", markup=False)
        self._shown = ("", "")

    def compose(self) -> ComposeResult:
        """Lay out the two texts, pushed apart."""
        yield self._left
        yield self._right

    def show(self, *, left: str | None = None, right: str | None = None) -> None:
        """Change one of the texts, or both."""
        before = self._shown
        self._shown = (before[0] if left is None else left, before[1] if right is None else right)
        # The left text has the room that is left: only another length on the right moves anything.
        if self._shown[0] != before[0]:
            self._left.update(Content(self._shown[0]), layout=False)
        if self._shown[1] != before[1]:
            self._right.update(Content(self._shown[1]))


class TitleLine(TwoTexts):
    """Shows the title of the session, which model answers, and how freely it may act."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._who = ""
        self._how_freely: Callable[[int], str] = _says_nothing

    def show_names(
        self, title: str, who: str, how_freely: Callable[[int], str] | None = None
    ) -> None:
        """Show title and names. `how_freely` is asked again for every width of the terminal."""
        self._who, self._how_freely = who, how_freely or _says_nothing
        self.show(left=title)
        self.on_resize()

    def on_resize(self) -> None:
        """Shorten the names where there is little room: missing brakes are seen at every width."""
        width = self.screen.size.width
        how_freely = self._how_freely(width)
        if not how_freely:
            self.show(right=self._who)
            return
        room = int((width - AROUND) * RIGHT_SHARE) - BEFORE - cell_len(GAP + how_freely)
        who = self._who
        if cell_len(who) > room:
            who = f"{set_cell_size(who, max(room - 1, 0)).rstrip()}…"
        self.show(right=who + GAP + how_freely)


class StatusLine(TwoTexts):
    """Shows what is going on or which keys matter now, and whether all is saved."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._lines: Sequence[str] = ()

    def show_fitting(self, lines: Sequence[str]) -> None:
        """Show the first of some lines that there is room for, also after a change of the width."""
        self._lines = lines
        self.on_resize()

    def on_resize(self) -> None:
        """Show the line that fits now."""
        room = self.screen.size.width - BESIDE_HINTS
        if self._lines:
            self.show(
                left=next((line for line in self._lines if len(line) <= room), self._lines[-1])
            )


def _says_nothing(_width: int) -> str:
    return ""
