"""Joining: what has the words and what means the same take turns, and neither pushes out."""

from __future__ import annotations

from ollm_tui.services.search.joining import BY_MEANING, joined
from ollm_tui.services.search.word_ranking import RankedMessage


def numbers(ranked: list[RankedMessage], near: dict[int, float]) -> list[int]:
    return [each.number for each in joined(ranked, near)]


def test_many_messages_with_the_words_do_not_push_out_the_nearest_in_meaning() -> None:
    ranked = [RankedMessage(number, 9.0 - number, 1.0) for number in range(20)]
    near = {100 + place: 0.4 - place / 100 for place in range(5)}
    first = numbers(ranked, near)[:10]
    assert first[0] == 0
    assert set(near) <= set(first)
    assert [each for each in first if each in near] == list(near)


def test_after_each_message_with_the_words_come_the_nearest_in_meaning() -> None:
    ranked = [RankedMessage(1, 3.0, 1.0), RankedMessage(2, 2.0, 0.6)]
    near = {7: 0.5, 8: 0.4, 9: 0.3}
    assert numbers(ranked, near) == [1, *list(near)[:BY_MEANING], 2, *list(near)[BY_MEANING:]]


def test_a_message_with_few_of_the_words_comes_last() -> None:
    ranked = [RankedMessage(1, 3.0, 0.2), RankedMessage(2, 2.0, 0.9)]
    assert numbers(ranked, {7: 0.3}) == [2, 7, 1]


def test_what_is_far_behind_the_nearest_is_left_out_unless_it_has_the_words() -> None:
    ranked = [RankedMessage(1, 3.0, 1.0)]
    assert numbers(ranked, {7: 0.8, 8: 0.5, 9: 0.3, 1: 0.25}) == [1, 7, 8]


def test_each_message_is_there_once_and_says_why() -> None:
    found = joined([RankedMessage(1, 3.0, 1.0), RankedMessage(2, 2.0, 1.0)], {1: 0.5, 3: 0.4})
    assert {each.number: each.why for each in found} == {1: "both", 3: "meaning", 2: "words"}
    assert len(found) == 3
