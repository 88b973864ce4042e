"""The process behind search_text: a pattern that takes for ever can be ended with it.

It reads one JSON value on stdin and writes one per line. It needs only the standard library.
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
"""In bytes of address space."""
MOST_SECONDS = 120
"""CPU time, for the case that the parent is gone and cannot end the search."""
SHOWN_CHARACTERS = 200
"""How much of a long line is shown."""
BEFORE_CHARACTERS = 60
"""How much of that stands before the match."""


def main() -> None:
    """Answer the question on stdin."""
    _bound(resource.RLIMIT_AS, MOST_MEMORY)
    _bound(resource.RLIMIT_CPU, MOST_SECONDS)
    question = json.load(sys.stdin.buffer)
    for answer in answers(question):
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()  # what is found until the search is ended has to arrive


def _bound(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    try:
        resource.setrlimit(what, (most if hard < 0 else min(most, hard), hard))
    except (OSError, ValueError):
        pass  # not every system can bound everything


def answers(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each match as it is found, and at the end how many files were searched."""
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
    """Compile a pattern; also return whether it is no expression and taken as plain text."""
    try:
        return re.compile(pattern), False
    except (re.error, OverflowError, RecursionError):
        return re.compile(re.escape(pattern)), True


def _lines(files: Beneath, path: str) -> list[str] | None:
    """Return the lines of a text file; None if it is missing, too large or binary."""
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
