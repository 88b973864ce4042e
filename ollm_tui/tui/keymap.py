"""Names of keys, hints with the keys as the user has mapped them, and checks of `keymap:`."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Mapping

from textual.keys import Keys

from ollm_tui.tui.commands import BY_ID, TABS

_NAMES: Mapping[str, str] = {
    "escape": "Esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "underscore": "_",
    "question_mark": "?",
    "slash": "/",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "delete": "Del",
    "backspace": "Backspace",
}


def key_name(key: str) -> str:
    """Return a key as it is shown: "Ctrl+P", "Esc"."""
    *modifiers, last = key.strip().split("+")
    if len(last) == 1:
        name = last.upper() if modifiers else last
    else:
        name = _NAMES.get(last, last.capitalize())
    return "+".join([*(modifier.capitalize() for modifier in modifiers), name])


def key_names(keys: str) -> list[str]:
    """Return the names of several keys, given separated by commas."""
    return [key_name(key) for key in keys.split(",") if key.strip()]


class Hints:
    """Short lines that say which keys matter, with the keys as the user has mapped them."""

    def __init__(self, keymap: Mapping[str, str]) -> None:
        self._keymap = keymap

    def keys(self, command_id: str) -> list[str]:
        """Return the names of all keys of a command."""
        return key_names(self._keymap.get(command_id) or BY_ID[command_id].keys)

    def key(self, command_id: str) -> str:
        """Return one key of a command, a function key if there is one: it is short and types
        nothing; empty if it has no key."""
        keys = self.keys(command_id)
        functions = (key for key in keys if key[0] == "F" and key[1:].isdigit())
        return next(functions, next(iter(keys), ""))

    def tab(self, number: int) -> str:
        """Return the key that leads to an open conversation, or the command for one without."""
        if number > len(TABS):
            return f"/tab {number}"
        return key_names(self._keymap.get(f"tabs.{number}") or f"alt+{number}")[0]

    def line(self, *commands: tuple[str, str]) -> str:
        """Return hints for ids of commands, with a word for each: "Esc stop   Ctrl+P commands"."""
        return "   ".join(f"{self.keys(command)[0]} {word}" for command, word in commands)


# Ids of widgets are known by the word before their dot: loading every dialog only to check
# a name would cost each start more than a wrong name does.
_WIDGETS = frozenset(
    [
        "prompt",
        "compare",
        "answer_diff",
        "beside",
        "choices",
        "sessions",
        "tabs",
        "picker",
        "question",
        "confirmation",
        "find",
        "help",
        "settings",
        "breakdown",
        "promptview",
        "compression",
        "preview",
        "checkpoints",
        "diff",
        "joblist",
        "joboutput",
        "approval",
        "loop",
        "toolpage",
        "hits",
        "activity",
    ]
)


def check_keymap(keymap: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the entries of a keymap that can be used, and one line on each problem."""
    good: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in keymap.items():
        known = name in BY_ID or name.partition(".")[0] in _WIDGETS
        if known and (wrong := _wrong_key(name, keys)):
            problems.append(f"keymap: {name}: {wrong}")
        elif known:
            good[name] = keys
        else:
            problems.append(f"keymap: no command {name!r}; {_advice(name)}")
    return good, problems + _shared_keys(good)


def _wrong_key(name: str, keys: str) -> str:
    """Return what is wrong with the keys of a command, or an empty text."""
    is_anywhere = name in BY_ID and BY_ID[name].where == "anywhere"
    for key in keys.replace(" ", "").split(","):
        *modifiers, last = key.split("+")
        if not _is_key(last) or not set(modifiers) <= {"ctrl", "alt", "shift", "super"}:
            return f"no key {key!r}; examples: ctrl+k, f8, alt+up"
        if is_anywhere and not modifiers and len(last) == 1:
            return f"{key!r} is needed for typing; add ctrl or alt"
    return ""


def _is_key(name: str) -> bool:
    if len(name) == 1 or name in {key.value.rpartition("+")[2] for key in Keys}:
        return True
    # Textual names other characters after Unicode: "question_mark".
    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return False
    return True


def _advice(name: str) -> str:
    near = difflib.get_close_matches(name, BY_ID, 1)
    return f"did you mean {near[0]}?" if near else "F1 lists all"


def _shared_keys(keymap: Mapping[str, str]) -> list[str]:
    """Return a line on each key that the user's keymap gives to two commands in one place."""
    owners: dict[tuple[str, str], str] = {}
    problems: list[str] = []
    for command in BY_ID.values():
        for key in (keymap.get(command.id) or command.keys).replace(" ", "").split(","):
            other = owners.setdefault((command.where, key), command.id)
            # Only what the user has mapped is reported, not what the defaults share.
            if key and other != command.id and (command.id in keymap or other in keymap):
                problems.append(f"keymap: {key} is bound to both {other} and {command.id}")
    return problems
