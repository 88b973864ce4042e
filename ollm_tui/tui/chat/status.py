"""The lines of state: what the session is on top; what goes on, and which keys matter, below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

NARROW = 80
"""Below so many columns the sidebar takes the place of the stream."""
BESIDE_HINTS = len("  NOT SAVED") + 4
RIGHT_SHARE, AROUND, BEFORE = 0.6, 2, 2
"""What the right text may take of a line, and the columns beside the line and before that text."""
GAP = "   "


class TwoTexts(Horizontal):
    """One line, one text on the left and one on the right, which keeps its room.

    Foreign names are shown as plain text: no markup parser sees them.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._left = Static("", classes="left", markup=False)
        self._right = Static("", classes="right", markup=False)
        self._shown = ("", "")

    def compose(self) -> ComposeResult:
        """Two texts, pushed apart."""
        yield self._left
        yield self._right

    def show(self, *, left: str | None = None, right: str | None = None) -> None:
        """Change one of the texts, or both. Only another length on the right moves anything."""
        before = self._shown
        self._shown = (before[0] if left is None else left, before[1] if right is None else right)
        if self._shown[0] != before[0]:
            self._left.update(Content(self._shown[0]), layout=False)
        if self._shown[1] != before[1]:
            self._right.update(Content(self._shown[1]))


class TitleLine(TwoTexts):
    """The title of the session, who answers, and how freely."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._who = ""
        self._how_freely: Callable[[int], str] = _says_nothing

    def show_names(
        self, title: str, who: str, how_freely: Callable[[int], str] | None = None
    ) -> None:
        """Show them; how freely depends on the width of the terminal, now and later."""
        self._who, self._how_freely = who, how_freely or _says_nothing
        self.show(left=title)
        self.on_resize()

    def on_resize(self) -> None:
        """Names give way where there is little room: brakes that are missing are always seen."""
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
    """What is going on or which keys matter now, and whether all is saved."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._lines: Sequence[str] = ()

    def show_fitting(self, lines: Sequence[str]) -> None:
        """Show the first of some lines that there is room for, however wide it becomes."""
        self._lines = lines
        self.on_resize()

    def on_resize(self) -> None:
        """Another line may fit now."""
        room = self.screen.size.width - BESIDE_HINTS
        if self._lines:
            self.show(
                left=next((line for line in self._lines if len(line) <= room), self._lines[-1])
            )


def _says_nothing(_width: int) -> str:
    return ""
