"""Queries: what is typed is understood, and nothing that can be typed does harm."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.search import Query, Term
from ollm_tui.core.session.message import Message, Text
from ollm_tui.services.search.query import MOST_TERMS, parse_query, period
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.cases import every
from tests.crash.samples import begin

TODAY = date(2026, 3, 14)


def local(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day).astimezone()


@every(
    ("text", "query"),
    (
        ("retries", Query((Term("retries"),))),
        ('"back off" retries', Query((Term("back off", whole=True, exact=True), Term("retries")))),
        ('"back off', Query((Term("back off", exact=True),))),
        ("retries -celery", Query((Term("retries"),), without=(Term("celery", True, True),))),
        ('-"back off" go-on', Query((Term("go-on"),), without=(Term("back off", True, True),))),
        ("role:user role:tool x1y", Query((Term("x1y"),), roles=("user", "tool"))),
        ("role:you MODEL:qwen", Query(roles=("user",), models=("qwen",))),
        ('project:"my work"', Query(projects=("my work",))),
        ("has:tool is:pinned branch:other", Query(has_tool=True, pinned=True, on_branch=False)),
        ("in:october", Query(after=local(2025, 10, 1), before=local(2025, 11, 1))),
        ("after:2026-02 before:2026-03", Query(after=local(2026, 2, 1), before=local(2026, 3, 1))),
        ("what about retries?", Query((Term("what"), Term("about"), Term("retries")))),
        ("c++ --flag", Query((Term("c++"), Term("--flag")))),
        ("go c", Query((Term("go", whole=True), Term("c", whole=True)))),
        ("http://a.example/x", Query((Term("http://a.example/x"),))),
        ("", Query()),
        ('"" " "', Query()),
    ),
)  # fmt: skip
def test_words_phrases_and_filters_are_told_apart(text: str, query: Query) -> None:
    assert parse_query(text, today=TODAY) == query


def test_a_filter_that_makes_no_sense_is_looked_for_as_text_and_told() -> None:
    query = parse_query("before:sometime role:boss")
    assert query.terms == (Term("before:sometime"), Term("role:boss"))
    assert len(query.notes) == 2
    assert query.notes[0].startswith("before:sometime is not a filter (before: takes 2025,")
    assert query.notes[1] == "role:boss is not a filter (role: takes user, assistant, system, tool)"


@pytest.mark.parametrize(
    ("typed", "terms"),
    (
        ("r", (Term("r", whole=True),)),
        ("re", (Term("re"),)),
        ("retries o", (Term("retries"),)),
        ("retries of", (Term("retries"), Term("of"))),
        ("retries of ", (Term("retries"), Term("of", whole=True))),
        ("retries role:", (Term("retries"),)),
        ("retries role:us", (Term("retries"),)),
    ),
)
def test_while_typing_what_is_not_finished_takes_nothing_away(
    typed: str, terms: tuple[Term, ...]
) -> None:
    assert parse_query(typed, typing=True) == Query(terms)


@pytest.mark.parametrize(
    ("text", "first", "end"),
    (
        ("2025", local(2025, 1, 1), local(2026, 1, 1)),
        ("2025-12", local(2025, 12, 1), local(2026, 1, 1)),
        ("2024-2-29", local(2024, 2, 29), local(2024, 3, 1)),
        ("mar", local(2026, 3, 1), local(2026, 4, 1)),
        ("April", local(2025, 4, 1), local(2025, 5, 1)),
        ("yesterday", local(2026, 3, 13), local(2026, 3, 14)),
        ("7d", local(2026, 3, 7), local(2026, 3, 15)),
    ),
)
def test_spans_of_time_are_those_people_mean(text: str, first: datetime, end: datetime) -> None:
    assert period(text, TODAY) == (first, end)


@pytest.mark.parametrize("text", ("", "2025-13", "2025-02-30", "0000", "9999", "ma", "soon", "7x"))
def test_what_is_no_span_of_time_is_none(text: str) -> None:
    assert period(text, TODAY) is None


@pytest.fixture
def history(tmp_path: Path) -> HistorySearch:
    """One message that has something of everything."""
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    words = 'SELECT * FROM users; -- it\'s 100% "done" 🚀 c++ NEAR(a b) AND OR NOT ^x col:umn'
    begin(library.store, "one", Message("m", "user", (Text(words),), "2025-10-14T12:00:00Z"))
    found = HistorySearch(library.store)
    found.refresh()
    return found


@pytest.mark.parametrize(
    "text",
    ("SELECT * FROM", "users; --", "it's", '"done"', "🚀", "c++", "NEAR(a", "AND OR NOT", "100%",
     "^x", "col:umn", "' OR 1=1", "*", "users SELECT", "NOT"),
)  # fmt: skip
def test_what_means_something_to_a_database_is_only_text(history: HistorySearch, text: str) -> None:
    results = list(history.search(parse_query(text), limit=10))
    expected = 0 if "1=1" in text else 1
    assert (results[-1].total, results[-1].others) == (expected, ())


@given(st.text(st.characters(exclude_categories=()), max_size=60) | st.text('"*^:(){}-+ aANDOR'))
def test_no_text_makes_a_search_fail(text: str) -> None:
    query = parse_query(text)
    history = HistorySearch(EMPTY.store)
    assert [results.total for results in history.search(query, limit=5)] == [0]
    history.close()


EMPTY = SessionLibrary.at(StoreLayout(Path("/nonexistent/sessions")))


def test_ten_kilobytes_are_cut_to_what_can_be_looked_for(history: HistorySearch) -> None:
    many = parse_query("word " * 2000)
    assert many.terms == (Term("word"),)
    assert len(parse_query(" ".join(map(str, range(1000, 3000)))).terms) == MOST_TERMS
    for text in ("x" * 10_000, "🚀" * 10_000, "q XOR (" * 1500, "日本" * 5000, "%_\\" * 3000):
        query = parse_query(text)
        assert [results.total for results in history.search(query, limit=5)] == [0]


@pytest.mark.parametrize(
    ("question", "shorter"),
    (
        ("where did I ask about retries in October?", "retries in:october role:user"),
        ("what was that about c++ templates since 2025-12", "c++ templates after:2025-12"),
        ("how do we use asyncio.gather", None),
        ("retry policy of the uploader", None),
        ('"where did you go about it"', None),
        ("where did you", None),
    ),
)
def test_a_question_is_told_the_search_that_answers_it(question: str, shorter: str | None) -> None:
    query = parse_query(question, today=TODAY, typing=True)
    told = (f"narrower: {shorter}",) if shorter else ()
    assert query.notes == told


def test_the_search_that_is_told_finds_what_was_asked(tmp_path: Path) -> None:
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    said = Text("How many retries does celery do?")
    begin(library.store, "one", Message("m", "user", (said,), "2025-10-09T09:31:00Z"))
    history = HistorySearch(library.store)
    history.refresh()
    asked = parse_query("where did I ask about retries in October?", today=TODAY)
    shorter = asked.notes[0].partition("narrower: ")[2]
    *_, found = history.search(parse_query(shorter, today=TODAY), limit=10)
    assert [hit.message_id for hit in found.hits] == ["m"]
    history.close()
