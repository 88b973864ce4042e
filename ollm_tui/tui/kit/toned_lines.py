"""Lines that say how they are meant: of a diff, of arguments. What is unseen is made visible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible
from ollm_tui.tui.stream.transcript.entry import Tone


class TonedLine(NamedTuple):
    """A line, and how it is meant where that is not as usual."""

    text: str
    tone: Tone = ""


_SIGNS: Mapping[str, Tone] = {"+": "added", "-": "gone"}
_PADDING = re.compile(r"(?<=\S)[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]{9,}")
"""Blanks that could push the rest of a line out of sight."""
MOST_EMPTY_LINES = 2


def exact_lines(text: str) -> Iterator[TonedLine]:
    """A text with nothing hidden in it: blanks and empty lines that only fill it are counted."""
    shown = _exact(text)
    for is_empty, group in groupby(shown.split("\n"), key=lambda line: not line.strip()):
        lines = list(group)
        if is_empty and len(lines) > MOST_EMPTY_LINES:
            yield TonedLine(f"⟨{counted(len(lines), 'empty line')}⟩", "stopped")
        else:
            yield from map(TonedLine, lines)


def _exact(text: str) -> str:
    return _PADDING.sub(lambda found: f"⟨{len(found[0])} blanks⟩", visible(text).rstrip("\n"))


def diff_lines(diff: str) -> Iterator[TonedLine]:
    """A unified diff: what comes, what goes, and quietly where that is. Of which file it is was
    said before."""
    is_head = True
    for line in visible(diff).rstrip("\n").split("\n"):
        is_head = is_head and not line.startswith("@@")
        if line.startswith("@@"):
            yield TonedLine(line, "quiet")
        elif not (is_head and line.startswith(("--- ", "+++ "))):
            yield TonedLine(line, _SIGNS.get(line[:1], ""))


def argument_lines(args: Mapping[str, Any], *, without_texts: bool = False) -> Iterator[TonedLine]:
    """What a tool is called with. Of two texts the older is shown as going, the newer as coming;
    a diff that says the same can stand for texts of several lines."""
    has_pair = {name[:3] for name in args} >= {"old", "new"}
    for name, value in args.items():
        text = f"{value}".rstrip("\n")
        sign = {"old": "-", "new": "+"}.get(name[:3], "") if has_pair else ""
        is_text = bool(sign) or "\n" in text
        if is_text and without_texts:
            continue
        if not is_text:
            yield TonedLine(f"{visible(name)}: {_exact(text)}")
            continue
        yield TonedLine(f"{visible(name)}:")
        for line, tone in exact_lines(text):
            yield TonedLine(f"{sign or ' '} {line}", tone or _SIGNS.get(sign, ""))


def joined(lines: Iterable[TonedLine]) -> tuple[str, tuple[tuple[int, Tone], ...]]:
    """The lines as one text, and from which character on it is meant how."""
    texts: list[str] = []
    tones: list[tuple[int, Tone]] = []
    at = 0
    for line, tone in lines:
        if not tones or tones[-1][1] != tone:
            tones.append((at, tone))
        texts.append(line)
        at += len(line) + 1
    return "\n".join(texts), tuple(tones)
