"""Words in a comparable form, of sentences and of names, and cue phrases found in them.

A phrase is only searched for where its rarest word is in the set of words of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

Slot = frozenset[str]
"""A name as its bare words."""

_TOKEN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+){0,4}|[:?!,;→]")
_CONTRACTIONS = (
    ("won't", "will not"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("let's", "let us"),
    ("n't ", " not "),
    ("'ll ", " will "),
    ("'re ", " are "),
    ("'ve ", " have "),
    ("'d ", " would "),
    ("i'm ", "i am "),
    ("it's ", "it is "),
    ("that's ", "that is "),
    ("what's ", "what is "),
    (" dont ", " do not "),
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W_]+")


def word_set(words: str) -> frozenset[str]:
    """Words written down with spaces between them."""
    return frozenset(words.split())


GENERIC = word_set(
    "the a an and or to of for in on at by with from as is are be it this that we i you our my all "
    "s add write fix implement make create update check do need still todo should must have has "
    "will next step later finish also then again before after done finished completed added wrote "
    "written fixed implemented created updated now into some so was were been get got set up out "
    "remaining remain open item task left yet not und der die das le la les el los de que don t ll "
    "re ve let us use used using go going went goe with choose chose chosen picked pick settled "
    "settle decided decide decision plan stick sticking take took keep kept stay new right over "
    "instead rather than because since correction scratch actually after all longer no away moved "
    "move switched switch replaced replace swapped swap changed change dropped drop favour favor "
    "forget remember point follow loose end somebody someone anybody nobody everybody round "
    "ms sec second minute hour day week "
    "month mb gb kb kib mib gib cm mm km kg % € $ come came equal lowered raised bumped down start "
    "noted "
    "verdict given question answered "
    "closed thought reflection conclusion requirement answer result choice "
    "time far discussion bet fact thing case summary short update idea reason sense problem client "
    "moment some stage more another owe one managed able today "
    "bitte auf im am zu vom zum mit ist sind wird wurde hat habe haben wir ich sie er es ein eine "
    "einen dem den des nicht noch auch von bei nach aus um offen il elle nous vous un une du au "
    "aux en dans pour par sur avec est sont lo una son al del por para con se su "
    "they them he she him his her who there here pending outstanding missing "
    "note put agreed its their would could can if but only just about along"
)
"""Words that tell nothing about what a sentence is about."""


class Words(NamedTuple):
    """The words of a sentence, made comparable."""

    line: str
    found: frozenset[str]


class Cues:
    """Phrases of some kinds, found by the rarest of their words."""

    def __init__(self, **phrases: str) -> None:
        self._by_word: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for kind, listed in phrases.items():
            for phrase in listed.replace("\n", " ").split(";"):
                parts = tuple(f" {part.strip()} " for part in phrase.split("*") if part.strip())
                if parts:
                    self._by_word.setdefault(_rarest(parts), []).append((kind, parts))
        self._words = frozenset(self._by_word)

    def found_in(self, words: Words) -> dict[str, str]:
        """The kinds a sentence has a phrase of, each with a word of it."""
        found: dict[str, str] = {}
        for word in sorted(words.found & self._words):
            for kind, phrase in self._by_word[word]:
                if kind not in found and _in_order(words.line, phrase):
                    found[kind] = word
        return found


def slot_of(words: str) -> Slot:
    """Words as a name that can be compared: max_retries is max retries is maxRetries."""
    return frozenset(stem(word) for word in _WORD.findall(_CAMEL.sub(" ", words)))


def all_words(text: str) -> Slot:
    """Every word a name in a text may consist of: RabbitMQ is there whole and in parts."""
    return slot_of(text) | content_of(text) if _CAMEL.search(text) else content_of(text)


@lru_cache(maxsize=4096)
def content_words(text: str) -> Slot:
    """The words that tell what a text is about."""
    return all_words(text) - GENERIC


@lru_cache(maxsize=4096)
def content_of(text: str) -> Slot:
    """Return the words of a text in lower case and without plurals."""
    return frozenset(stem(word) for word in _WORD.findall(text))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word without its plural."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    """The words of a sentence in lower case, with contractions written out."""
    line = f" {' '.join(_TOKEN.findall(text.lower().replace('’', chr(39))))} "
    if "'" in line or " dont " in line or " cannot " in line:
        for short, long in _CONTRACTIONS:
            line = line.replace(short, long)
    return Words(line, frozenset(line.split()))


def _in_order(line: str, phrase: Iterable[str]) -> bool:
    at = 0
    for part in phrase:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part) - 1
    return True


def _rarest(parts: tuple[str, ...]) -> str:
    """Long words are rare ones; punctuation tells nothing."""
    return max(" ".join(parts).split(), key=len)
