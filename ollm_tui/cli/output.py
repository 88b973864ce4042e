"""Printing for people and for programs, and asking before something is gone."""

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
    """Any plain value as JSON, readable; what would steer a terminal is escaped."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False)
    print(UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text))


def print_table(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> None:
    """Rows in columns; the last column is cut at the edge of a terminal, never in a pipe."""
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
    """Columns of the terminal on stdout; 80 where there is none."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def short_time(moment: str, today: str = "") -> str:
    """A time of the record in the user's own zone; without the date if that is `today`."""
    try:
        if not moment.endswith("Z"):
            moment = clock.iso(clock.parse(moment))
        text = (datetime.fromisoformat(moment[:-1]) + _offset(moment[:13])).isoformat(" ")
    except (ValueError, OverflowError):
        return ""
    return text[11:16] if text[:10] == today else text[:16]


@cache
def _offset(hour: str) -> timedelta:
    """How far the user's zone is from UTC in an hour; asking for every single time is slow."""
    return clock.parse(f"{hour}:00Z").astimezone().utcoffset() or timedelta()


def today() -> str:
    """This day in the user's own zone, as `short_time` takes it."""
    return datetime.now().astimezone().isoformat()[:10]


def confirm(question: str) -> bool:
    """Ask on the terminal. UsageError where nobody is there to answer."""
    if not sys.stdin.isatty():
        raise UsageError(f"{question} nobody is here to say yes", "add --yes")
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(mark) in "WF" else 1 for mark in text)


def _padded(column: Sequence[str], to_the_right: bool) -> list[str]:
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
