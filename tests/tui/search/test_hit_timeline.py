"""Days in spans: the shortest that fit, none left out, each narrowing to exactly its days."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.services.search.query import parse_query
from ollm_tui.tui.search.hit_timeline import DateSpan, date_spans

DAYS = st.dictionaries(st.dates(date(1990, 1, 1), date(2040, 1, 1)), st.integers(1, 50), min_size=1)


@given(DAYS, st.integers(60, 300))
def test_every_hit_is_in_one_span_and_there_are_not_too_many(
    days: dict[date, int], room: int
) -> None:
    spans = date_spans(sorted(days.items()), room)
    assert len(spans) <= room
    assert sum(span.hits for span in spans) == sum(days.values())
    for before, after in pairwise(spans):
        assert before.last + timedelta(days=1) == after.first


@given(DAYS, st.integers(60, 300))
def test_the_words_of_a_span_narrow_to_its_days(days: dict[date, int], room: int) -> None:
    for span in date_spans(sorted(days.items()), room)[:40]:
        query = parse_query(" ".join(span.words))
        assert query.after and query.before
        assert query.after.date() == span.first
        assert (query.before - timedelta(hours=1)).date() == span.last


def test_a_few_days_are_shown_by_day_and_years_by_month() -> None:
    near = date_spans([(date(2025, 10, 1), 1), (date(2025, 10, 9), 2)], 60)
    assert [span.hits for span in near] == [1, 0, 0, 0, 0, 0, 0, 0, 2]
    far = date_spans([(date(2022, 1, 5), 1), (date(2025, 12, 31), 2)], 60)
    assert far[0] == DateSpan("month", date(2022, 1, 1), 1)
    assert far[-1].words == ("in:2025-12",)


def test_a_clock_that_was_wrong_by_millennia_does_no_harm() -> None:
    spans = date_spans([(date.min, 1), (date(2025, 1, 1), 1), (date.max, 1)], 60)
    assert len(spans) == 60
    assert date_spans([(date.max, 3)], 60)[0].hits == 3
    assert date_spans((), 60) == ()
