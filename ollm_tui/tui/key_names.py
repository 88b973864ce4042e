"""Keys as people write them: Ctrl+P for ctrl+p, ? for question_mark."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.tui.commands import BY_ID

_NAMES: Mapping[str, str] = {
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "question_mark": "?",
    "slash": "/",
    "delete": "Del",
    "backspace": "Backspace",
}


def key_name(key: str) -> str:
    """One key for the eye."""
    *modifiers, last = key.strip().split("+")
    if len(last) == 1:
        name = last.upper() if modifiers else last
    else:
        name = _NAMES.get(last, last.capitalize())
    return "+".join([*(modifier.capitalize() for modifier in modifiers), name])


def key_names(keys: str) -> list[str]:
    """Several keys, separated by commas."""
    return [key_name(key) for key in keys.split(",") if key.strip()]


class Hints:
    """Short lines that say which keys matter, with the keys as the user has mapped them."""

    def __init__(self, keymap: Mapping[str, str]) -> None:
        self._keymap = keymap

    def keys(self, command_id: str) -> list[str]:
        """All keys of a command."""
        return key_names(self._keymap.get(command_id) or BY_ID[command_id].keys)

    def line(self, *wanted: tuple[str, str]) -> str:
        """Commands and a word for each: "Esc stop   Ctrl+P commands"."""
        return "   ".join(f"{self.keys(command)[0]} {word}" for command, word in wanted)
