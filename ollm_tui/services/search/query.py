"""What is typed into a search, understood: words, phrases and filters. Any text is harmless."""

from __future__ import annotations

import re
from datetime import date
from typing import get_args

from ollm_tui.core.intake import clean
from ollm_tui.core.search import Query, Term
from ollm_tui.core.session.message import Role
from ollm_tui.services.search.periods import Period, period
from ollm_tui.services.search.question_words import shorter_search

MOST_TERMS = 24
LONGEST_TERM = 200
SHORT = 2
"""So few letters are a word of their own (go, c, os): as a beginning they are in everything."""
FILTERS = ("role", "model", "project", "before", "after", "in", "has", "is", "branch")
"""What may stand before a colon."""
FILTER_EXAMPLES = (
    "role:user model:qwen project:NAME before:2025-10 after:7d in:october "
    "has:tool is:pinned branch:other"
)
"""One of each, for whoever explains them."""

_FLAGS: dict[tuple[str, str], dict[str, bool]] = {
    ("has", "tool"): {"has_tool": True},
    ("has", "tools"): {"has_tool": True},
    ("is", "pinned"): {"pinned": True},
    ("branch", "current"): {"on_branch": True},
    ("branch", "other"): {"on_branch": False},
}
WORD = re.compile(r'(?:(?P<key>[a-zA-Z]+):)?(?:"(?P<quoted>[^"]*)(?P<end>"?)|(?P<plain>[^\s"]+))')
ROLES: dict[str, Role] = {
    **{role: role for role in get_args(Role)},
    "you": "user",
    "me": "user",
    "model": "assistant",
    "ai": "assistant",
    "tools": "tool",
}
_PUNCTUATION = ".,;:!?…'“”‘’«»()[]{}<>、。「」！？，：；（）"
"""What surrounds a word in a sentence and is not meant."""


def parse_query(text: str, *, today: date | None = None, typing: bool = False) -> Query:
    """Understand a search. With `typing` the last word may not be finished yet."""
    unfinished = typing and not text[-1:].isspace()
    text = " ".join(clean(text).split())
    query = Query()
    found: list[Term] = []
    for match in WORD.finditer(text):
        is_growing = unfinished and match.end() == len(text)
        key, value = (match["key"] or "").lower(), match["quoted"] or match["plain"] or ""
        narrower = narrowed(query, key, value, today) if key in FILTERS else None
        if narrower is not None:
            query = narrower
        elif not (is_growing and _begins_filter(match[0])):
            if key in FILTERS:
                query = _noted(query, f"{match[0]} is no filter, so it is looked for as text")
            found += _terms(match, is_growing, is_first=not found)
    if len(found) > MOST_TERMS:
        query = _noted(query, f"only the first {MOST_TERMS} words are looked for")
    if query == Query() and (shorter := shorter_search(text, today or date.today())):
        query = _noted(query, f"every word is looked for; shorter: {shorter}")
    return query._replace(terms=tuple(dict.fromkeys(found[:MOST_TERMS])))


def narrowed(query: Query, key: str, value: str, today: date | None = None) -> Query | None:
    """The query with one more filter, one of FILTERS; None if the value makes no sense for it."""
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
    """Spans of time narrow each other."""
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
    if match["quoted"] is not None:
        text = match["quoted"][:LONGEST_TERM].strip()
        before = [Term(f"{match['key']}:")] if match["key"] else []
        return before + ([Term(text, whole=bool(match["end"]))] if text else [])
    text = match[0][:LONGEST_TERM]
    text = text.strip(_PUNCTUATION) or text
    if len(text) > SHORT or not (text.isascii() and text.isalnum()):
        return [Term(text)]
    if is_growing and len(text) == SHORT:
        return [Term(text)]
    return [Term(text, whole=True)] if is_first or not is_growing else []


def _noted(query: Query, note: str) -> Query:
    return query._replace(notes=(*query.notes, note))
