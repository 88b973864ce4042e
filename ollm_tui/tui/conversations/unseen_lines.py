"""The lines of state of a conversation that is not shown: what is said there, nobody sees."""

from __future__ import annotations

from ollm_tui.tui.keymap import Hints


class UnseenLines:
    """Takes what would be shown and drops it; when the conversation is shown again, the lines are
    made from its state."""

    def __init__(self, hints: Hints) -> None:
        self.hints = hints
        self.unsaved = ""

    def show_doing(self, doing: str) -> None:
        """Drop what the model is doing."""

    def show_state(self, *, keeps_notice: bool = False) -> None:
        """Drop what goes on."""

    def show_facts(self) -> None:
        """Drop title, model and gauge."""

    def show_names(self) -> None:
        """Drop title and model."""

    def show_saving(self) -> None:
        """Drop whether everything is saved."""
