"""What somebody may have meant by a key that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ollm_tui.settings.keys import KeyPath, fixed_keys, names_below
from ollm_tui.settings.warning import dotted, holds_secret

PREFIX = "OLLM_"
"""How the environment variables of settings begin."""


def unknown_key(path: KeyPath) -> str:
    """The problem with an unknown key, naming the nearest known one."""
    group, name = path[:-1], path[-1]
    if group[:1] == ("providers",) and holds_secret((name,)):
        return "keys are not kept in this file; use keyEnv, keyring or keyCommand"
    near = nearest(name, names_below(group))
    if near is not None:
        return _unknown(dotted((*group, near)))
    elsewhere = {key[-1]: key for key in fixed_keys()}
    near = nearest(name, elsewhere, likeness=0.8)
    return _unknown(None if near is None else dotted(elsewhere[near]))


def unknown_variable(name: str, known: Iterable[str]) -> str:
    """The problem with an unknown environment variable, naming the nearest known one."""
    # Without the prefix, which would make all of them alike.
    near = nearest(name.removeprefix(PREFIX), (one.removeprefix(PREFIX) for one in known))
    return _unknown(None if near is None else PREFIX + near)


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name most like this one, if any is much like it."""

    by_lower = {one.lower(): one for one in known}
    word = name[:100].lower()
    found = difflib.get_close_matches(word, by_lower, n=3, cutoff=likeness)
    # Swapped letters are the commonest slip, and difflib does not rank them first.
    found.sort(key=lambda one: sorted(one) != sorted(word))
    return by_lower[found[0]] if found else None


def _unknown(near: str | None) -> str:
    return "unknown key" + (f"; did you mean {near}?" if near else "; it is ignored")
