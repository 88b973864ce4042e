"""Parses what is typed into a search: words, phrases, filters and periods of time.

Any text is a valid search: what is no filter is looked for as text.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import get_args

from ollm_tui.core.intake import clean
from ollm_tui.core.search import Query, Term
from ollm_tui.core.session.message import Role
from ollm_tui.services.search.snippets import SAYS_NOTHING, SHORTEST

MOST_TERMS = 24
LONGEST_TERM = 200
"""Characters of a term that are looked for."""
SHORT = 2
"""A term of so few letters (go, c, os) is a whole word: as a beginning it would fit everywhere."""
FILTERS = ("role", "model", "project", "before", "after", "in", "has", "is", "branch")
"""The keys of filters, which are typed before a colon."""
FILTER_EXAMPLES = (
    "role:user model:qwen project:NAME before:2025-10 after:7d in:october "
    "has:tool is:pinned branch:other"
)
"""An example of each filter, for help texts."""

_FLAGS: dict[tuple[str, str], dict[str, bool]] = {
    ("has", "tool"): {"has_tool": True},
    ("has", "tools"): {"has_tool": True},
    ("is", "pinned"): {"pinned": True},
    ("branch", "current"): {"on_branch": True},
    ("branch", "other"): {"on_branch": False},
}
"""Filters with fixed values, and the fields of the query that they set."""
WORD = re.compile(
    r'(?P<minus>-(?=["\w]))?(?:(?P<key>[a-zA-Z]+):)?'
    r'(?:"(?P<quoted>[^"]*)(?P<end>"?)|(?P<plain>[^\s"]+))'
)
ROLES: dict[str, Role] = {
    **{role: role for role in get_args(Role)},
    "you": "user",
    "me": "user",
    "model": "assistant",
    "ai": "assistant",
    "tools": "tool",
}
"""The roles by the names that may be typed for them."""
_PUNCTUATION = ".,;:!?…'“”‘’«»()[]{}<>、。「」！？，：；（）"
"""Marks around a word that belong to the sentence and are not looked for."""

PERIODS = ("in", "before", "after")
"""The keys of the filters about time."""

FROM = 3
"""A search with at least so many words that are in every text is a question."""
LONGEST = 200
"""A longer search (in characters) is not taken for a question."""
_TIMES = {"in": "in", "on": "in", "since": "after", "after": "after", "before": "before"}
_SAYING = frozenset(("ask", "asked", "say", "said", "write", "wrote", "mention", "mentioned"))
_WORD = re.compile(r"[^\W_][\w.+#/-]*")

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2}))?(?:[-/.](\d{1,2}))?")
_AGO = re.compile(r"(\d{1,4})(d|w|m|y)")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
EXAMPLES = "2025, 2025-10, 2025-10-14, october, today, yesterday, 7d"
"""The forms of a period that are understood, for help texts."""
VALUES = {
    "role": ", ".join(get_args(Role)),
    "model": "part of a name",
    "project": "a folder",
    **dict.fromkeys(PERIODS, EXAMPLES),
    **{key: ", ".join(value for name, value in _FLAGS if name == key) for key, _ in _FLAGS},
}
"""What each filter takes, in words."""

Period = tuple[datetime, datetime]
"""The first moment of a period, and the first one after it."""


def parse_query(text: str, *, today: date | None = None, typing: bool = False) -> Query:
    """Parse a search. With `typing` the last word may be unfinished.

    `today` is the day that periods such as `7d` refer to.
    """
    unfinished = typing and not text[-1:].isspace()
    text = " ".join(clean(text).split())
    query = Query()
    found: list[Term] = []
    for match in WORD.finditer(text):
        is_growing = unfinished and match.end() == len(text)
        if match["minus"]:
            query = query._replace(without=(*query.without, *_excluded(match)))
            continue
        key, value = (match["key"] or "").lower(), match["quoted"] or match["plain"] or ""
        narrower = narrowed(query, key, value, today) if key in FILTERS else None
        if narrower is not None:
            query = narrower
        # A filter that is still being typed is neither looked for as text nor noted.
        elif not (is_growing and _begins_filter(match[0])):
            if key in FILTERS:
                query = _noted(query, f"{match[0]} is not a filter ({key}: takes {VALUES[key]})")
            found += _terms(match, is_growing, is_first=not found)
    if len(found) > MOST_TERMS:
        query = _noted(query, f"only the first {MOST_TERMS} words are searched")
    if query == Query() and (shorter := shorter_search(text, today or date.today())):
        query = _noted(query, f"narrower: {shorter}")
    return query._replace(terms=tuple(dict.fromkeys(found[:MOST_TERMS])))


def narrowed(query: Query, key: str, value: str, today: date | None = None) -> Query | None:
    """Return the query with one more filter; None if the value is not valid for the key."""
    known = _FLAGS.get((key, value.lower()))
    if known:
        return query._replace(**known)
    match key:
        case "role" if role := ROLES.get(value.lower()):
            return query._replace(roles=(*query.roles, role))
        case "model" if value:
            return query._replace(models=(*query.models, value))
        case "project" if value:
            return query._replace(projects=(*query.projects, value))
        case "before" | "after" | "in":
            return _within(query, key, period(value, today or date.today()))
        case _:
            return None


def _within(query: Query, key: str, span: Period | None) -> Query | None:
    """Return the query within a period, too: filters about time narrow each other."""
    if span is None:
        return None
    after = [query.after] if query.after else []
    before = [query.before] if query.before else []
    if key != "before":
        after.append(span[0])
    if key != "after":
        before.append(span[0] if key == "before" else span[1])
    return query._replace(after=max(after, default=None), before=min(before, default=None))


def _begins_filter(text: str) -> bool:
    return text.partition(":")[0].lower() in FILTERS and ":" in text


def _terms(match: re.Match[str], is_growing: bool, is_first: bool) -> list[Term]:
    """Return the terms of a word or phrase that is no filter; there may be none."""
    if match["quoted"] is not None:
        text = match["quoted"][:LONGEST_TERM].strip()
        # A quote that is not closed yet is still being typed: its last word may go on.
        before = [Term(f"{match['key']}:")] if match["key"] else []
        return before + ([Term(text, whole=bool(match["end"]), exact=True)] if text else [])
    text = match[0][:LONGEST_TERM]
    text = text.strip(_PUNCTUATION) or text
    if len(text) > SHORT or not (text.isascii() and text.isalnum()):
        return [Term(text)]
    if is_growing and len(text) == SHORT:
        return [Term(text)]
    # A single letter that is being typed narrows nothing, unless it is the whole search.
    return [Term(text, whole=True)] if is_first or not is_growing else []


def _excluded(match: re.Match[str]) -> list[Term]:
    """Return what messages must not have: a word, a beginning of a word with *, or a phrase."""
    text = match["quoted"] if match["quoted"] is not None else match[0].removeprefix("-")
    text = text[:LONGEST_TERM].strip().strip(_PUNCTUATION)
    is_beginning = text.endswith("*")
    text = text.rstrip("*")
    return [Term(text, whole=not is_beginning, exact=True)] if text else []


def _noted(query: Query, note: str) -> Query:
    return query._replace(notes=(*query.notes, note))


def filter_word(key: str, value: str) -> str:
    """Return a filter as it is typed, in quotes if the value has blanks."""
    plain = value.replace('"', "")
    return f'{key}:"{plain}"' if re.search(r"\s", plain) else f"{key}:{plain}"


def has_filter(text: str, word: str) -> bool:
    """Return whether a text has a filter, however it is spelled."""
    meaning = _meaning(word)
    return any(_meaning(match[0]) == meaning for match in WORD.finditer(text))


def toggled(text: str, word: str) -> str:
    """Return the text with a filter added, or removed if it is there."""
    meaning = _meaning(word)
    kept = [match[0] for match in WORD.finditer(text) if _meaning(match[0]) != meaning]
    return " ".join(kept if has_filter(text, word) else [*kept, word])


def within(text: str, *words: str) -> str:
    """Return the text with `words` in place of its filters about time."""
    kept = [match[0] for match in WORD.finditer(text) if _meaning(match[0])[0] not in PERIODS]
    return " ".join((*kept, *words))


def _meaning(word: str) -> tuple[str, str]:
    """Return key and value of a filter in one spelling; another word as value without a key."""
    match = WORD.fullmatch(word)
    key = (match["key"] or "").lower() if match else ""
    if match is None or key not in FILTERS:
        return "", word
    value = (match["quoted"] or match["plain"] or "").lower()
    return key, ROLES.get(value, value) if key == "role" else value


def shorter_search(text: str, today: date) -> str | None:
    """Return a search for the words that matter in a question.

    With a filter for the time it names, and `role:user` if it asks what the user said. None if
    it names none of these, is no question, or nothing is left to look for.
    """
    # A text with quotes was not typed as a question.
    if len(text) > LONGEST or '"' in text:
        return None
    words = [word.rstrip(".") for word in _WORD.findall(text.lower())]
    if sum(word in SAYS_NOTHING for word in words) < FROM:
        return None
    telling: list[str] = []
    filters: list[str] = ["role:user"] if "i" in words and _SAYING.intersection(words) else []
    for before, word in zip(("", *words), words, strict=False):
        if before in _TIMES and period(word, today):
            filters.insert(0, f"{_TIMES[before]}:{word}")
        elif len(word) >= SHORTEST and word not in SAYS_NOTHING | _SAYING | _TIMES.keys():
            telling.append(word)
    return " ".join((*dict.fromkeys(telling), *filters)) if telling and filters else None


def period(text: str, today: date) -> Period | None:
    """Return the period that a text names, in the local time zone; None if it names none."""
    text = text.strip().lower()
    try:
        days = _calendar(text) or _month(text, today) or _recent(text, today)
        return days and (_begin(days[0]), _begin(days[1]))
    except (ValueError, OverflowError):
        return None  # no such day: the 31st of February, the year 0


def _calendar(text: str) -> tuple[date, date] | None:
    match = _DATE.fullmatch(text)
    if not match:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    assert year is not None
    if month is None:
        return date(year, 1, 1), date(year + 1, 1, 1)
    if day is None:
        return date(year, month, 1), _next_month(date(year, month, 1))
    first = date(year, month, day)
    return first, first + timedelta(days=1)


def _month(text: str, today: date) -> tuple[date, date] | None:
    """Return a month given by its name, or its first three letters or more.

    It is the last such month that has begun.
    """
    found = [number for number, name in enumerate(_MONTHS, 1) if name.startswith(text)]
    if len(text) < 3 or not found:
        return None
    first = date(today.year - (found[0] > today.month), found[0], 1)
    return first, _next_month(first)


def _recent(text: str, today: date) -> tuple[date, date] | None:
    tomorrow = today + timedelta(days=1)
    if text == "today":
        return today, tomorrow
    if text == "yesterday":
        return today - timedelta(days=1), today
    if match := _AGO.fullmatch(text):
        return today - timedelta(days=int(match[1]) * _DAYS[match[2]]), tomorrow
    return None


def _next_month(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)  # no month has more than 31 days


def _begin(day: date) -> datetime:
    return datetime.combine(day, time()).astimezone()
