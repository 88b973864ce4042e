"""Tables of cases in one test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.cases import every, some


def test_all_cases_are_tried_and_each_that_fails_is_named() -> None:
    tried: list[tuple[int, str]] = []

    @every(("number", "word"), [(1, "one"), (2, "zwei"), (3, "three"), (4, "vier")])
    @every("case", ["as it is"])
    def is_english(number: int, word: str, case: str) -> None:
        tried.append((number, word))
        assert word in ("one", "three"), case

    with pytest.raises(ExceptionGroup) as failure:
        is_english()
    assert [number for number, _ in tried] == [1, 2, 3, 4]
    notes = [error.__notes__ for error in failure.value.exceptions]
    assert notes == [["case: (2, 'zwei')"], ["case: (4, 'vier')"]]


def test_a_table_without_cases_is_refused() -> None:
    with pytest.raises(AssertionError, match="no cases"):
        every("case", [])


def test_some_cases_are_usual_from_the_first_to_the_last_and_the_others_more() -> None:
    more = [bool(case.marks) if hasattr(case, "marks") else False for case in _cases(3, range(9))]
    assert [place for place, is_more in enumerate(more) if not is_more] == [0, 4, 8]
    assert not any(hasattr(case, "marks") for case in _cases(5, range(3)))
    assert [hasattr(case, "marks") for case in _cases(1, range(2))] == [False, True]


def test_marks_that_a_case_has_stay() -> None:
    *_, last = _cases(1, [1, pytest.param(2, marks=pytest.mark.slow, id="two")])
    assert [mark.name for mark in last.marks] == ["slow", "more"]
    assert last.id == "two"


def _cases(number: int, cases: Iterable[object]) -> list[Any]:
    _, table = some(number, "case", cases).mark.args
    return table
