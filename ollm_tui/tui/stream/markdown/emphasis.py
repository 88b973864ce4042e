"""Which runs of `*`, `_` and `~~` belong together, after the rules of CommonMark."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from ollm_tui.tui.stream.markdown.styled_text import Piece
from ollm_tui.tui.stream.markdown.styles import EMPHASIS, STRIKE, STRONG

REACH = 1000
"""How many characters what opens and what closes may be apart: it bounds what is read again."""


class Delimiter(Piece):
    """A run of marks that may open or close emphasis; what is not used is shown."""

    __slots__ = ("closes", "index", "length", "mark", "opens")

    def __init__(self, raw: str, at: int, end: int, before: str, index: int) -> None:
        super().__init__(raw[at:end], at)
        self.mark = raw[at]
        self.length = end - at
        self.index = index
        before = raw[at - 1] if at else before
        after = raw[end] if end < len(raw) else " "
        left = _flanks(before, after)
        right = _flanks(after, before)
        if self.mark == "_":
            self.opens = left and (not right or _is_punctuation(before))
            self.closes = right and (not left or _is_punctuation(after))
        else:
            self.opens, self.closes = left, right


def match_emphasis(
    pieces: Sequence[Piece], delimiters: Sequence[Delimiter], spans: list[tuple[int, int]]
) -> list[Delimiter]:
    """Give matched text its look; returns what is still open, notes what was matched in spans."""
    opened: list[Delimiter] = []
    for closer in delimiters:
        while closer.closes and closer.text:
            place = _opener(opened, closer)
            if place is None:
                break
            opener = opened[place]
            del opened[place + 1 :]
            _join(pieces, opener, closer)
            spans.append((opener.at, closer.at + closer.length))
            if not opener.text:
                opened.pop()
        if closer.opens and closer.text:
            opened.append(closer)
    return opened


def _opener(opened: Sequence[Delimiter], closer: Delimiter) -> int | None:
    for place in range(len(opened) - 1, -1, -1):
        opener = opened[place]
        if closer.at - opener.at > REACH:
            return None
        if opener.mark == closer.mark and not _is_odd_match(opener, closer):
            return place
    return None


def _is_odd_match(opener: Delimiter, closer: Delimiter) -> bool:
    """The rule of three: `**a*b**` is strong, not emphasis of something smaller."""
    if opener.mark == "~" or not (opener.closes or closer.opens):
        return False
    both = opener.length + closer.length
    return both % 3 == 0 and bool(opener.length % 3 or closer.length % 3)


def _join(pieces: Sequence[Piece], opener: Delimiter, closer: Delimiter) -> None:
    used = 2 if len(opener.text) > 1 and len(closer.text) > 1 else 1
    look = STRIKE if opener.mark == "~" else STRONG if used == 2 else EMPHASIS
    for piece in pieces[opener.index + 1 : closer.index]:
        piece.look |= look
    opener.text = opener.text[used:]
    closer.text = closer.text[used:]


def _flanks(before: str, after: str) -> bool:
    """Whether marks between the two lean on the text after them."""
    if not after or after.isspace():
        return False
    if not _is_punctuation(after):
        return True
    return not before or before.isspace() or _is_punctuation(before)


def _is_punctuation(character: str) -> bool:
    if character.isalnum() or not character or character == " ":
        return False
    return unicodedata.category(character)[0] in "PS"
