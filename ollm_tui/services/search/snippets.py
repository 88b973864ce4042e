"""Snippets: the few lines of a message in which the terms stand, and where exactly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, takewhile

from ollm_tui.core.intake import clean
from ollm_tui.core.search import Query, Snippet, SnippetRoom, Term, Where
from ollm_tui.storage.search.message_matching import is_unspaced

LOOKED_AT = 200_000
"""Characters of a message that are searched for the place; a longer one shows its beginning."""
MOST_MARKS = 24
"""Hits that are compared to find the best place."""
_WORDS = re.compile(r"[^\W_]+")


class Marker:
    """Finds the terms of one query in texts, as the index does: accents and case are the same."""

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

    def marks(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the terms begin and end, in order."""
        if self._pattern:
            for found in self._pattern.finditer(fold(text)):
                yield found.span()

    def snippet(self, texts: Iterable[str | None]) -> Snippet:
        """The piece with the most hits in the first of the texts that has one."""
        present = [clean(text) for text in texts if text and not text.isspace()]
        for text in present:
            marks = list(islice(self.marks(text[:LOOKED_AT]), MOST_MARKS))
            if marks:
                return self._cut(text, _best_place(text, marks, self._room))
        return self._cut(present[0], 0) if present else Snippet("")

    def _cut(self, text: str, at: int) -> Snippet:
        start, end = _window(text, at, self._room)
        piece = text[start:end]
        front = "…" if text[:start].strip() and piece[:1] != "\n" else ""
        kept = piece.strip()
        shift = len(front) - (len(piece) - len(piece.lstrip()))
        marks = tuple((a + shift, b + shift) for a, b in self.marks(piece))
        more = "…" if text[end:].strip() else ""
        return Snippet(front + kept + more, marks)


def fold(text: str) -> str:
    """Without case and accents, every character still in its place."""
    if text.isascii():
        return text.lower()
    return "".join(map(_folded, text))


@cache
def _folded(character: str) -> str:
    base = unicodedata.normalize("NFD", character.lower())[0]
    return base if len(base.lower()) == 1 else character


def _best_place(text: str, marks: Sequence[tuple[int, int]], room: SnippetRoom) -> int:
    """The first place after which the most different finds stand together."""
    reach = room.characters - room.before
    words = [fold(text[start:end]) for start, end in marks]
    if len(set(words)) == 1:
        return marks[0][0]

    def different(number: int) -> int:
        last = marks[number][0] + reach
        near = takewhile(lambda other: marks[other][1] <= last, range(number, len(marks)))
        return len({words[other] for other in near})

    return marks[max(range(len(marks)), key=different)][0]


def _among_words(term: Term) -> str:
    """At the beginning of a word; between the words of a term any signs may stand.

    That nothing stands before it is looked at last: letters are found much faster than borders.
    """
    text = fold(term.text)
    first, *others = map(re.escape, _WORDS.findall(text) or [text])
    ends = term.whole or not term.text[-1:].isalnum()
    if is_unspaced(term.text):
        return r"[\W_]*".join((first, *others))
    border = rf"(?<![^\W_]{first})"
    return r"[\W_]+".join((first + border, *others)) + (r"(?![^\W_])" if ends else "")


def _window(text: str, at: int, room: SnippetRoom) -> tuple[int, int]:
    """Whole lines where they are short enough, else what stands around the place."""
    start = end = at
    for _ in range(room.lines_before + 1):
        start = max(text.rfind("\n", 0, start), 0)
    for _ in range(room.lines_after + 1):
        end = text.find("\n", end + 1)
        end = len(text) if end < 0 else end
    start = max(start, _word_border(text, at - room.before))
    return start, min(end, _word_border(text, start + room.characters))


def _word_border(text: str, at: int) -> int:
    """A place near this one where no word is cut."""
    if at <= 0 or at >= len(text):
        return max(0, min(at, len(text)))
    space = text.rfind(" ", max(0, at - 20), at)
    return space + 1 if space >= 0 else at


MOST_TERMS = 12
CHARACTERS_READ = 4_000
"""Characters of a prompt that say what it is about."""
SHORTEST = 3
_WORD = re.compile(r"[^\W_]+")
SAYS_NOTHING = frozenset(
    _WORD.findall(
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
"""Words that are in every text."""


def recall_query(text: str) -> Query:
    """A search for whatever was said about the same things; the longest words tell the most."""
    words = dict.fromkeys(fold(word) for word in _WORD.findall(clean(text[:CHARACTERS_READ])))
    telling = [word for word in words if len(word) >= SHORTEST or not word.isascii()]
    telling = [word for word in telling if word not in SAYS_NOTHING]
    telling.sort(key=len, reverse=True)
    return Query(terms=tuple(map(Term, telling[:MOST_TERMS])), any_term=True)


def terms_in(query: Query, snippet: Snippet) -> int:
    """How many of the terms of a search stand in a snippet."""
    found = {fold(snippet.text[start:end]) for start, end in snippet.marks}
    return sum(any(each.startswith(fold(term.text)) for each in found) for term in query.terms)
