"""Reads the text of a paragraph: emphasis, code, links, escapes; and how far it is settled.

Settled text is read once: nothing that may still come can change how it is shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from ollm_tui.tui.stream.markdown.styled_text import Piece
from ollm_tui.tui.stream.markdown.styles import CODE, EMPHASIS, LINK, PLAIN, STRIKE, STRONG, TARGET
from ollm_tui.tui.stream.markdown.syntax import (
    AUTOLINK,
    BARE_ADDRESS,
    LINE_BREAK_TAG,
    LINK_TAIL,
    REFERENCE,
    TAG,
    character_reference,
    is_web_address,
    without_trailing_marks,
    written_target,
)

REACH = 1000
"""The most characters between what opens and what closes: they bound what is read again."""
_SPECIAL = re.compile(r"\\|`+|\*+|_+|~~+|\[|!\[|\]|<|&|\n|https?://")
_ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_TICKS = re.compile("`+")
_MARGIN = 40
"""Longer than any reference, scheme or mark that may be cut off at the end of the text."""


class InlineReader:
    """One reading of raw inline text; `before` is the character in front of it."""

    def __init__(self, raw: str, before: str = "") -> None:
        self.pieces: list[Piece] = []
        self._raw = raw
        self._before = before
        self._delimiters: list[Delimiter] = []
        self._brackets: list[_Bracket] = []
        self._spans: list[tuple[int, int]] = []
        self._doubtful: list[int] = []
        """Where something began that is text so far, but may become more."""
        self._read()
        opened = match_emphasis(self.pieces, self._delimiters, self._spans)
        self._doubtful += [delimiter.at for delimiter in opened]
        self._doubtful += [bracket.at for bracket in self._brackets if bracket.is_active]

    def settled(self) -> int:
        """Return the raw offset before which nothing can change any more."""
        raw = self._raw
        oldest = len(raw) - REACH - _MARGIN
        # What began before that can no longer be closed: it stays text.
        at = min((at for at in self._doubtful if at >= oldest), default=len(raw))
        # Blanks or a backslash before a line end would make it a hard break.
        at = len(raw[: max(min(at, len(raw) - _MARGIN), 0)].rstrip(" \t\n\\"))
        # The later text is read on its own, so no matched span may be cut in two.
        for start, end in sorted(self._spans, reverse=True):
            if start < at < end:
                at = start
        return self._piece_border(at)

    def split(self, at: int) -> tuple[list[Piece], list[Piece]]:
        """Return the pieces before and after a settled offset, without white space at the end."""
        first: list[Piece] = []
        rest: list[Piece] = []
        for piece in self.pieces:
            if piece.at >= at:
                rest.append(piece)
            elif piece.plain and piece.at + len(piece.text) > at:
                cut = at - piece.at
                first.append(Piece(piece.text[:cut], piece.at, piece.look))
                rest.append(Piece(piece.text[cut:], at, piece.look, plain=True))
            else:
                first.append(piece)
        return first, _stripped(rest)

    def _piece_border(self, at: int) -> int:
        """Return the offset itself, or the start of the piece it would cut in two."""
        previous = 0
        for number, piece in enumerate(self.pieces):
            if piece.at >= at:
                break
            previous = number
        else:
            previous = len(self.pieces) - 1
        if previous < 0:
            return 0
        piece = self.pieces[previous]
        following = (
            self.pieces[previous + 1].at if previous + 1 < len(self.pieces) else len(self._raw)
        )
        return at if piece.plain or following <= at else piece.at

    def _read(self) -> None:
        raw, at = self._raw, 0
        while found := _SPECIAL.search(raw, at):
            start = found.start()
            if start > at:
                self._text(at, start)
            at = self._special(found[0], start)
        if at < len(raw):
            self._text(at, len(raw))

    def _special(self, mark: str, at: int) -> int:
        """Read what begins with a mark; returns where it ends."""
        match mark[0]:
            case "\n":
                return self._line_end(at)
            case "\\":
                return self._escape(at)
            case "`":
                return self._code(at, len(mark))
            case "*" | "_":
                return self._delimiter(at, at + len(mark))
            case "~":
                return self._strike(at, at + len(mark))
            case "[" | "!":
                return self._open_bracket(mark, at)
            case "]":
                return self._close_bracket(at)
            case "<":
                return self._angle(at)
            case "&":
                return self._reference(at)
            case _:
                return self._address(at)

    def _text(self, start: int, end: int) -> int:
        self.pieces.append(Piece(self._raw[start:end].replace("\t", " "), start, plain=True))
        return end

    def _mark(self, start: int, end: int) -> int:
        """Add a mark that is only text and is not cut: a part of it might mean something else."""
        self.pieces.append(Piece(self._raw[start:end], start))
        return end

    def _line_end(self, at: int) -> int:
        if self.pieces and self.pieces[-1].plain:
            self.pieces[-1].text = self.pieces[-1].text.rstrip(" ")
        is_hard = self._raw.endswith("  ", 0, at)
        self.pieces.append(Piece("\n" if is_hard else " ", at))
        return at + 1

    def _escape(self, at: int) -> int:
        following = self._raw[at + 1 : at + 2]
        if following == "\n":
            self.pieces.append(Piece("\n", at))
            return at + 2
        if following in _ESCAPABLE and following:
            self.pieces.append(Piece(following, at))
            return at + 2
        return self._text(at, at + 1)

    def _code(self, at: int, ticks: int) -> int:
        start = at + ticks
        for run in _TICKS.finditer(self._raw, start, at + REACH):
            if len(run[0]) == ticks:
                code = self._raw[start : run.start()].replace("\n", " ").replace("\t", " ")
                # One blank on each side only keeps backticks in the code apart from its marks.
                if code[0] == " " == code[-1] and code.strip(" "):
                    code = code[1:-1]
                self.pieces.append(Piece(code, at, CODE))
                return run.end()
        self._doubtful.append(at)
        return self._mark(at, start)

    def _delimiter(self, at: int, end: int) -> int:
        delimiter = Delimiter(self._raw, at, end, self._before, len(self.pieces))
        self.pieces.append(delimiter)
        if delimiter.opens or delimiter.closes:
            self._delimiters.append(delimiter)
        return end

    def _strike(self, at: int, end: int) -> int:
        return self._delimiter(at, end) if end - at == 2 else self._mark(at, end)

    def _open_bracket(self, mark: str, at: int) -> int:
        bracket = _Bracket(at, len(self.pieces), len(self._delimiters), len(mark) == 2)
        self._brackets.append(bracket)
        return self._mark(at, at + len(mark))

    def _close_bracket(self, at: int) -> int:
        if not self._brackets:
            return self._text(at, at + 1)
        bracket = self._brackets.pop()
        # At the end of the text a "(" may still come.
        if bracket.is_active and self._raw[at + 1 : at + 2] in ("", "("):
            tail = LINK_TAIL.match(self._raw, at + 1, bracket.at + REACH)
            if tail:
                self._link(bracket, written_target(tail["angled"] or tail["bare"] or ""), at)
                self._spans.append((bracket.at, tail.end()))
                return tail.end()
            self._doubtful.append(bracket.at)
        return self._text(at, at + 1)

    def _link(self, bracket: _Bracket, url: str, at: int) -> None:
        """Make everything since the bracket the text of a link to `url`."""
        inner = self._delimiters[bracket.delimiters :]
        del self._delimiters[bracket.delimiters :]
        match_emphasis(self.pieces, inner, self._spans)
        inside = self.pieces[bracket.piece + 1 :]
        is_web = is_web_address(url)
        for piece in inside:
            piece.look = piece.look | LINK if is_web else piece.look & ~LINK
        opening = self.pieces[bracket.piece]
        if bracket.is_image:
            opening.text = "[image: " if inside else "[image"
            self.pieces.append(Piece("]", at))
        else:
            opening.text = ""
            self._deactivate_brackets(at)
        if url and url != "".join(piece.text for piece in inside if not piece.look & TARGET):
            self.pieces.append(Piece(url, at, TARGET))

    def _deactivate_brackets(self, at: int) -> None:
        """Keep open brackets from becoming links around this one; images may have links in them."""
        for number in range(len(self._brackets) - 1, -1, -1):
            outer = self._brackets[number]
            if at - outer.at > REACH:
                break
            self._brackets[number] = outer._replace(is_active=outer.is_image)

    def _angle(self, at: int) -> int:
        raw, limit = self._raw, at + REACH
        if autolink := AUTOLINK.match(raw, at, limit):
            self._autolink(autolink["address"], at)
            return autolink.end()
        if LINE_BREAK_TAG.match(raw, at):
            self.pieces.append(Piece("\n", at))
            return raw.index(">", at) + 1
        tag = TAG.match(raw, at, limit)
        if tag:
            self.pieces.append(Piece(tag[0].replace("\n", " ").replace("\t", " "), at))
            return tag.end()
        if not raw[at + 1 : at + 2].isspace():
            self._doubtful.append(at)
        return self._text(at, at + 1)

    def _autolink(self, address: str, at: int) -> None:
        self.pieces.append(Piece(address, at, LINK if is_web_address(address) else PLAIN))

    def _reference(self, at: int) -> int:
        found = REFERENCE.match(self._raw, at)
        if not found:
            return self._text(at, at + 1)
        self.pieces.append(Piece(character_reference(found[0]), at))
        return found.end()

    def _address(self, at: int) -> int:
        before = self._raw[at - 1] if at else self._before
        found = BARE_ADDRESS.match(self._raw, at)
        if not found or (before and (before.isalnum() or before == "_")):
            # Past "http" only: there may be marks in the rest.
            return self._text(at, at + 4)
        if found.end() == len(self._raw):
            self._doubtful.append(at)  # the address may go on
        address = without_trailing_marks(found[0])
        if not is_web_address(address):
            return self._text(at, at + 4)
        self._autolink(address, at)
        return at + len(address)


def _stripped(pieces: list[Piece]) -> list[Piece]:
    """Remove white space at the end, but not that of code."""
    while pieces and pieces[-1].look == PLAIN and not pieces[-1].text.strip(" \n"):
        pieces.pop()
    if pieces and pieces[-1].plain:
        pieces[-1].text = pieces[-1].text.rstrip(" ")
    return pieces


class _Bracket(NamedTuple):
    """A `[` or `![` that may begin a link: where it is in the text, the pieces, the delimiters."""

    at: int
    piece: int
    delimiters: int
    is_image: bool
    is_active: bool = True


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
        # An underscore within a word is text, as in snake_case; an asterisk is not.
        if self.mark == "_":
            self.opens = left and (not right or _is_punctuation(before))
            self.closes = right and (not left or _is_punctuation(after))
        else:
            self.opens, self.closes = left, right


def match_emphasis(
    pieces: Sequence[Piece], delimiters: Sequence[Delimiter], spans: list[tuple[int, int]]
) -> list[Delimiter]:
    """Give matched text its look; returns what is still open, and adds what matched to `spans`."""
    opened: list[Delimiter] = []
    for closer in delimiters:
        while closer.closes and closer.text:
            index = _opener(opened, closer)
            if index is None:
                break
            opener = opened[index]
            # What opened in between cannot close outside of this pair.
            del opened[index + 1 :]
            _join(pieces, opener, closer)
            spans.append((opener.at, closer.at + closer.length))
            if not opener.text:
                opened.pop()
        if closer.opens and closer.text:
            opened.append(closer)
    return opened


def _opener(opened: Sequence[Delimiter], closer: Delimiter) -> int | None:
    """Return the index of the nearest open delimiter that this one closes."""
    for index in range(len(opened) - 1, -1, -1):
        opener = opened[index]
        if closer.at - opener.at > REACH:
            return None
        if opener.mark == closer.mark and not _is_odd_match(opener, closer):
            return index
    return None


def _is_odd_match(opener: Delimiter, closer: Delimiter) -> bool:
    """The rule of three: `**a*b**` is strong, not emphasis of something smaller."""
    if opener.mark == "~" or not (opener.closes or closer.opens):
        return False
    both = opener.length + closer.length
    return both % 3 == 0 and bool(opener.length % 3 or closer.length % 3)


def _join(pieces: Sequence[Piece], opener: Delimiter, closer: Delimiter) -> None:
    """Use up one or two marks of both, and give what is between them its look."""
    used = 2 if len(opener.text) > 1 and len(closer.text) > 1 else 1
    look = STRIKE if opener.mark == "~" else STRONG if used == 2 else EMPHASIS
    for piece in pieces[opener.index + 1 : closer.index]:
        piece.look |= look
    opener.text = opener.text[used:]
    closer.text = closer.text[used:]


def _flanks(before: str, after: str) -> bool:
    """Whether marks between the two characters belong to the text after them, not to a gap.

    CommonMark calls such marks left-flanking.
    """
    if not after or after.isspace():
        return False
    if not _is_punctuation(after):
        return True
    return not before or before.isspace() or _is_punctuation(before)


def _is_punctuation(character: str) -> bool:
    if character.isalnum() or not character or character == " ":
        return False
    return unicodedata.category(character)[0] in "PS"
