"""What is found by some of its letters, and in which order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.services.files.fuzzy import PathIndex, rank

PATHS = (
    "README.md",
    "ollm_tui/core/errors.py",
    "ollm_tui/services/file_discovery/watcher.py",
    "ollm_tui/services/file_discovery/fuzzy.py",
    "ollm_tui/services/recording.py",
    "ollm_tui/storage/session_store.py",
    "ollm_tui/tui/app.py",
    "ollm_tui/tui/screens/chat.py",
    "ollm_tui/tui/widgets/ChatInput.tsx",
    "tests/services/test_recording.py",
    "tests/tui/test_app.py",
    "docs/apple/pie.md",
)


@pytest.mark.parametrize(
    ("query", "first"),
    (
        ("app", "ollm_tui/tui/app.py"),
        ("recording", "ollm_tui/services/recording.py"),
        ("testrec", "tests/services/test_recording.py"),
        ("fdw", "ollm_tui/services/file_discovery/watcher.py"),
        ("ss", "ollm_tui/storage/session_store.py"),
        ("ci", "ollm_tui/tui/widgets/ChatInput.tsx"),
        ("readme", "README.md"),
        ("screens/c", "ollm_tui/tui/screens/chat.py"),
        ("errpy", "ollm_tui/core/errors.py"),
    ),
)
def test_what_is_meant_comes_first(query: str, first: str) -> None:
    assert rank(query, PATHS, 3)[0].path == first


def test_nothing_typed_shows_the_shortest_paths() -> None:
    assert [match.path for match in rank("", PATHS, 2)] == ["README.md", "docs/apple/pie.md"]


def test_letters_that_are_not_there_in_this_order_find_nothing() -> None:
    assert rank("yp.ppa", PATHS, 5) == []


def test_the_positions_are_those_that_were_meant() -> None:
    (match,) = rank("fuzzy", PATHS, 1)
    assert match.positions == tuple(range(33, 38))
    (match,) = rank("chin", PATHS, 1)
    assert "".join(match.path[at] for at in match.positions) == "ChIn"


def test_equal_matches_come_the_shorter_first_then_by_alphabet() -> None:
    paths = ["b/x.py", "a/x.py", "longer/x.py"]
    assert [match.path for match in rank("x", paths, 9)] == ["a/x.py", "b/x.py", "longer/x.py"]


def test_the_order_of_the_paths_makes_no_difference() -> None:
    shuffled = random.Random(1).sample(PATHS, len(PATHS))
    assert rank("te", shuffled, 9) == rank("te", PATHS, 9)


def test_a_letter_that_is_longer_in_lower_case_keeps_its_place() -> None:
    (match,) = rank("x", ["İİ/x"], 1)
    assert match.positions == (3,)


queries = st.text("abA/._", min_size=1, max_size=5)
paths = st.lists(st.from_regex(r"\A[abA_.]{1,4}(/[abA_.]{1,4}){0,3}\Z"), unique=True, max_size=30)


@given(queries, paths)
def test_exactly_the_paths_with_all_letters_in_order_are_found(query: str, some: list[str]) -> None:
    def fits(path: str) -> bool:
        letters = iter(path.lower())
        return all(letter in letters for letter in query.lower())

    found = rank(query, some, 100)
    assert sorted(match.path for match in found) == sorted(filter(fits, some))
    for match in found:
        assert "".join(match.path[at] for at in match.positions).lower() == query.lower()
        assert list(match.positions) == sorted(set(match.positions))


@given(st.lists(queries, min_size=2, max_size=6), paths)
def test_typing_and_deleting_gives_the_same_as_asking_anew(
    asked: list[str], some: list[str]
) -> None:
    index = PathIndex(some)
    for query in asked:
        for end in (*range(len(query) + 1), *range(len(query), 0, -1)):
            assert index.rank(query[:end], 9) == rank(query[:end], some, 9)


def test_of_too_many_the_best_are_still_among_the_first() -> None:
    many = [f"a/{number}/target/other{number}.py" for number in range(5_000)]
    found = rank("target", [*many, "some/where/far/away/from/here/and/deep/target.py"], 5)
    assert found[0].path.endswith("target.py")
