"""Claims of a sentence: values, what they are the values of, and what they replace.

Claims are how a later sentence takes back an earlier one ("the timeout is 30 s", then "raised
the timeout to 60 s", or "we use Postgres", then "moved from Postgres to SQLite").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ollm_tui.engine.compression.ledger.facts_clauses import (
    BEING,
    NAMING,
    Token,
    dimension_of,
    is_label,
    is_plain_word,
    is_specific,
    is_unit,
    name_before,
    name_from,
    named_until,
    names_behind,
    subject_of,
    tokens_of,
)
from ollm_tui.engine.compression.ledger.facts_cues import CHANGE
from ollm_tui.engine.compression.ledger.facts_subjects import About, about_in
from ollm_tui.engine.compression.ledger.facts_words import (
    Cues,
    Slot,
    Words,
    slot_of,
    word_set,
    words_of,
)

_NAME = (
    r"(?P<old>`[^`\n]{1,80}`|[\w$€£](?:[\w.:/%@+-]|,(?=\d)){0,60}"
    r"(?:\s(?:ms|s|MB|GB|KB|kB|cm|kg|min|seconds?|minutes?|hours?|days?|weeks?|percent)\b)?)"
)


class _Phrase(NamedTuple):
    words: Slot
    """Words of which one is in every match: without them nothing is searched."""
    pattern: re.Pattern[str]
    exact: bool
    """Whether the phrase is so common that it only takes back names, code and numbers."""


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
    """Return the names of what no longer holds, as they were written."""
    for phrase in _PHRASES:
        if phrase.words.isdisjoint(words.found):
            continue
        for found in phrase.pattern.finditer(text):
            name = found["old"]
            if is_specific(name) or (not phrase.exact and _is_name(name)):
                yield name


def _is_name(name: str) -> bool:
    return len(name) > 2 and not is_plain_word(name.lower())


_CHOICE = re.compile(
    r"\b(?:use|using|go with|going with|went with|chose|choose|picked|pick|settled on|opted for"
    r"|adopt(?:ed)?|switch(?:ed)? to|mov(?:ed?|ing) to|migrat(?:ed?|ing) to|stick with|named|called"
    r"|renamed to|rename it to)\s{1,3}"
    r"(?:the |a |an |our )?(?P<value>`[^`\n]{1,80}`|[\w$€£][\w.:/%@+-]{0,60})"
    r"(?:\s[\w-]{1,30}){0,2}?\s(?:for|as)\s(?:the |our |a |an |its )?"
    r"(?P<slot>\w[\w-]{0,30}(?: \w[\w-]{1,30})?)",
    re.IGNORECASE,
)
_CHOOSING = word_set(
    "use using go going went chose choose picked pick settled opted adopt adopted switch switched "
    "move moved moving migrate migrated migrating stick named called renamed rename"
)
"""A word of every phrase that chooses something by its name."""
_CHANGES = Cues(change=CHANGE)
_A_NAME = "name"
_UNIT_NAMES = (
    ("seconds", "s"),
    ("second", "s"),
    ("minutes", "min"),
    ("minute", "min"),
    ("percent", "%"),
)


class Claim(NamedTuple):
    """The statement that something has a value."""

    slots: tuple[Slot, ...]
    """The names that what has the value may have."""
    value: str
    firm: bool
    """Whether it is said as a statement (is, =, set to) and not in passing."""
    dimension: str
    """What kind of quantity it is, if any; "name" for what is none."""
    start: int
    end: int
    """Where the value stands in the sentence."""
    phrase: str
    """The value with its names, as it was said."""
    exact: bool
    """Whether the value is a number, code or a proper name."""


class Said(NamedTuple):
    """What a sentence claims, what it takes back by name, and whether it speaks of a change."""

    claims: tuple[Claim, ...]
    replaced: tuple[str, ...]
    changes: bool
    about: About = About()


@lru_cache(maxsize=4096)
def said_in(text: str) -> Said:
    """Return what one sentence says; cached, since facts are compared many times."""
    words = words_of(text)
    changes = bool(_CHANGES.found_in(words))
    replaced = tuple(map(_normal, replaced_in(text, words)))
    tokens = tokens_of(text)
    chosen = _chosen(text) if words.found & _CHOOSING else ()
    kept = (claim for claim in (*_valued(text, tokens), *chosen) if claim.value not in replaced)
    return Said(tuple(kept), replaced, changes or bool(replaced), about_in(tokens))


def takes_back(newer: Said, claim: Claim) -> bool:
    """Whether a later sentence says that an earlier claim no longer holds."""
    if claim.value in newer.replaced:
        named = not claim.value[0].isdigit() or not newer.claims
        return named or any(_meet(later, claim) for later in newer.claims)
    return any(_overrides(later, claim, newer.changes) for later in newer.claims)


def _meet(later: Claim, earlier: Claim) -> bool:
    return any(new & old for new in later.slots for old in earlier.slots)


def _overrides(later: Claim, earlier: Claim, changes: bool) -> bool:
    if later.value == earlier.value:
        return False
    dimensions = {later.dimension, earlier.dimension}
    if len(dimensions) == 2 and ("" not in dimensions or _A_NAME in dimensions):
        return False
    if not changes and not (later.firm and earlier.firm):
        return False
    fewer, more = sorted((later.slots, earlier.slots), key=len)
    return all(any(_match(one, other, changes) for other in more) for one in fewer)


def _match(one: Slot, other: Slot, changes: bool) -> bool:
    """Whether two names mean one thing; for a change it is enough that one contains the other."""
    return one == other or (changes and (one < other or other < one))


def _chosen(text: str) -> Iterator[Claim]:
    for found in _CHOICE.finditer(text):
        slots = (slot_of(found["slot"]),)
        start, end = found.span("value")
        exact = is_specific(found["value"])
        yield Claim(slots, _normal(found["value"]), True, _A_NAME, start, end, found[0], exact)


def _valued(text: str, tokens: list[Token]) -> Iterator[Claim]:
    for at, token in enumerate(tokens):
        if token.number:
            unit = at + 1 < len(tokens) and is_unit(tokens[at + 1].low)
            yield from _claim(text, tokens, at, at + 1 + unit)
        elif at and tokens[at - 1].low in NAMING and (end := named_until(tokens, at)) > at:
            yield from _claim(text, tokens, at, end)
        elif token.low in BEING and (subject := subject_of(tokens, at)) >= 0:
            yield from _claim(text, tokens, subject, subject + 1)


def _claim(text: str, tokens: list[Token], at: int, behind: int) -> Iterator[Claim]:
    """Yield the claim that the tokens from `at` to `behind` are a value, if it has a name."""
    token = tokens[at]
    number = token.number
    if at and is_label(tokens[at - 1]):
        return
    name, firm = name_before(tokens, at)
    others = names_behind(tokens, behind, bool(name.slot))
    firm = firm or (not number and bool(others))
    names = [found for found in (name, *others) if found.slot]
    if not names:
        return
    end = tokens[behind - 1].end
    first = min(token.start, *(found.start for found in names))
    last = max(end, *(found.end for found in (*names, name_from(tokens, behind, 1))))
    slots = tuple(dict.fromkeys(found.slot for found in names))
    value = text[token.start : end]
    dimension = dimension_of(token, tokens[behind - 1].low) if number else _A_NAME
    exact = number or is_specific(token.text)
    yield Claim(slots, _normal(value), firm, dimension, token.start, end, text[first:last], exact)


def _normal(value: str) -> str:
    """Return a value in a form that compares: 30 s, 30s and 30 seconds are equal."""
    bare = value.strip("`\"'“”‘’ ").rstrip(".,:;").lower().replace(" ", "").replace(",", "")
    for long, short in _UNIT_NAMES:
        bare = bare.replace(long, short)
    return bare or value
