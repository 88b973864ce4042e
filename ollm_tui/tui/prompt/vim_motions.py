"""The motions and text objects of vim, as places in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

PAIRS: Mapping[str, tuple[str, str]] = {
    **{mark: (mark, mark) for mark in "\"'`"},
    **{each: pair for pair in (("(", ")"), ("[", "]"), ("{", "}")) for each in pair},
}
"""What encloses a text object, by the key that names it."""


class Target(NamedTuple):
    """Where a motion leads."""

    place: int
    is_inclusive: bool = False
    """Whether an operator takes the character there, too."""
    is_linewise: bool = False
    """Whether an operator takes whole lines."""


def line_start(text: str, index: int) -> int:
    """Return where the line of a place begins."""
    return text.rfind("\n", 0, index) + 1


def line_end(text: str, index: int) -> int:
    """Return where the line of a place ends, before its line break."""
    found = text.find("\n", index)
    return len(text) if found < 0 else found


def first_word(text: str, index: int) -> int:
    """Return the first place in the line that is not blank."""
    start, end = line_start(text, index), line_end(text, index)
    line = text[start:end]
    return start + min(len(line) - len(line.lstrip()), max(len(line) - 1, 0))


def on_a_character(text: str, index: int) -> int:
    """Return a place where a cursor can stand that never stands behind the end of a line."""
    index = max(0, min(index, len(text)))
    is_behind = index == line_end(text, index) and index > line_start(text, index)
    return index - 1 if is_behind else index


def lines_away(text: str, index: int, count: int) -> int:
    """Return the same column so many lines below, or above for a negative count."""
    column, place = index - line_start(text, index), index
    for _ in range(abs(count)):
        edge = line_end(text, place) + 1 if count > 0 else line_start(text, place) - 1
        if not 0 <= edge <= len(text):
            break
        place = edge
    return min(line_start(text, place) + column, line_end(text, place))


def _kind(character: str, is_big: bool) -> int:
    if character.isspace():
        return 0
    return 1 if is_big or character.isalnum() or character == "_" else 2


def next_word(text: str, index: int, is_big: bool) -> int:
    """Return where the next word begins."""
    if index < len(text) and (kind := _kind(text[index], is_big)):
        while index < len(text) and _kind(text[index], is_big) == kind:
            index += 1
    while index < len(text) and text[index].isspace():
        index += 1
    return index


def word_end(text: str, index: int, is_big: bool) -> int:
    """Return the last character of this word, or of the next where this is the last one."""
    index += 1
    while index < len(text) and text[index].isspace():
        index += 1
    if index >= len(text):
        return max(len(text) - 1, 0)
    kind = _kind(text[index], is_big)
    while index + 1 < len(text) and _kind(text[index + 1], is_big) == kind:
        index += 1
    return index


def word_before(text: str, index: int, is_big: bool) -> int:
    """Return where this word begins, or the one before where this is its beginning."""
    while index > 0 and text[index - 1].isspace():
        index -= 1
    if index > 0:
        kind = _kind(text[index - 1], is_big)
        while index > 0 and _kind(text[index - 1], is_big) == kind:
            index -= 1
    return index


def found_character(text: str, index: int, how: str, wanted: str, count: int) -> Target | None:
    """Return the place of a character in the line, as f F t T do; None if it is not there."""
    start, end = line_start(text, index), line_end(text, index)
    places = [start + each.start() for each in re.finditer(re.escape(wanted), text[start:end])]
    if how in "ft":
        near = [place for place in places if place > index]
        if len(near) >= count:
            return Target(near[count - 1] - (how == "t"), is_inclusive=True)
    else:
        near = [place for place in reversed(places) if place < index]
        if len(near) >= count:
            return Target(near[count - 1] + (how == "T"))
    return None


def text_object(text: str, index: int, is_around: bool, name: str) -> tuple[int, int] | None:
    """Return the word at the cursor, or what quotes or brackets enclose; None if there is none."""
    if name in "wW":
        return _word_at(text, index, is_around, name == "W")
    if name not in PAIRS:
        return None
    opening, closing = PAIRS[name]
    start, end = line_start(text, index), line_end(text, index)
    for found in re.finditer(f"{re.escape(opening)}.*?{re.escape(closing)}", text[start:end]):
        if start + found.start() <= index < start + found.end():
            inside = 0 if is_around else 1
            return start + found.start() + inside, start + found.end() - inside
    return None


def _word_at(text: str, index: int, is_around: bool, is_big: bool) -> tuple[int, int] | None:
    if index >= len(text) or text[index] == "\n":
        return None
    kind, begin, end = _kind(text[index], is_big), index, index
    while begin > 0 and text[begin - 1] != "\n" and _kind(text[begin - 1], is_big) == kind:
        begin -= 1
    while end < len(text) and text[end] != "\n" and _kind(text[end], is_big) == kind:
        end += 1
    if is_around:
        after = end
        while after < len(text) and text[after] in " \t":
            after += 1
        if after == end:
            while begin > 0 and text[begin - 1] in " \t":
                begin -= 1
        end = after
    return begin, end
