"""The search itself, in a process of its own: a pattern that never ends is ended with it.

Only the standard library is needed. One JSON value comes in on stdin, one goes out per line.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ollm_tui.storage.files.beneath import Beneath

LARGEST_FILE = 5_000_000
MOST_MEMORY = 2 * 1024**3
MOST_SECONDS = 120
"""Should nobody be there any more to end it."""
SHOWN_CHARACTERS = 200
BEFORE_CHARACTERS = 60
"""Shown of a long line before what was found in it."""


def main() -> None:
    """Answer the one question on stdin."""
    _bound(resource.RLIMIT_AS, MOST_MEMORY)
    _bound(resource.RLIMIT_CPU, MOST_SECONDS)
    question = json.load(sys.stdin.buffer)
    for answer in answers(question):
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _bound(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    try:
        resource.setrlimit(what, (most if hard < 0 else min(most, hard), hard))
    except (OSError, ValueError):
        pass  # not every system can bound everything


def answers(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What was found, as it is found; at last how many files there were."""
    pattern, is_plain = _compiled(question["pattern"])
    left = question["limit"]
    count = 0
    for root, path, name in question["files"]:
        lines = _lines(Beneath(Path(root)), path)
        if lines is None:
            continue
        count += 1
        for number, text in _found(pattern, lines):
            if not left:
                yield {"is_cut": True, "is_plain": is_plain, "files": count}
                return
            left -= 1
            yield {"name": name, "line": number, "text": text}
    yield {"is_cut": False, "is_plain": is_plain, "files": count}


def _compiled(pattern: str) -> tuple[re.Pattern[str], bool]:
    """The pattern, and whether it is searched as it is because it is no expression."""
    try:
        return re.compile(pattern), False
    except (re.error, OverflowError, RecursionError):
        return re.compile(re.escape(pattern)), True


def _lines(files: Beneath, path: str) -> list[str] | None:
    """The lines of a text; None for whatever else there may be."""
    try:
        found = files.read(path, LARGEST_FILE)
    except (OSError, ValueError):
        return None
    if found is None or found.data is None or b"\0" in found.data:
        return None
    return found.data.decode("utf-8", "replace").split("\n")


def _found(pattern: re.Pattern[str], lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        if match := pattern.search(line):
            start = max(match.start() - BEFORE_CHARACTERS, 0)
            start = 0 if len(line) <= SHOWN_CHARACTERS else start
            yield number, line[start : start + SHOWN_CHARACTERS]


if __name__ == "__main__":
    main()
