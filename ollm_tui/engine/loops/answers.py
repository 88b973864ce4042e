"""The answer of a tool, reduced to what shows whether anything is new in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from ollm_tui.engine.loops.canonical import text_digest
from ollm_tui.engine.loops.evidence import shown_result
from ollm_tui.engine.loops.normalising import steady, words_in

FULL_LENGTH, FULL_LINES = 120, 3
"""Characters or lines from which on the same answer to different calls is no coincidence."""
FULL_ERROR_LENGTH, FULL_ERROR_LINES = 80, 3
"""The same for errors, which are shorter."""
SEARCHED = 2000
"""Characters of an answer that are searched for a failure."""
REASON_WORDS = 4
"""Words from which on a line gives a reason; "1 failed" and "exit code 1" do not."""
MOST_COMPARED = 200
"""Words of an answer that are compared one by one with those of the one before."""
LEAST_OF_NAMES = 3
"""Digits of a number that may name something."""
FEW = 6
"""One word in so many may be another number: that is a tally beside the same answer."""

_FAILURE = re.compile(
    r"error|fail|exception|traceback|fatal|panic|denied|refused|invalid|unknown|cannot|not found|"
    r"does not exist|no (?:such|match|result|file)",
    re.IGNORECASE,
)
_NO_FAILURE = re.compile(r"\b(?:0|no)\s+\w*\s*(?:errors?|fail\w*)", re.IGNORECASE)
LONGEST_NOTHING = 60
_NOTHING = re.compile(
    r"\A\W*(?:no|none|nothing|0)\b.{0,40}\Z|\bnot found\b|\b(?:no|0) (?:match|file|result)",
    re.IGNORECASE,
)
_ORNAMENTS = ".:!?[]"
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")


class Answer(NamedTuple):
    """What a tool answered, with all that is compared of it."""

    text: str
    words: tuple[str, ...]
    digest: str
    """A digest that is equal for answers to the same call that say the same."""
    plain_digest: str
    """The same for answers to different calls, in which ids and times are content."""
    reason: str
    """The last line that says enough to be a reason, without numbers and the words of the call."""
    is_full: bool
    is_error: bool

    @classmethod
    def of(cls, result: str, *, is_error: bool, asked: Collection[str] = ()) -> Answer:
        """Read a result once; `asked` are the words of the call."""
        mark = "!" if is_error else "."
        steadied = steady(result)
        length, lines = (
            (FULL_ERROR_LENGTH, FULL_ERROR_LINES) if is_error else (FULL_LENGTH, FULL_LINES)
        )
        is_full = len(result) > length or result.strip().count("\n") >= lines - 1
        undated = steadied.undated if is_full else _without(steadied.undated.split(), asked)
        return cls(
            text=result,
            words=tuple(steadied.words[:MOST_COMPARED]),
            digest=text_digest(mark + steadied.text),
            plain_digest=text_digest(mark + undated),
            reason=_reason(result, asked) if is_error else "",
            is_full=is_full,
            is_error=is_error,
        )

    @property
    def fails(self) -> bool:
        """Whether the answer says that something did not work."""
        rest = _NO_FAILURE.sub("", self.text[:SEARCHED])
        return self.is_error or bool(_FAILURE.search(rest))

    @property
    def says_why(self) -> bool:
        """Whether it says in words what did not work; grep only ends with 1."""
        return self.fails and bool(self.text.strip())

    @property
    def finds_nothing(self) -> bool:
        """Whether a search that answers this has found nothing."""
        text = self.text.strip()
        return len(text) <= LONGEST_NOTHING and (not text or bool(_NOTHING.search(text)))

    @property
    def shown(self) -> str:
        """The answer in a few words, for the evidence of a loop."""
        return shown_result(self.text, is_error=self.is_error)

    def is_variant_of(self, other: Answer) -> bool:
        """Whether the answers differ in their order or in a few numbers only, such as a tally."""
        if self.is_error != other.is_error or len(self.words) != len(other.words):
            return False
        if sorted(self.words) == sorted(other.words):
            return True
        pairs = [(a, b) for a, b in zip(self.words, other.words, strict=True) if a != b]
        if any(_DIGITS.sub("", a) != _DIGITS.sub("", b) for a, b in pairs):
            return False
        return FEW * len(pairs) <= len(self.words) or _are_names(pairs)


def _are_names(pairs: list[tuple[str, str]]) -> bool:
    """Whether the numbers that differ only name something, such as a process.

    What is counted or measured stands in an answer once, a name comes again.
    """
    times = Counter(pairs)
    return len(dict(times)) == len({one for one, _ in times}) and all(
        count > 1 and len(_DIGITS.findall(one)[0]) >= LEAST_OF_NAMES
        for (one, _), count in times.items()
    )


def _without(words: Iterable[str], asked: Collection[str]) -> str:
    """Return words without those of the call: misses of guess after guess differ only in them."""
    # Numbers are kept: what was asked of another port or page is another answer.
    return " ".join(
        word for word in words if word.isdecimal() or word.strip(_ORNAMENTS) not in asked
    )


def _reason(result: str, asked: Collection[str]) -> str:
    for line in reversed(result[-SEARCHED:].splitlines()):
        words = [word if word in asked else _DIGITS.sub("", word) for word in words_in(line)]
        reason = _without(filter(None, words), asked)
        if len(_LETTERS.findall(reason)) >= REASON_WORDS:
            return reason
    return ""
