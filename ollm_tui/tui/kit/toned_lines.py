"""Lines with a tone: a diff, the arguments of a tool. Invisible characters are made visible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible
from ollm_tui.tui.stream.transcript.entry import Tone


class TonedLine(NamedTuple):
    """A line and its tone."""

    text: str
    tone: Tone = ""


_SIGNS: Mapping[str, Tone] = {"+": "added", "-": "gone"}
_PADDING = re.compile(r"(?<=\S)[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]{9,}")
"""Blanks within a line that could push the rest of it out of sight."""
MOST_EMPTY_LINES = 2
"""More empty lines in a row are replaced by their count."""


def exact_lines(text: str) -> Iterator[TonedLine]:
    """Yield the lines of a text with nothing hidden: long runs of blanks and empty lines are
    replaced by their count."""
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
    """Yield the lines of a unified diff, without the names of the file, which stand above it."""
    is_head = True
    for line in visible(diff).rstrip("\n").split("\n"):
        # Only above the first hunk: below, "--- " may be a removed line that begins with "-- ".
        is_head = is_head and not line.startswith("@@")
        if line.startswith("@@"):
            yield TonedLine(line, "quiet")
        elif not (is_head and line.startswith(("--- ", "+++ "))):
            yield TonedLine(line, _SIGNS.get(line[:1], ""))


def argument_lines(args: Mapping[str, Any], *, without_texts: bool = False) -> Iterator[TonedLine]:
    """Yield the arguments of a tool call; of an old and a new text, one is removed, one added.

    `without_texts` leaves out texts of several lines: a diff shows them already.
    """
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
    """Return the lines as one text, and pairs of an offset and the tone from there on."""
    texts: list[str] = []
    tones: list[tuple[int, Tone]] = []
    at = 0
    for line, tone in lines:
        if not tones or tones[-1][1] != tone:
            tones.append((at, tone))
        texts.append(line)
        at += len(line) + 1
    return "\n".join(texts), tuple(tones)
