"""Snippets of messages with the terms of a query marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice

from ollm_tui.core.intake import clean
from ollm_tui.core.search import Query, Snippet, SnippetRoom, Term, Where
from ollm_tui.storage.search.message_matching import is_unspaced

LOOKED_AT = 200_000
"""Characters of a message in which terms are looked for; without one its beginning is shown."""
MOST_MARKS = 24
"""How many marks are compared to find the best place for a snippet."""
LONGEST_WORD = 64
"""Characters of the longest word that is kept whole where a snippet begins or ends."""
WORDS = re.compile(r"[^\W_]+")
"""Finds the words of a text as the index does."""
BLANK = re.compile("[ \n\t]")
"""Finds where a word ends on screen."""

SHORTEST = 3
"""Letters of the shortest word that says what a text is about."""
SAYS_NOTHING = frozenset(
    WORDS.findall(
        """
    about after again all also and any are because been before but can could did does doing don
    down each for from get give had has have her here him his how into its just let like make many
    may more most much must need not now off once one only other our out over own please same she
    should show some such tell than that the their them then there these they thing this those
    through too under use using very want was way were what when where which while who why will
    with would you your
    """
    )
)
"""Words that are in every text and say nothing about its subject."""


class Marker:
    """Finds the terms of a query in texts as the index does, regardless of case and accents."""

    def __init__(
        self, query: Query, where: Where = "words", room: SnippetRoom | None = None
    ) -> None:
        self._room = room or SnippetRoom()
        among = [_among_words(term) for term in query.terms if term.has_word]
        inside = [
            re.escape(fold(term.text))
            for term in query.terms
            if term.is_literal or (where == "anywhere" and term.may_stand_inside)
        ]
        self._pattern = re.compile("|".join((*inside, *among))) if inside or among else None

    def marks(self, text: str, most: int | None = None) -> list[tuple[int, int]]:
        """Return the start and end of the first terms found, in order."""
        found = self._pattern.finditer(fold(text)) if self._pattern else ()
        return [each.span() for each in islice(found, most)]

    def snippet(self, texts: Iterable[str | None]) -> Snippet:
        """Return the best piece of the first text that has a term, else the beginning."""
        beginning = ""
        for text in texts:
            if not text or text.isspace():
                continue
            text = clean(text)
            found = self.marks(text[:LOOKED_AT], MOST_MARKS)
            if found:
                return self._cut(text, _best_place(text, found, self._room), found)
            beginning = beginning or text
        return self._cut(beginning, 0, ()) if beginning else Snippet("")

    def _cut(self, text: str, at: int, found: Sequence[tuple[int, int]]) -> Snippet:
        """Return the piece of a text around a position, with its marks; `found` are the first."""
        start, end = _window(text, at, self._room)
        piece = text[start:end]
        if len(found) == MOST_MARKS:
            found = [(a + start, b + start) for a, b in self.marks(piece)]
        front = "…" if piece[:1] != "\n" and text[:start].strip() else ""
        # Marks move to where the text now is.
        shift = len(front) - start - (len(piece) - len(piece.lstrip()))
        marks = tuple([(a + shift, b + shift) for a, b in found if start <= a and b <= end])
        more = "…" if text[end:].strip() else ""
        return Snippet(front + piece.strip() + more, marks)


def fold(text: str) -> str:
    """Return a text without case and accents, every character still at its index."""
    if text.isascii():
        return text.lower()
    return "".join(map(_folded, text))


@cache
def _folded(character: str) -> str:
    # One character for one: marks found in the folded text are used in the original.
    base = unicodedata.normalize("NFD", character.lower())[0]
    return base if len(base.lower()) == 1 else character


def _best_place(text: str, marks: Sequence[tuple[int, int]], room: SnippetRoom) -> int:
    """Return the first position from which on the most different terms are near together."""
    reach = room.characters - room.before
    best, most = marks[0][0], 1
    if len(marks) == 1:
        return best
    words = [fold(text[start:end]) for start, end in marks]
    all_words = len(set(words))
    for number, (start, _) in enumerate(marks):
        if most == all_words:
            break
        near = zip(marks[number:], words[number:], strict=True)
        different = len({word for (_, end), word in near if end <= start + reach})
        if different > most:
            best, most = start, different
    return best


def _among_words(term: Term) -> str:
    """Return a pattern for a term at the beginning of a word.

    Between the words of a term there may be any marks.
    """
    text = fold(term.text)
    first, *others = map(re.escape, WORDS.findall(text) or [text])
    ends = term.whole or not term.text[-1:].isalnum()
    if is_unspaced(term.text):
        return r"[\W_]*".join((first, *others))
    # Looks back over the first word for a border: a pattern that begins with letters is found much
    # faster than one that begins with a border.
    border = rf"(?<![^\W_]{first})"
    return r"[\W_]+".join((first + border, *others)) + (r"(?![^\W_])" if ends else "")


def _window(text: str, at: int, room: SnippetRoom) -> tuple[int, int]:
    """Return start and end of the lines around a position, or less if they are too long."""
    start = end = at
    for _ in range(room.lines_before + 1):
        start = max(text.rfind("\n", 0, start), 0)
    for _ in range(room.lines_after + 1):
        end = text.find("\n", end + 1)
        end = len(text) if end < 0 else end
    start = max(start, _word_border(text, at - room.before))
    # What is before gives way to the word itself.
    last = min(_word_end(text, at), at + room.characters)
    if start < last - room.characters:
        start = min(at, _word_end(text, last - room.characters - 1) + 1)
    full = start + room.characters
    border = _word_border(text, full)
    return start, min(end, border if border > at else full)


def _word_end(text: str, at: int) -> int:
    """Return where the word at a position ends: at the next blank."""
    blank = BLANK.search(text, at)
    return blank.start() if blank else len(text)


def _word_border(text: str, at: int) -> int:
    """Return a position near this one that cuts no word, if one begins not far before it."""
    if at <= 0 or at >= len(text):
        return max(0, min(at, len(text)))
    before = max(0, at - LONGEST_WORD)
    # Spelled out: every match that is shown has two of these borders.
    blanks = text.rfind(" ", before, at), text.rfind("\n", before, at), text.rfind("\t", before, at)
    space = max(blanks)
    return space + 1 if space >= 0 or not before else at
