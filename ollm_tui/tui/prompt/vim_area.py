"""A text area that can be edited with the keys of vim, where the settings say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.message import Message
from textual.widgets.text_area import Selection

from ollm_tui.tui.prompt.kill_ring import KillingArea
from ollm_tui.tui.prompt.vim_keys import Mode, Step, VimKeys

NAMED = {"backspace": "h", "delete": "x"}
"""Keys that are a command under another name."""
BEGINS_TEXT = "/!@"
"""Characters that begin a command or a name on an empty prompt, in the normal mode as well."""


class VimArea(KillingArea):
    """With `uses_vim` Esc leads to the normal mode; `vim_mode` is None without it."""

    uses_vim = False

    @dataclass
    class BeyondLines(Message):
        """j was pressed on the last line, or k on the first."""

        way: Literal["earlier", "later"]

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder)
        self._vim = VimKeys()
        self._selected = (Selection(), 0)
        """The selection of a visual mode, and the character its cursor is on: a selection ends
        behind the last character, a cursor of vim stands on it."""

    @property
    def vim_mode(self) -> Mode | None:
        """The mode of vim; None where its keys are not used."""
        return self._vim.mode if self.uses_vim else None

    def use_vim(self, uses_vim: bool) -> None:
        """Use the keys of vim from now on, or no longer."""
        self.insert_mode()
        self.uses_vim = uses_vim

    def insert_mode(self) -> None:
        """Go back to the insert mode, as a new text begins in it."""
        if self.vim_mode not in (None, "insert"):
            self._vim.mode, self._vim.pending = "insert", ""
            self._show_mode()

    def take_vim_key(self, event: events.Key) -> bool:
        """Do what a key means in vim; returns whether the key is used up."""
        if not self.uses_vim:
            return False
        selection, at = self._selected
        cursor = at if self._vim.is_visual and self.selection == selection else self._index
        before, text = self._vim.mode, self.text
        if event.key == "escape":
            if before == "normal" and not self._vim.pending:
                return False
            self._apply(self._vim.leave(text, cursor), before)
            return bool(text)  # with nothing written, Esc also stops the answer
        if before == "insert":
            return False
        key = NAMED.get(event.key) or (event.character if event.is_printable else "") or ""
        if event.key == "ctrl+r":
            self._apply(Step(cursor, action="redo"), before)
        elif not key or (not text and key == "?"):
            return False
        elif not text and key in BEGINS_TEXT:
            self.insert_mode()
            return False
        else:
            self._apply(self._vim.press(key, text, cursor), before)
        return True

    def _apply(self, step: Step, before: Mode) -> None:
        if step.change or self._vim.mode != before:
            self.history.checkpoint()
        if change := step.change:
            start, end = self._location(change.start), self._location(change.end)
            self.replace(change.text, start, end, maintain_selection_offset=False)
        match step.action:
            case "undo":
                self.undo()
            case "redo":
                self.redo()
            case "earlier" | "later":
                self.post_message(self.BeyondLines(step.action))
            case _:
                self._place(step.cursor)
        if self._vim.mode != before:
            self._show_mode()

    def _place(self, cursor: int) -> None:
        if self._vim.is_visual:
            start, end = self._vim.selected(self.text, cursor)
            # The cursor is at the end that moves.
            ends = (start, end) if cursor >= self._vim.anchor else (end, start)
            self.selection = Selection(*map(self._location, ends))
            self._selected = (self.selection, cursor)
        else:
            self.move_cursor(self._location(cursor))

    def _show_mode(self) -> None:
        self.border_subtitle = "" if self._vim.mode == "insert" else self._vim.mode.upper()
