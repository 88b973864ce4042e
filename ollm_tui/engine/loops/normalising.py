"""Normalises texts: replaces what differs each time although nothing happened, such as times,
durations, process numbers, ids and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

# The work is done word by word: patterns over the whole text take ten times as long.

PRECISE = 2000
"""Characters at either end that are read word by word; between them all digits are dropped,
so that a long text takes hardly longer than a short one."""
LONGEST_WORD = 200
"""Longer words are data: only their digits are dropped."""
MOST_BETWEEN = 20_000
"""Characters of a middle whose digits are dropped; a longer one is left as it is."""
MOST_NUMBERS = 300
"""Words with a digit that are examined; a text with more of them is data."""
GONE = "~"
"""What stands in place of a word that was removed."""
SHORT_TEXT, MOST_WORDS = 400, 64
MILLISECOND_DIGITS = 3
_ENDINGS = ".:!?[]"

_WORDS = re.compile(r"[^\s,;\"'{}()=<>|`]+")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_UNITS = frozenset(
    (
        *("ns", "µs", "us", "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins"),
        *("minute", "minutes", "h", "hr", "hrs", "hour", "hours"),
    )
)
_DURATION = rf"(?P<duration>(?:\d+(?:\.\d+)?(?:{'|'.join(sorted(_UNITS, reverse=True))}))+)"
_CLOCK = r"(?:\d{4}-\d\d-\d\dT)?\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_ADDRESS = r"0x[0-9a-fA-F]{4,}|/(?:tmp|var/folders)/.*"
_EPOCH = r"1[4-9]\d{8}\.\d+"
_ID = (
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?:sha\d+:|md5:)?(?:(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}|[0-9a-f]{32,64})"
    r"|[A-Za-z]{2,12}[_-](?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{8,64}"
    r"|#\d{2,}"
)
_PROGRAM = r"[a-z][\w.-]{1,30}\[\d{3,}"
"""A program with its process number, such as sshd[1234]."""
_CONNECTION = r"(?:localhost|\d+\.\d+\.\d+\.\d+|[\da-fA-F:]+\]):(?:3[2-9]|4\d|5\d|6[0-5])\d{3}"
"""An address with a port that the system chose, from 32000 on, such as 127.0.0.1:50412."""
_STAMPED = re.compile(r"\d{4}-?[01]\d-?[0-3]\d[T_-][0-2]\d[_:.-]?[0-5]\d[_:.-]?[0-5]\d")
"""A time within a name, such as _logs/2026-05-01T10_00_10_120Z-debug-0.log."""
_VOLATILE = re.compile(
    rf"\[?(?:{_DURATION}|{_CLOCK}|{_ADDRESS}|{_EPOCH}|{_ID}|{_PROGRAM}|{_CONNECTION})[.:!?\]]*"
)
_SIGNED = re.compile(r"==\d{2,8}==")
"""The process number with which memory checkers begin their lines."""
_PROCESS = frozenset(("pid", "PID", "Pid", "ppid", "process", "Process", "goroutine"))
_NUMBERED = frozenset(("request", "req", "transaction", "connection"))
"""What servers number, so that each has another number."""
_SHELL_JOB = re.compile(r"\[\d{1,3}\][+-]?")
"""The number that a shell gives to what it starts in the background, before its process number."""
LEAST_OF_NUMBERED = 3
"""Characters that such a number has at least."""
LEAST_OF_STAMPED = 14
"""Digits of a date with a time; a name that has one is longer."""
_MEASURED = re.compile(
    r"(?:.*[_-])?(?:ms|secs|seconds|elapsed|duration|took|latency|uptime|seed)", re.IGNORECASE
)
"""Names of measured times and of seeds, such as took_ms, duration, seed."""
_ENDS_OF_NAMES = ("d", "D", "s", "t", "q", "n", "e", ":", "#")
"""Last characters of all names before volatile numbers: other words are not examined."""
_NO_DIGITS = str.maketrans("", "", "0123456789")


class NormalisedText(NamedTuple):
    """A text in two normalised forms."""

    words: list[str]
    """The words without all that differs by itself: equal if the same was done again and
    nothing has changed."""
    undated: str
    """The text without durations only: in answers to different calls ids and times are content."""
    between: str
    """The middle of a long text, between the ends that are read word by word."""

    @property
    def text(self) -> str:
        """The words and the middle as one text."""
        return " ".join((*self.words, self.between))


def words_in(text: str) -> list[str]:
    """Return the words of a text, without the punctuation of code between them."""
    return _WORDS.findall(text)


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return words of some texts: of each from its beginning, and a bounded number in all."""
    found = (word for text in texts for word in _WORDS.findall(text[:SHORT_TEXT]))
    return frozenset(islice(found, MOST_WORDS))


