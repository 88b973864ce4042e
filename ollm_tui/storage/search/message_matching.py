"""A query as SQL: which messages of the search index match it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ollm_tui.core.search import Query, Term, Where

TOKENIZER = "unicode61 remove_diacritics 2"
"""The tokenizer of FTS5: words are runs of letters and digits, without case and accents."""

SLACK_SECONDS = 3600
"""By how many seconds a number may be later than its time; more is noted with the session."""
MODEL = "iif(m.model = '', s.model, m.model)"
"""The model of a message, or that of its session where it has none of its own."""
RANKED_FROM = 3
"""Letters a prefix needs for its matches to be ranked by relevance."""
_LITERALLY = "(" + " OR ".join(f"t.{name} LIKE ? ESCAPE '\\'" for name in
                               ("asked", "said", "aside", "tools")) + ")"  # fmt: skip
_AMONG_WORDS = "m.number IN (SELECT rowid FROM words WHERE words MATCH ?)"

# Scripts that put no spaces between words, and Korean, whose words grow endings: each character
# counts as a word there, so that any part of a sentence is found.
_UNSPACED = re.compile(
    "([\u0e00-\u0edf\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])"
)


class Condition(NamedTuple):
    """A part of a WHERE clause and its values."""

    sql: str
    values: tuple[object, ...] = ()


class Source(NamedTuple):
    """FROM and WHERE of a statement: m are the messages, s their sessions, t their texts."""

    sql: str
    values: tuple[object, ...]
    number: str
    """The column to order by: with it, newest first needs no sorting."""
    has_rank: bool
    """Whether matches can be ranked by relevance in a way that means something."""


def source_of(
    query: Query,
    where: Where,
    slack: int = SLACK_SECONDS,
    *,
    with_messages: bool = False,
    any_of: Sequence[Term] = (),
) -> Source:
    """Return the source of the messages that match a query; tables it does not need are left out.

    With `any_of`, they also have one of these terms. The joins are CROSS joins because SQLite
    keeps their order.
    """
    match = match_expression(query.terms) if where == "words" else ""
    if any_of:
        either = " OR ".join(map(_phrase, any_of))
        match = f"({match}) AND ({either})" if match else either
    conditions = _filters(query)
    number = "words.rowid" if match else "m.number"
    conditions += _range(query, number, slack)
    conditions += _texts(query.terms, where)
    conditions += [_lacking(term, number) for term in query.without]
    asked = " ".join(condition.sql for condition in conditions)
    tables = "messages m"
    if match:
        conditions.insert(0, Condition("words MATCH ?", (match,)))
        tables = "words"
        if with_messages or re.search(r"\b[ms]\.", asked):
            tables += " CROSS JOIN messages m ON m.number = words.rowid"
    if re.search(r"\bs\.", asked):
        tables += " CROSS JOIN sessions s ON s.number = m.session"
    if re.search(r"\bt\.", asked):
        tables += f" CROSS JOIN texts t ON t.number = {number}"
    sql = f"FROM {tables} WHERE " + (" AND ".join(each.sql for each in conditions) or "1")
    values = tuple(value for condition in conditions for value in condition.values)
    return Source(sql, values, number, bool(match) and not any(map(_is_vague, query.terms)))


def match_expression(terms: tuple[Term, ...]) -> str:
    """Return the query for FTS5."""
    # Every term is quoted: inside quotes nothing but a quote has a meaning for FTS5.
    return " ".join(_phrase(term) for term in terms if term.has_word)


def like_pattern(term: Term) -> str:
    """Return the pattern for LIKE, with a backslash before characters that have a meaning there."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", term.text) + "%"


def as_words(text: str) -> str:
    """Put spaces around each character that counts as a word."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def has_unspaced(text: str) -> bool:
    """Whether a text has characters that count as words."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def is_unspaced(text: str) -> bool:
    """Whether a text begins with a character that counts as a word."""
    return _UNSPACED.match(text) is not None


def microseconds(moment: datetime) -> int:
    """Convert a moment to microseconds since 1970."""
    return round(moment.timestamp() * 1_000_000)


def _is_vague(term: Term) -> bool:
    """Whether a term is a prefix of so many words that ranking its matches says nothing."""
    return len(term.text) < RANKED_FROM and term.text.isascii() and not term.whole


def _texts(terms: tuple[Term, ...], where: Where) -> list[Condition]:
    if where == "words":
        return [_literally(term) for term in terms if term.is_literal]
    return [_anywhere(term) for term in terms]


def _lacking(term: Term, number: str) -> Condition:
    """Match what does not have a term: literally, where it has no word."""
    if not term.has_word:
        lacks = _literally(term)
        return Condition(f"NOT {lacks.sql}", lacks.values)
    lacks = f"{number} NOT IN (SELECT rowid FROM words WHERE words MATCH ?)"
    return Condition(lacks, (match_expression((term,)),))


def _literally(term: Term) -> Condition:
    return Condition(_LITERALLY, (like_pattern(term),) * 4)


def _anywhere(term: Term) -> Condition:
    """Match a term as a word, or literally in the middle of one."""
    ways: list[Condition] = []
    if term.has_word and not term.is_literal:
        ways.append(Condition(_AMONG_WORDS, (match_expression((term,)),)))
    if term.may_stand_inside:
        ways.append(_literally(term))
    values = tuple(value for way in ways for value in way.values)
    return Condition("(" + " OR ".join(way.sql for way in ways) + ")", values)


def _range(query: Query, number: str, slack: int) -> list[Condition]:
    # The number narrows the rows to be read, the exact time decides.
    found: list[Condition] = []
    if query.after:
        at = microseconds(query.after)
        found.append(Condition(f"{number} >= ? AND m.at >= ?", (max(0, at // 1_000_000), at)))
    if query.before:
        at = microseconds(query.before)
        latest = max(0, at // 1_000_000) + slack
        found.append(Condition(f"{number} <= ? AND m.at < ?", (latest, at)))
    return found


def _filters(query: Query) -> list[Condition]:
    found: list[Condition] = []
    if query.roles:
        marks = ", ".join("?" * len(query.roles))
        found.append(Condition(f"m.role IN ({marks})", query.roles))
    if query.models:
        found.append(_any_of(f"{MODEL} LIKE ? ESCAPE '\\'", query.models))
    if query.projects:
        found.append(_projects(query.projects))
    flags = {
        "m.has_tool": query.has_tool,
        "(m.pinned OR s.pinned)": query.pinned,
        "m.on_branch": query.on_branch,
    }
    found += [
        Condition(f"{column} = {int(value)}")
        for column, value in flags.items()
        if value is not None
    ]
    return found


def _any_of(sql: str, names: tuple[str, ...]) -> Condition:
    patterns = tuple(like_pattern(Term(name)) for name in names)
    return Condition("(" + " OR ".join([sql] * len(names)) + ")", patterns)


def _projects(names: tuple[str, ...]) -> Condition:
    """Match a folder, the folders in it, or any folder of that name."""
    one = "(s.project = ? OR s.project LIKE ? ESCAPE '\\' OR s.project LIKE ? ESCAPE '\\')"
    values: list[object] = []
    for name in names:
        folder = name.rstrip("/") or "/"
        inner = like_pattern(Term(folder.rstrip("/")))[1:-1]
        values += [folder, f"{inner}/%", f"%/{inner}"]
    return Condition("(" + " OR ".join([one] * len(names)) + ")", tuple(values))


def _phrase(term: Term) -> str:
    quoted = as_words(term.text).replace('"', '""')
    ends = term.whole or not term.text[-1:].isalnum()
    return f'"{quoted}"' + ("" if ends else "*")
