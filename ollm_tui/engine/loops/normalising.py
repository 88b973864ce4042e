"""Texts without what differs each time although nothing happened: times, durations, process
numbers, ids, addresses. Word by word: a pattern over the whole text takes ten times as long."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

PRECISE = 2000
"""Characters at either end that are looked at closely; between them all digits are dropped,
so that a long text costs no more than a short one."""
LONGEST_WORD = 200
"""What is longer is data: only its digits are dropped."""
MOST_BETWEEN = 20_000
"""Characters between the ends up to which digits are dropped."""
MOST_NUMBERS = 300
"""Words with a digit that are looked at; a text with more of them is data."""
GONE = "~"
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
"""A program with its process number: sshd[1234]."""
_CONNECTION = r"(?:localhost|\d+\.\d+\.\d+\.\d+|[\da-fA-F:]+\]):(?:3[2-9]|4\d|5\d|6[0-5])\d{3}"
"""A port the system chose: 127.0.0.1:50412."""
_STAMPED = re.compile(r"\d{4}-?[01]\d-?[0-3]\d[T_-][0-2]\d[_:.-]?[0-5]\d[_:.-]?[0-5]\d")
"""A name with a time in it: _logs/2026-05-01T10_00_10_120Z-debug-0.log."""
_VOLATILE = re.compile(
    rf"\[?(?:{_DURATION}|{_CLOCK}|{_ADDRESS}|{_EPOCH}|{_ID}|{_PROGRAM}|{_CONNECTION})[.:!?\]]*"
)
_SIGNED = re.compile(r"==\d{2,8}==")
"""How checkers of memory begin their lines: with the number of the process."""
_PROCESS = frozenset(("pid", "PID", "Pid", "ppid", "process", "Process", "goroutine"))
_NUMBERED = frozenset(("request", "req", "transaction", "connection"))
"""What servers number: it is never the same one."""
LEAST_OF_NUMBERED = 3
LEAST_OF_STAMPED = 14
"""Digits of a time, all told."""
_MEASURED = re.compile(
    r"(?:.*[_-])?(?:ms|secs|seconds|elapsed|duration|took|latency|uptime|seed)", re.IGNORECASE
)
"""What a time is called, and what random numbers begin with: took_ms, duration, seed."""
_ENDS_OF_NAMES = ("d", "D", "s", "t", "q", "n", "e", ":", "#")
"""How the names before such a number end: most words need no closer look."""
_NO_DIGITS = str.maketrans("", "", "0123456789")


class NormalisedText(NamedTuple):
    """A text twice."""

    words: list[str]
    """Without anything that differs by itself: equal if the same was done again and nothing
    has changed."""
    undated: str
    """Without durations only: in answers to different questions ids and times are content."""
    between: str
    """What stands between the ends of a long text."""

    @property
    def text(self) -> str:
        """All of it as one text."""
        return " ".join((*self.words, self.between))


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of some texts, as far as they are short."""
    found = (word for text in texts for word in _WORDS.findall(text[:SHORT_TEXT]))
    return frozenset(islice(found, MOST_WORDS))


def steady(text: str) -> NormalisedText:
    """Look at a text once."""
    between = ""
    if len(text) > 2 * PRECISE:
        between = text[PRECISE:-PRECISE]
        between = between.translate(_NO_DIGITS) if len(between) <= MOST_BETWEEN else between
        text = f"{text[:PRECISE]} {text[-PRECISE:]}"
    if "==" in text:
        text = _SIGNED.sub(GONE, text)
    words: list[str] = _WORDS.findall(text)
    undated = list(words)
    for at in _places_of_numbers(words):
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
    return NormalisedText(words, " ".join((*undated, between)), between)


def _places_of_numbers(words: list[str]) -> list[int]:
    """Where words with a digit stand; of many, those at the beginning and at the end."""
    search = _DIGIT.search
    places = [at for at, word in enumerate(words) if not word.isalpha() and search(word)]
    half = MOST_NUMBERS // 2
    return places if len(places) <= MOST_NUMBERS else places[:half] + places[-half:]


def _counts_units(word: str, following: str) -> bool:
    """3.2 s, 5 seconds."""
    return following.rstrip(_ENDINGS) in _UNITS and bool(_NUMBER.fullmatch(word))


def _is_volatile_here(word: str, before: str, earlier: list[str]) -> bool:
    """Whether it is by what stands before it: pid 402, "id":7, request 4711, 10:00:01,123,
    thread 'main' (31017)."""
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
    if len(word) > LEAST_OF_STAMPED and _STAMPED.search(word):
        return True
    return word.isdecimal() and (earlier == ["thread"] or _is_epoch(word))


def _is_epoch(digits: str) -> bool:
    """Seconds or milliseconds since 1970, from 2014 on."""
    return len(digits) in (10, 13) and "14" <= digits[:2] <= "19"


def _names_an_id(name: str) -> bool:
    """id, request_id, jobId; not valid or paid."""
    ending = name[-2:]
    if ending == "Id":
        return True
    return ending in ("id", "ID") and not name[-3:-2].isalpha()
