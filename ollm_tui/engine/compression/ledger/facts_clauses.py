"""Tokens of a sentence, and the names before and behind a value in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ollm_tui.engine.compression.ledger.facts_names import ASSIGNED
from ollm_tui.engine.compression.ledger.facts_words import GENERIC, Slot, slot_of, word_set

_TOKEN = re.compile(
    r"`[^`\n]{1,80}`|\"[^\"\n\d][^\"\n]{0,60}\"|“[^”\n]{1,60}”|‘[^’\n]{1,60}’|'[^'\n]{2,60}'(?!\w)"
    r"|[$€£]?\d[\w.,:/%°²³+-]{0,60}[€$£]?"
    r"|[^\W\d_](?:[\w.'’/@+-]|::){0,80}"
    r"|->|=>|[=→:;,()—–!?%°€$£]"
)
_QUOTED = re.compile(r"`([^`\n]{1,80})`")
_NUMBER = re.compile(r"[$€£]?v?\d")
_HASH = re.compile(r"(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}")
_CODE_WORD = re.compile(r"\w*[_/@.:]\w|[a-z]+[A-Z]|\w*\d|\w+-\w+-\w|[a-z]+-\d")

_NUMBER_WORDS = word_set(
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty "
    "fifty sixty ninety hundred thousand million dozen half once twice zwei drei vier fünf zehn "
    "deux trois quatre cinq dix dos tres cuatro cinco diez"
)
_UNITS = {
    name: dimension
    for dimension, names in {
        "time": "ms s sec secs second seconds min mins minute minutes h hr hrs hour hours d day "
        "days week weeks month months year years µs us",
        "size": "b kb mb gb tb kib mib gib tib ki mi gi bytes byte kilobytes megabytes "
        "gigabytes k m g",
        "length": "mm cm m km metres meters metre meter inch inches feet foot ft px pt em rem",
        "weight": "mg g kg grams gram kilos kilo tons t lb lbs oz tbsp tsp cups cup",
        "volume": "ml l litre litres liter liters",
        "money": "€ $ £ eur usd gbp euro euros dollars dollar pounds cents",
        "share": "% percent °c °f degrees °",
        "power": "v mv kv ma mah w kw kwh ohm",
        "rate": "fps rps qps hz khz mhz rpm req/s kb/s mb/s",
    }.items()
    for name in names.split()
}
_LINKS = word_set(
    "is are was were be been being of to at by than up down about around exactly only just stays "
    "stay remains remain becomes became equals equal should must will would shall has have had "
    "the a an its our your their this that set now currently roughly nearly approximately under "
    "over below above within least most more less no not from = : → -> => ( it as already still "
    "going since on between max maximum min minimum ist sind est sont es son auf zu à de a"
)
_FIRM = word_set(
    "is are was were be = : → -> => to of at equals stays becomes remains ist sind est sont es son"
)
_BORDERS = word_set(", ; — – ! ? ) and or but so because while which where und et y que")
_NOT_NOUNS = word_set(
    "we i you they he she it us let me my there here then also and or but so if when while with "
    "for in on into onto per each every all any some set use uses used using make makes made keep "
    "keeps kept put go goes went take takes took get gets got have has had do does did can could "
    "may might want wants need needs needed give gives gave runs ran see seen found says said "
    "think changed changing raise raised lower lowered bump bumped increased "
    "reduce reduced updated moved switched replace replaced adjust adjusted "
    "extend extended dropped double doubled please new old instead "
    "actually again really very too decided chose picked agreed settled listens "
    "running starts started started lasts takes costs measured reached after before "
    "during until since against via like both either first last next same other another nothing "
    "never always therefore thus hence accordingly otherwise meanwhile new back rather longer "
    "anymore capped wir ich nous on vamos"
)
_LABELS = word_set(
    "chapter step line lines phase day row page pages issue pr figure question table part section "
    "item point option round level stage test case task week scene act verse kapitel chapitre "
    "capítulo exit attempt attempts"
)
_MOVING = word_set(
    "went goes moved moves rose rises fell falls grew grows dropped drops increased decreased "
    "changed changes jumped comes came ends ended lands landed sits sat stands stood"
)
_OF = word_set("of for in on für pour para de du")
_DETERMINERS = word_set("the a an our its my your this each every der die das le la el")
_ADJECTIVES = word_set("right correct new better best sensible final actual proper good only main")
_BEHIND = word_set("for as is are be für als pour comme para como")
BEING = word_set("as is are be was als comme como")
NAMING = _FIRM | {"now", "called", "named", "titled"}
_BETWEEN = _LINKS | _MOVING
_COPULAS = word_set("is are now be becomes = : → -> => ist sind est sont es son")
_TRAILING = ".,:/-+'’"
_MOST_WORDS = 4
"""The most words that a name has; more are half a sentence."""


class Token(NamedTuple):
    """A word, number, quotation or sign, with its place in the sentence."""

    text: str
    low: str
    start: int
    end: int
    number: bool
    """Whether it is a quantity, in digits or as a word."""


class Name(NamedTuple):
    """What a value is called: its words, and where they begin and end."""

    slot: Slot
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """The tokens of a sentence; punctuation behind a word is not part of it."""
    if "`" in text:
        text = _QUOTED.sub(_unquoted_assignment, text)
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        word, start = match[0], match.start()
        if len(word) > 1 and word[-1] in _TRAILING:
            word = word.rstrip(_TRAILING) or word
        low = word.lower()
        found.append(Token(word, low, start, start + len(word), _is_quantity(low)))
    return found


def _unquoted_assignment(quoted: re.Match[str]) -> str:
    """Return a quotation, without its quotes if it is an assignment; its length is the same."""
    return f" {quoted[1]} " if ASSIGNED.search(quoted[1]) else quoted[0]


def _is_quantity(low: str) -> bool:
    if low[0].isalpha() and low[0] != "v":
        return low in _NUMBER_WORDS
    return bool(_NUMBER.match(low)) and not _HASH.fullmatch(low)


def is_specific(name: str) -> bool:
    """Whether a name is a proper one, code, or a number: not just any word."""
    return not name[0].islower() or bool(_CODE_WORD.match(name))


def is_plain_word(name: str) -> bool:
    """Whether a word, in lower case, names nothing."""
    return name in _NOT_NOUNS or name in _LINKS


def named_until(tokens: Sequence[Token], at: int) -> int:
    """Where a name behind a word of NAMING ends; its own place if there is none here.

    It is code, a proper name, or whatever a short statement ends with ("is now lavender").
    """
    before = tokens[at - 1].low
    word = tokens[at].text
    if is_plain_word(word) and word not in _DETERMINERS:
        return at
    if before in _COPULAS or (before == "to" and at > 1 and tokens[at - 2].low in _MOVING):
        for end in range(at + 1, min(at + 4, len(tokens) + 1)):
            if end == len(tokens) or _ends_name(tokens[end]):
                return end
    return at + 1 if is_specific(tokens[at].text) else at


def dimension_of(token: Token, unit: str) -> str:
    """What kind of quantity a number with its unit is: 30 s and 30s are times."""
    if token.low in _NUMBER_WORDS and unit not in _UNITS:
        return "count"
    return _UNITS.get(unit, "") or _UNITS.get(token.low.lstrip("$€£0123456789.,_"), "")


def is_unit(word: str) -> bool:
    """Whether a word behind a number is its unit."""
    return word in _UNITS


def is_label(token: Token) -> bool:
    """Whether a number behind this word only tells which one is meant: chapter 3."""
    return token.low in _LABELS


def name_before(tokens: Sequence[Token], at: int) -> tuple[Name, bool]:
    """The name before a value, and whether a word between makes it a statement."""
    firm = False
    at -= 1
    while at >= 0 and (tokens[at].low in _BETWEEN or _was_value(tokens, at)):
        firm = firm or tokens[at].low in _FIRM
        at -= 1
    words: list[Token] = []
    while at >= 0 and len(words) < _MOST_WORDS:
        if _is_part_of_name(tokens[at]):
            words.append(tokens[at])
            at -= 1
        elif words and (of := _joined_by(tokens, at)) >= 0:
            at = of - 1
        else:
            break
    return _name(words[::-1], tokens), firm


def names_behind(tokens: Sequence[Token], at: int, named: bool) -> list[Name]:
    """What a value is said to be for, or else the noun behind it.

    Of a value that has a name already that noun is only the unit: "the limit is 500 words".
    """
    for place in range(at, min(at + 4, len(tokens))):
        if tokens[place].low in _BORDERS:
            break
        if tokens[place].low in _BEHIND:
            return [name_from(tokens, place + 1, 3)]
    return [] if named else [name_from(tokens, at, 2)]


def subject_of(tokens: Sequence[Token], at: int) -> int:
    """Return the index of the subject before a "be", as in "straw should be"; -1 if none."""
    if at + 1 == len(tokens) or tokens[at + 1].low not in _DETERMINERS:
        return -1
    for place in range(at - 1, max(at - 4, -1), -1):
        if _is_part_of_name(tokens[place]):
            return place
        if tokens[place].low not in _BETWEEN:
            return -1
    return -1


def name_from(tokens: Sequence[Token], at: int, most: int) -> Name:
    """The name that begins at a place, of so many words at most; empty if none does."""
    words: list[Token] = []
    for token in tokens[at : at + most + 3]:
        if not words and (token.low in _DETERMINERS or token.low in _ADJECTIVES):
            continue
        if words and token.low == "of":
            continue
        if not _is_part_of_name(token) or token.number or len(words) == most:
            break
        words.append(token)
    return _name(words, tokens)


def ends_subject(token: Token) -> bool:
    """Whether a noun phrase cannot go on with a token."""
    return token.low in _BETWEEN or _ends_name(token)


def _ends_name(token: Token) -> bool:
    return token.low in _BORDERS or is_plain_word(token.low)


def _is_part_of_name(token: Token) -> bool:
    if token.low in _NOT_NOUNS or token.low in _BETWEEN or token.low in _BORDERS:
        return False
    return token.text[0].isalnum() or token.text[0] in '`"'


def _joined_by(tokens: Sequence[Token], at: int) -> int:
    """Return the index of the "of" before a token, as in "latency of the search"."""
    place = at - 1 if tokens[at].low in _DETERMINERS else at
    return place if place >= 0 and tokens[place].low in _OF else -1


def _was_value(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token is the old value of a change: the 30 or the s of "from 30 s to 60 s"."""
    before = tokens[at - 1].low if at else ""
    if before == "from":
        return True
    return at > 1 and tokens[at - 1].number and tokens[at - 2].low == "from"


def _name(words: Sequence[Token], tokens: Sequence[Token]) -> Name:
    if not words:
        return Name(frozenset(), tokens[-1].end, 0)
    slot = slot_of(" ".join(word.text for word in words))
    if slot <= GENERIC:
        return Name(frozenset(), tokens[-1].end, 0)
    return Name(slot, words[0].start, words[-1].end)
