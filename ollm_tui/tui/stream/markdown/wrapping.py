"""Where lines of text break: at spaces, beside wide characters, and within words too long."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len, split_graphemes

_NARROW = re.compile(
    "[ -~\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u25fc]*"
)
"""Characters of one cell each, always: most text is made of them and needs no measuring."""

_NOT_AT_START = frozenset("、。，．！？）】」』〉》：；,.!?):;]}")
"""What does not begin a line, even after a wide character."""


def cells(text: str) -> int:
    """Return how many cells a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def line_spans(text: str, start: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield first and last offset of each line from `start` on; a newline always breaks.

    A line depends on no text beyond the first word that does not fit on it, so that
    adding text can change the last line and the one before it, and no other.
    """
    end = len(text)
    while start < end:
        stop, following = _line(text, start, width)
        yield start, stop
        start = following
    if text.endswith("\n"):
        yield end, end


def chopped(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield spans of at most `width` cells that leave nothing out, not even spaces: for code."""
    start = 0
    while start < len(text):
        if _is_narrow(text, start, start + width + 1):
            stop = min(start + width, len(text))
        else:
            stop = _fitting(text, start, width)[0]
        yield start, stop
        start = stop


def _line(text: str, start: int, width: int) -> tuple[int, int]:
    """Return where the line that begins at `start` ends, and where the next one begins."""
    newline = text.find("\n", start, start + width + 1)
    if newline >= 0 and _is_narrow(text, start, newline):
        return newline, newline + 1
    if _is_narrow(text, start, start + width + 1):
        stop, wide_break = min(start + width, len(text)), -1
    else:
        stop, wide_break = _fitting(text, start, width)
        newline = text.find("\n", start, stop + 1)
        if newline >= 0:
            return newline, newline + 1
    if stop == len(text):
        return stop, stop
    # A space right behind the last cell counts too: the line is full then.
    space = text.rfind(" ", start, stop + 1)
    if wide_break > space:
        return wide_break, wide_break
    # A word that is longer than a line is broken where the line is full.
    if space < 0 or not text[start:space].strip(" "):
        return stop, stop
    return _trimmed(text, start, space), _after_spaces(text, space)


def _trimmed(text: str, start: int, stop: int) -> int:
    while stop > start and text[stop - 1] == " ":
        stop -= 1
    return stop


def _after_spaces(text: str, at: int) -> int:
    while at < len(text) and text[at] == " ":
        at += 1
    return at


def _is_narrow(text: str, start: int, stop: int) -> bool:
    part = text[start:stop]
    return part.isascii() or _NARROW.fullmatch(part) is not None


def _fitting(text: str, start: int, width: int) -> tuple[int, int]:
    """Return how far `width` cells reach, and the last break beside a wide character, or -1."""
    # A grapheme may have several code points, so more characters than cells are looked at.
    reach = 2 * width + 8
    while True:
        window = text[start : start + reach]
        found = _fitting_window(window, width, whole=start + reach >= len(text))
        if found:
            stop, wide_break = found
            return start + stop, start + wide_break if wide_break > 0 else -1
        reach *= 2


def _fitting_window(window: str, width: int, whole: bool) -> tuple[int, int] | None:
    used, wide_break, after_wide = 0, 0, False
    for first, last, size in split_graphemes(window)[0]:
        # The last grapheme of a cut window may go on behind the cut.
        if last == len(window) and not whole:
            return None
        if first and (after_wide or size > 1) and window[first] not in _NOT_AT_START:
            wide_break = first
        if used + size > width:
            # A line takes at least one grapheme, even one wider than the room.
            return first or last, wide_break
        used += size
        after_wide = size > 1
    return (len(window), wide_break) if whole else None
