"""Variables that commands do not get: seen by name, never by value, and granted one by one."""

from __future__ import annotations

from collections.abc import Sequence

from ollm_tui.core.intake import visible
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import PickerOf

EMPTY = "Nothing is withheld: commands get every variable there is."
KEYS = "Enter grant it to this session   Up Down move   Esc close"
GRANTED = "granted"


class EnvironmentPicker(PickerOf[str]):
    """Gives the name of a variable to be granted, or None."""

    def __init__(self, withheld: Sequence[str], granted: Sequence[str]) -> None:
        choices = [
            *(Choice(name, visible(name), GRANTED, "✓") for name in granted),
            *(Choice(name, visible(name), "withheld") for name in withheld),
        ]
        super().__init__("Variables that commands do not get", choices, empty=EMPTY, keys=KEYS)

    def result(self, choice: Choice) -> str | None:
        """The name, if it is not granted already."""
        return None if choice.note == GRANTED else choice.key
