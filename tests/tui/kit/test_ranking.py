"""Ranking: what begins with the words typed comes first, what only has them hidden last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.tui.kit.ranking import Query, ranked

COMMANDS = (
    ("Time, model, tokens and speed of messages", "/details"),
    ("What fills the context", "show is the exact prompt"),
    ("Remodel the screen", ""),
    ("My other dear lists", ""),
    ("Model of the provider", ""),
    ("Sessions and snapshots", "go to any message, fork it or delete it"),
)


def found(typed: str) -> list[int]:
    return ranked(Query(typed), COMMANDS)


def test_titles_that_begin_come_before_words_parts_letters_and_hidden_text() -> None:
    assert found("model") == [4, 0, 2, 3]
    assert found("modl") == [0, 4, 3]
    assert found("delete") == [5]


def test_of_two_titles_with_the_word_the_shorter_comes_first() -> None:
    lines = (("Time and model of messages", ""), ("Choose the model", ""))
    assert ranked(Query("model"), lines) == [1, 0]


def test_letters_fit_in_their_order_from_the_beginning_of_a_word() -> None:
    assert found("ssn") == [5]
    assert found("nss") == []
    assert 3 in found("modl")


def test_the_words_may_stand_in_any_order() -> None:
    assert found("context what") == [1]


def test_nothing_typed_keeps_the_order() -> None:
    assert found("") == list(range(len(COMMANDS)))


def test_the_parts_that_fit_are_marked() -> None:
    assert Query("mod fr").spans("Mode from here") == [(0, 3), (5, 7)]
    assert Query("mfh").spans("Mode from here") == [(0, 1), (5, 6), (10, 11)]
    assert Query("i̇").spans("İstanbul") == []


@given(st.text(max_size=12), st.text(max_size=40))
def test_marks_are_inside_the_title_and_do_not_overlap(typed: str, title: str) -> None:
    end = 0
    for start, stop in Query(typed).spans(title):
        assert end <= start < stop <= len(title)
        end = stop