def steady(text: str) -> NormalisedText:
    """Return a text in its normalised forms."""
    between = ""
    if len(text) > 2 * PRECISE:
        between = text[PRECISE:-PRECISE]
        between = between.translate(_NO_DIGITS) if len(between) <= MOST_BETWEEN else between
        text = f"{text[:PRECISE]} {text[-PRECISE:]}"
    if "==" in text:
        text = _SIGNED.sub(GONE, text)
    words: list[str] = _WORDS.findall(text)
    undated = list(words)
    places = _places_of_numbers(words)
    names: set[str] = set()
    for at in places:
        word = words[at]
        if len(word) > LONGEST_WORD:
            words[at] = undated[at] = word.translate(_NO_DIGITS)
        elif not word.isdecimal() and (found := _VOLATILE.fullmatch(word.lstrip(":"))):
            words[at] = GONE
            if found["duration"]:
                undated[at] = GONE
        elif at + 1 < len(words) and _counts_units(word, words[at + 1]):
            words[at] = words[at + 1] = undated[at] = undated[at + 1] = GONE
        elif _is_volatile_here(word, words[at - 1] if at else "", words[at - 2 : at - 1]):
            words[at] = GONE
            names.add(word)
    # What is the number of a process in one place is that in all others.
    names = {name for name in names if name.isdecimal() and len(name) >= LEAST_OF_NUMBERED}
    for at in places if names else ():
        if words[at] in names:
            words[at] = GONE
    return NormalisedText(words, " ".join((*undated, between)), between)


def _places_of_numbers(words: list[str]) -> list[int]:
    """Return the indexes of words with a digit; of many, those at the beginning and end."""
    search = _DIGIT.search
    places = [at for at, word in enumerate(words) if not word.isalpha() and search(word)]
    half = MOST_NUMBERS // 2
    return places if len(places) <= MOST_NUMBERS else places[:half] + places[-half:]


def _counts_units(word: str, following: str) -> bool:
    """Whether a number is followed by its unit of time, as in 3.2 s or 5 seconds."""
    return following.rstrip(_ENDINGS) in _UNITS and bool(_NUMBER.fullmatch(word))


def _is_volatile_here(word: str, before: str, earlier: list[str]) -> bool:
    """Whether a word is volatile because of the words before it.

    Examples: pid 402, "id":7, request 4711, 10:00:01,123, thread 'main' (31017).
    """
    if word[0] == ":":  # JSON without spaces
        word, before = word[1:], f"{before}:"
    if before == GONE and len(word) == MILLISECOND_DIGITS and word.isdecimal():
        return True
    if before[-1:] in _ENDS_OF_NAMES:
        name = (before if before != ":" else "".join(earlier)).rstrip(":#")
        if name in _PROCESS or _names_an_id(name) or _MEASURED.fullmatch(name):
            return True
        if name.casefold() in _NUMBERED and len(word) >= LEAST_OF_NUMBERED:
            return True
    if word.isdecimal() and len(word) >= LEAST_OF_NUMBERED and _SHELL_JOB.fullmatch(before):
        return True
    if len(word) > LEAST_OF_STAMPED and _STAMPED.search(word):
        return True
    return word.isdecimal() and (earlier == ["thread"] or _is_epoch(word))


def _is_epoch(digits: str) -> bool:
    """Whether digits are seconds or milliseconds since 1970, from 2014 on."""
    return len(digits) in (10, 13) and "14" <= digits[:2] <= "19"


def _names_an_id(name: str) -> bool:
    """Whether a name ends like id, request_id or jobId, but not like valid or paid."""
    ending = name[-2:]
    if ending == "Id":
        return True
    return ending in ("id", "ID") and not name[-3:-2].isalpha()
