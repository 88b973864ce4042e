"""Checks whether an answer is a summary: not empty, a refusal, repetitive, a copy or too long.

What can be saved is saved: repetitions are cut off, and a long answer ends with a sentence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ollm_tui.core.errors import OllmError
from ollm_tui.engine.compression.ledger.ledger_names import names_in
from ollm_tui.engine.compression.summary.summary_input import Count
from ollm_tui.engine.compression.summary.summary_syntax import sanitised, sentences

Fault = Literal["empty", "refused", "repeating", "echo", "vague", "unsaid", "long"]
REASONS: dict[Fault, str] = {
    "empty": "the summary was empty",
    "refused": "the model refused to summarise",
    "repeating": "the model repeated itself",
    "echo": "the summary only repeated its input",
    "vague": "the summary is not about the conversation",
    "unsaid": "the summary contains things not in the conversation",
    "long": "the summary was too long",
}

TOO_LONG = 1.1
"""Factor by which an answer may exceed its tokens before it is cut at a sentence."""
FEWEST_WORDS = 8
"""Words that have to be left after something was cut off."""
SHINGLE_WORDS = 8
"""Words in a row that are compared when copies are looked for."""
ECHO_SHARE = 0.6
"""Share of an answer's shingles which makes it a copy if they stand in one stretch."""
ECHO_WORDS = 40
"""Words of a stretch that make it a copy; a sentence or two taken over are a fine summary."""
LONGEST_PERIOD = 40
"""Words of the longest run whose immediate repetition is found."""
PERIODS = 3
"""Times such a run has to come in a row."""
CHANT_WORDS = 12
"""Words that the runs have together at least: 0.0.0.0 is no repetition."""
LONG_WORD = 5
"""Letters from which on a word is compared with what was said; only its first ones are."""
SAID_SHARE = 0.1
"""Share of a summary's long words that have to be in what was said."""
REPEATED_WORDS = 6
"""A sentence of so many words is not said twice by chance."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u9fff\uac00-\ud7af]+")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:]*\d(?!\w)")
_ABOUT_SUMMARIES = re.compile(r"\bsummar(?:y|ies|i[sz])", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*(?=\s|$)|[。！？]|\n")
_STUTTER = re.compile(r"([^\s\-=_*.~#|]{1,8}?)\1{15,}")
_REFUSAL = re.compile(
    r"(?:(?:i['’]?m|i\s+am)\s+(?:\w+\s+)?(?:sorry|unable|not\s+able)|sorry\b|i\s+apologi[sz]e"
    r"|i\s+(?:can['’]?t|can\s*not|cannot|won['’]?t|will\s+not|do\s+not|don['’]?t)\s+"
    r"(?:\w+\s+)?(?:assist|help|summari[sz]e|provide|comply|fulfil|do|have|see|process)"
    r"|as\s+an?\s+(?:ai|language)\b|unfortunately,?\s+i\b)",
    re.IGNORECASE,
)


class SummaryFailed(OllmError):
    """No attempt gave a usable summary; the context can only be compressed without one."""


class Given(NamedTuple):
    """What the model was given, so that a copy of it is recognised."""

    instructions: str
    transcript: str
    earlier: str = ""
    beside: str = ""
    """What else may be told: the facts that are kept anyway, the goal, the user's wishes."""


class Verdict(NamedTuple):
    """A summary that may be used, or an empty text and what is wrong with it."""

    text: str
    fault: Fault | None = None
    dropped: int = 0
    """Sentences that were left out because they told what was not said."""


def judged(answer: str, given: Given, most_tokens: int, count: Count) -> Verdict:
    """Return what can be used of a whole answer, or its fault."""
    text = sanitised(answer)
    if not _words(text):
        return Verdict("", "empty")
    text, refused = _without_refusal(text)
    if refused and len(_words(text)) < FEWEST_WORDS:
        return Verdict("", "refused")
    if (begins := repetition(text)) is not None:
        text = _whole_sentences(text[:begins])
        if len(_words(text)) < FEWEST_WORDS:
            return Verdict("", "repeating")
    if is_echo(text, given):
        return Verdict("", "echo")
    text, dropped = without_unsaid(text, given)
    if not _words(text):
        return Verdict("", "unsaid")
    if is_vague(text, given):
        return Verdict("", "vague")
    if count(text) > most_tokens * TOO_LONG:
        text = cut_at_sentence(text, most_tokens, count)
        if len(_words(text)) < FEWEST_WORDS:
            return Verdict("", "long")
    return Verdict(text, dropped=dropped)


def without_unsaid(text: str, given: Given) -> tuple[str, int]:
    """Return a text without sentences that name or number what was never said, and how many
    those were. Sentences about summaries are left out, too, unless the talk was about them."""
    source = "\n".join(given[1:]).casefold()
    if not source.strip():
        return text, 0
    is_about = _ABOUT_SUMMARIES.search(source) is not None
    lines: list[str] = []
    dropped = 0
    for line in text.split("\n"):
        kept = [
            sentence
            for sentence in sentences(line)
            if (is_about or not _ABOUT_SUMMARIES.search(sentence)) and _is_said(sentence, source)
        ]
        dropped += len(sentences(line)) - len(kept)
        if kept:
            lines.append(" ".join(kept))
    return ("\n".join(lines), dropped) if dropped else (text, 0)


