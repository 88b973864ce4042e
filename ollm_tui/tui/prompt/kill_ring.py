"""A text area that remembers what keys cut out of it, and pastes it again as shells do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from textual.binding import Binding

from ollm_tui.tui.prompt.chip_area import ChipArea

MOST_KILLED = 20
"""Pieces that are remembered."""


def _key(keys: str, action: str, title: str, tooltip: str) -> Binding:
    return Binding(keys, action, title, id=f"prompt.{action}", tooltip=tooltip, show=False)


class KillingArea(ChipArea):
    """Ctrl+K, Ctrl+U, Ctrl+W and Alt+D cut; Ctrl+Y pastes it, Alt+Y what was cut before that."""

    BINDINGS = [
        _key("ctrl+k", "kill_right", "Cut to the end", "Cut to the end of the line"),
        _key(
            "ctrl+u,super+backspace",
            "kill_left",
            "Cut to the start",
            "Cut to the start of the line",
        ),
        _key(
            "ctrl+w,ctrl+backspace,alt+backspace",
            "kill_word",
            "Cut word left",
            "Cut the previous word",
        ),
        _key("alt+d,alt+delete", "kill_next_word", "Cut word right", "Cut the next word"),
        _key("ctrl+y", "yank", "Paste cut text", "Paste the last cut"),
        _key(
            "alt+y", "yank_before", "Paste earlier cut", "After Ctrl+Y: cycle through earlier cuts"
        ),
        _key("alt+f", "cursor_word_right", "Word right", "Move one word right"),
        _key("alt+underscore", "redo", "Redo", "Redo the last change"),
    ]

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder)
        self._killed: deque[str] = deque(maxlen=MOST_KILLED)
        self._after_kill = ""
        """The text as the last cut left it: the next one is joined to it."""
        self._yanked = 0
        """Characters that were pasted by the last key; 0 if it pasted none."""

    def action_kill_right(self) -> None:
        """Cut to the end of the line; there, cut the end of the line itself."""
        is_at_end = self.cursor_at_end_of_line
        self._kill(self.action_delete_right if is_at_end else self.action_delete_to_end_of_line)

    def action_kill_left(self) -> None:
        """Cut to the beginning of the line."""
        self._kill(self.action_delete_to_start_of_line)

    def action_kill_word(self) -> None:
        """Cut the word before the cursor."""
        self._kill(self.action_delete_word_left)

    def action_kill_next_word(self) -> None:
        """Cut the word after the cursor."""
        self._kill(self.action_delete_word_right)

    def action_yank(self) -> None:
        """Paste what was cut last."""
        if self._killed:
            self._put(self._killed[-1], 0)

    def action_yank_before(self) -> None:
        """Replace what was just pasted by what was cut before it."""
        end = self._index
        if len(self._killed) > 1 and self._yanked and self._yanked <= end:
            self._killed.rotate(1)
            self._put(self._killed[-1], self._yanked)

    @property
    def _index(self) -> int:
        """The place of the cursor in the whole text."""
        row, column = self.cursor_location
        lines = self.text.split("\n")
        return sum(len(line) + 1 for line in lines[:row]) + column

    def _kill(self, delete: Callable[[], None]) -> None:
        before, cursor = self.text, self._index
        delete()
        start, count = self._index, len(before) - len(self.text)
        if count <= 0:
            return
        piece = before[start : start + count]
        if self._killed and before == self._after_kill:
            last = self._killed.pop()
            piece = last + piece if start == cursor else piece + last
        self._killed.append(piece)
        self._after_kill = self.text

    def _put(self, piece: str, instead_of: int) -> None:
        row, column = self.cursor_location
        end = self._index
        start = self._location(end - instead_of) if instead_of else (row, column)
        self.replace(piece, start, (row, column), maintain_selection_offset=False)
        self._yanked = self._index - (end - instead_of)
        self._after_kill = ""

    def _location(self, index: int) -> tuple[int, int]:
        before = self.text[:index]
        return before.count("\n"), index - (before.rfind("\n") + 1)
