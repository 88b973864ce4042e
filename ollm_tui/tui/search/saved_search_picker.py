"""The picker of saved searches: take one, keep the present one, or delete one."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding

from ollm_tui.services.sessions.saved_lines import SavedLines
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import PickerOf
from ollm_tui.tui.search.words import NO_SAVED_SEARCHES, SAVED_SEARCH_KEYS

_KEEP = "\0"
"""The key of the line that keeps the present search; no search has this text."""


class SavedSearchPicker(PickerOf[str]):
    """Dismisses with the words of the search that was taken or kept."""

    BINDINGS = [
        Binding(
            "ctrl+d",
            "forget",
            "Delete",
            id="hits.forget",
            tooltip="Delete this search",
            priority=True,
        ),
    ]

    def __init__(self, searches: SavedLines, present: str) -> None:
        self._searches = searches
        self._present = " ".join(present.split())
        super().__init__(
            "Saved searches", self._lines(), empty=NO_SAVED_SEARCHES, keys=SAVED_SEARCH_KEYS
        )

    def result(self, choice: Choice) -> str:
        """Return the words of a line; the present ones are kept first."""
        if choice.key == _KEEP:
            self._searches.keep(self._present)
            return self._present
        return choice.key

    def action_forget(self) -> None:
        """Keep the highlighted search no longer."""
        chosen = self.choice_list.highlighted
        if chosen and chosen.key != _KEEP:
            self._searches.forget(chosen.key)
            self.show(self._lines())

    def _lines(self) -> Sequence[Choice]:
        saved = self._searches.all()
        lines = [Choice(text, text) for text in saved]
        if self._present and self._present not in saved:
            lines.insert(0, Choice(_KEEP, f"Save: {self._present}", "new", mark="+"))
        return lines