def is_vague(text: str, given: Given) -> bool:
    """Whether a text has hardly a word in common with what it should summarise."""
    source = "\n".join(given[1:])
    said = {word[:LONG_WORD] for word in _words(source) if len(word) >= LONG_WORD}
    told = [word[:LONG_WORD] for word in _words(text) if len(word) >= LONG_WORD]
    if not said or not told:
        return False
    return sum(word in said for word in told) < SAID_SHARE * len(told)


def _is_said(sentence: str, source: str) -> bool:
    """Whether all names, paths and numbers of a sentence are in what was said."""
    named = [*names_in(sentence), *_NUMBER.findall(sentence)]
    return all(name.casefold().strip("()`'\".,") in source for name in named)


def repetition(text: str) -> int | None:
    """Return the index at which a text begins to repeat itself; None if it does not."""
    places = (_stutter(text), _chant(text), _said_before(text))
    return min((place for place in places if place is not None), default=None)


def is_echo(text: str, given: Given) -> bool:
    """Whether a text is mostly one stretch of what was given.

    A new summary may take over most of the earlier one, but has to add something.
    """
    said = _words(text)
    told, source, earlier = map(_words, given[:3])
    if len(said) < SHINGLE_WORDS:
        return bool(said) and f" {' '.join(said)} " in f" {' '.join(told)} "
    least = ECHO_SHARE * (len(said) - SHINGLE_WORDS + 1)
    if _copied(said, told) >= least:
        return True
    if source and earlier and _copied(said, earlier) == len(said) - SHINGLE_WORDS + 1:
        return True
    copied = _copied(said, source)
    stretch = copied + SHINGLE_WORDS - 1
    return copied >= least and (stretch >= ECHO_WORDS or stretch * 2 >= len(source))


def cut_at_sentence(text: str, most_tokens: int, count: Count) -> str:
    """Return the first whole sentences that fit; empty if not even one does."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        if count(text[: ends[middle]]) <= most_tokens:
            low = middle + 1
        else:
            high = middle
    return text[: ends[low - 1]].rstrip() if low else ""


def without_broken_end(text: str) -> str:
    """Return a text up to its last whole sentence; all of it if it has none."""
    return _whole_sentences(text) or text


def _whole_sentences(text: str) -> str:
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]].rstrip() if ends else ""


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _without_refusal(text: str) -> tuple[str, bool]:
    """Return a text without refusing sentences at its beginning, and whether it had any."""
    rest = said = sentences(text)
    while rest and _REFUSAL.match(rest[0]):
        rest = rest[1:]
    return ("\n".join(rest), True) if len(rest) < len(said) else (text, False)


def _stutter(text: str) -> int | None:
    """Return where the same few characters begin to repeat; None if they do not."""
    found = _STUTTER.search(text)
    return found.end(1) if found else None


def _chant(text: str) -> int | None:
    """Return where the second of several equal runs of words begins; None if there are none."""
    found = list(_WORD.finditer(text))
    words = [word[0].casefold() for word in found]
    for start, word in enumerate(words):
        for second in range(start + 1, min(start + LONGEST_PERIOD, len(words) - 1) + 1):
            if words[second] == word and _goes_on(words, start, second):
                return found[second].start()
    return None


def _goes_on(words: Sequence[str], start: int, second: int) -> bool:
    period = second - start
    end = start + max(PERIODS * period, CHANT_WORDS)
    return end <= len(words) and words[start : end - period] == words[second:end]


def _said_before(text: str) -> int | None:
    """Return where the first repeated sentence begins; None if there is none.

    One repeated sentence alone counts only if it follows itself directly.
    """
    seen: set[str] = set()
    first, before, at = None, "", 0
    for sentence in sentences(text):
        at = text.index(sentence, at)
        words = _words(sentence)
        key = " ".join(words)
        if len(words) >= REPEATED_WORDS and key in seen:
            if first is not None or key == before:
                return at if first is None else first
            first = at
        seen.add(key)
        before = key
        at += len(sentence)
    return None


def _copied(said: Sequence[str], source: Sequence[str]) -> int:
    """Return how many shingles of a text are in the source, all shifted by the same distance."""
    places: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for place in range(len(said) - SHINGLE_WORDS + 1):
        places[tuple(said[place : place + SHINGLE_WORDS])].append(place)
    # Most words of a long source begin no shingle: looking at one word first saves a tuple.
    begins = {shingle[0] for shingle in places}
    distances: Counter[int] = Counter()
    for place in range(len(source) - SHINGLE_WORDS + 1):
        if source[place] not in begins:
            continue
        for found in places.get(tuple(source[place : place + SHINGLE_WORDS]), ()):
            distances[place - found] += 1
    return max(distances.values(), default=0)
