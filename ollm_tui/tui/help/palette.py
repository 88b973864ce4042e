"""The command palette: every command by what it does, with its keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import on
from textual.widgets import Input

from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker


class PaletteEntry(NamedTuple):
    """One command."""

    id: str
    title: str
    keys: str = ""
    """As they are shown: "Ctrl+P"."""
    description: str = ""
    slash: str = ""
    """What to type instead: "/theme"."""


class CommandPalette(Picker):
    """Gives the id of a command, or None."""

    def __init__(self, entries: Sequence[PaletteEntry]) -> None:
        descriptions = {entry.id: entry.description for entry in entries}
        super().__init__(
            "Commands",
            [_choice(entry) for entry in entries],
            keys="Enter run   Up Down move   Esc close",
            watcher=lambda choice: self.say(descriptions[choice.key] if choice else ""),
        )

    @on(Input.Changed)
    def begin_with_likely(self, event: Input.Changed) -> None:
        """Titles that begin with the words come first: those are likely meant."""
        words = event.value.casefold()
        found = sorted(
            self._choices, key=lambda choice: not choice.text.casefold().startswith(words)
        )
        self.show(found, found[0].key)


def _choice(entry: PaletteEntry) -> Choice:
    note = ", ".join(part for part in (entry.slash, entry.keys) if part)
    return Choice(entry.id, entry.title, note, words=entry.description)
