"""What a sentence takes back by its name: "moved from Postgres", "instead of tabs"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ollm_tui.engine.compression.ledger.facts_clauses import is_plain_word, is_specific
from ollm_tui.engine.compression.ledger.facts_words import Slot, Words, word_set

_NAME = (
    r"(?P<old>`[^`\n]{1,80}`|[\w$€£](?:[\w.:/%@+-]|,(?=\d)){0,60}"
    r"(?:\s(?:ms|s|MB|GB|KB|kB|cm|kg|min|seconds?|minutes?|hours?|days?|weeks?|percent)\b)?)"
)


class _Phrase(NamedTuple):
    words: Slot
    """Without one of them the phrase is not there, and nothing is searched."""
    pattern: re.Pattern[str]
    exact: bool
    """Said of so much that only a proper name, code or a number is taken back by it."""


def _phrase(words: str, pattern: str, exact: bool) -> _Phrase:
    return _Phrase(word_set(words), re.compile(pattern, re.IGNORECASE), exact)


_PHRASES = (
    _phrase(
        "from",
        r"\bfrom\s{1,3}(?:the |our |an? )?" + _NAME + r"(?=\s(?:\w{1,12}\s)?to\b)",
        exact=False,
    ),
    _phrase(
        "instead rather place longer replace replaced replaces replacing favour favor away over "
        "statt anstatt lieu lugar vez",
        r"(?:\binstead of|\brather than|\bin place of|\bno longer(?: uses?| using)?"
        r"|\breplac(?:e|ed|es|ing)|\bin favou?r of \S{1,40} over|\baway from|\bover from"
        r"|\banstatt|\bstatt|\bau lieu de|\ben lugar de|\ben vez de)\s{1,3}"
        r"(?:the |our |an? |using )?" + _NAME,
        exact=False,
    ),
    _phrase(
        "not was previous previously formerly drop dropped dropping abandon abandoned ditch "
        "ditched scrap scrapped rid no forget",
        r"(?:\bnot|\bno|(?<!never )(?<!not )(?<!n't )\bforget(?: about)?|\(was|\bprevious(?:ly)?"
        r"|\bformerly|\bdropp?(?:ed|ing)?|\babandon(?:ed)?"
        r"|\bditch(?:ed)?|\bscrap(?:ped)?|\bget rid of|\bgot rid of)\s{1,3}"
        r"(?:the |our |an? |using )?" + _NAME,
        exact=True,
    ),
    _phrase(
        "renamed called named known",
        _NAME
        + r"\s(?:is|was|has been|got|is now)\s(?:re-?named|(?<=now )(?:called|named|known))\b",
        exact=True,
    ),
)


def replaced_in(text: str, words: Words) -> Iterator[str]:
    """The names of what no longer holds, as they were written."""
    for phrase in _PHRASES:
        if phrase.words.isdisjoint(words.found):
            continue
        for found in phrase.pattern.finditer(text):
            name = found["old"]
            if is_specific(name) or (not phrase.exact and _is_name(name)):
                yield name


def _is_name(name: str) -> bool:
    return len(name) > 2 and not is_plain_word(name.lower())
