"""Printing tables, times and JSON, and asking before something is deleted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from unicodedata import east_asian_width

from ollm_tui.core import clock
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import UNSAFE


def print_json(value: Any) -> None:
    """Print a value as indented JSON; characters that a terminal would act on are escaped."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False)
    print(UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text))


def print_table(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> None:
    """Print rows in columns, those in `right` flush right. Lines are cut at the edge of a terminal,
    never in a pipe."""
    if not rows:
        return
    columns = list(zip(*rows, strict=True))
    padded = [_padded(column, at in right) for at, column in enumerate(columns[:-1])]
    lines = [line.rstrip() for line in map("  ".join, zip(*padded, columns[-1], strict=True))]
    if sys.stdout.isatty():
        edge = terminal_width()
        lines = [_cut(line, edge) for line in lines]
    print("\n".join(lines))


def terminal_width() -> int:
    """Return the width of the terminal on stdout in columns; 80 if there is none."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def short_time(moment: str, today: str = "") -> str:
    """Return a stored time in the user's time zone, without the date if that is `today`; empty if
    it is no time."""
    try:
        if not moment.endswith("Z"):
            moment = clock.iso(clock.parse(moment))
        text = (datetime.fromisoformat(moment[:-1]) + _offset(moment[:13])).isoformat(" ")
    except (ValueError, OverflowError):
        return ""
    return text[11:16] if text[:10] == today else text[:16]


@cache
def _offset(hour: str) -> timedelta:
    """Return the user's offset from UTC in an hour; to ask for every single time would be slow."""
    return clock.parse(f"{hour}:00Z").astimezone().utcoffset() or timedelta()


def today() -> str:
    """Return the date in the user's time zone, as `short_time` takes it."""
    return datetime.now().astimezone().isoformat()[:10]


def confirm(question: str) -> bool:
    """Ask on the terminal and return whether the answer is yes. UsageError without a terminal."""
    if not sys.stdin.isatty():
        raise UsageError(f"{question} no terminal to confirm", "add --yes")
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _width(text: str) -> int:
    """Return the columns a text takes; East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(mark) in "WF" else 1 for mark in text)


def _padded(column: Sequence[str], to_the_right: bool) -> list[str]:
    # The usual case, and much faster than measuring every character.
    if "".join(column).isascii():
        width = max(map(len, column))
        return [cell.rjust(width) if to_the_right else cell.ljust(width) for cell in column]
    width = max(map(_width, column))
    if to_the_right:
        return [" " * (width - _width(cell)) + cell for cell in column]
    return [cell + " " * (width - _width(cell)) for cell in column]


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    used, kept = 1, ""
    for mark in text:
        used += _width(mark)
        if used > width:
            break
        kept += mark
    return kept + "…"
