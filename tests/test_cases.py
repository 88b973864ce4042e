"""Tables of cases in one test."""

from __future__ import annotations

import pytest

from tests.cases import every


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
