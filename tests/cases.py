"""Many cases in one test, and some of many.

A test of its own costs a folder, an environment and words between processes: several times what a
case of a table takes, and there are thousands of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest
from _pytest.mark import ParameterSet

Test = Callable[..., None]


def every(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, for what leaves nothing behind: all cases are tried, and the
    failure names each one that does not hold."""
    table = list(cases)
    assert table, "no cases"

    def with_cases(test: Test) -> Test:
        assert not inspect.iscoroutinefunction(test), "it would not be waited for"

        @wraps(test)
        def all_of_them(**others: Any) -> None:
            failed: list[Exception] = []
            for case in table:
                values = (
                    {names: case} if isinstance(names, str) else dict(zip(names, case, strict=True))
                )
                try:
                    test(**values, **others)
                except Exception as error:
                    error.add_note(f"case: {case!r}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(table)} cases", failed)

        wanted = inspect.signature(test)
        given = (names,) if isinstance(names, str) else names
        others = [each for name, each in wanted.parameters.items() if name not in given]
        all_of_them.__signature__ = wanted.replace(parameters=others)  # type: ignore[attr-defined] pytest reads it
        return all_of_them

    return with_cases


def some(
    number: int,
    names: str | tuple[str, ...],
    cases: Iterable[Any],
    ids: Iterable[str] | Callable[[Any], object] | None = None,
) -> pytest.MarkDecorator:
    """Like `pytest.mark.parametrize`; `make test` takes so many of the cases, from the first to the
    last, and leaves the others to `make test-more`."""
    table = list(cases)
    last = len(table) - 1
    usual = {round(place * last / max(1, number - 1)) for place in range(number)}
    marked = [
        case if place in usual else _left_for_more(case, isinstance(names, tuple))
        for place, case in enumerate(table)
    ]
    return pytest.mark.parametrize(names, marked, ids=ids)


def _left_for_more(case: Any, has_several: bool) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return case._replace(marks=(*case.marks, pytest.mark.more))
    values = case if has_several else (case,)
    return pytest.param(*values, marks=pytest.mark.more)
