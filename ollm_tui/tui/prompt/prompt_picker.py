"""Earlier prompts to choose from; Tab looks for the same words in everything ever said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual.binding import Binding

from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.picker import PickerOf

EMPTY = "No earlier prompts yet. What you send is kept here; Tab searches everything ever said."
KEYS = "Enter use   Up Down move   Tab everything ever said   Esc close"
ELSEWHERE = "In other projects"


class PromptPick(NamedTuple):
    """A prompt to use, or words to look for."""

    text: str
    is_search: bool = False


class PromptPicker(PickerOf[PromptPick]):
    """The prompts of this project, then those of others, the latest first."""

    BINDINGS = [
        Binding(
            "tab", "widen", "Everything", id="picker.widen", tooltip="Search everything ever said"
        ),
    ]

    def __init__(self, here: Sequence[str], elsewhere: Sequence[str], words: str = "") -> None:
        self._texts = (*here, *elsewhere)
        self._words = words
        lines = [
            Choice(str(number), " ".join(text.split()), words=text)
            for number, text in enumerate(self._texts)
        ]
        if elsewhere:
            lines.insert(len(here), Choice("", ELSEWHERE, heading=True))
        super().__init__("Earlier prompts", lines, empty=EMPTY, keys=KEYS)

    def on_mount(self) -> None:
        """Words that are known already narrow the list at once."""
        super().on_mount()
        self.query_one(LineInput).value = self._words

    def result(self, choice: Choice) -> PromptPick:
        """The prompt of a line."""
        return PromptPick(self._texts[int(choice.key)])

    def action_widen(self) -> None:
        """Look for the words in all that was said by anybody."""
        self.dismiss(PromptPick(self.query_one(LineInput).value, is_search=True))
