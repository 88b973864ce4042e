"""The words of an answer come out the same, however it is cut, as JSON or as plain text."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.intake import clean
from ollm_tui.engine.compression.summary.summariser import SummaryAnswer

cuts = st.lists(st.integers(0, 300), max_size=12)


def read(text: str, places: list[int]) -> str:
    answer = SummaryAnswer()
    borders = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    words = [answer.feed(text[a:b]) for a, b in pairwise(borders)]
    words.append(answer.finish())
    assert "".join(words) == answer.text
    return answer.text


@given(st.text(max_size=200), cuts, st.booleans(), st.sampled_from(("", "```json\n", "\n ")))
def test_json_gives_the_words_of_its_string(
    words: str, places: list[int], ascii_only: bool, before: str
) -> None:
    text = before + json.dumps({"summary": words}, ensure_ascii=ascii_only, indent=2) + "\n```"
    assert read(text, places) == clean(words.replace("\b", "").replace("\f", ""))


@given(st.text(max_size=200).filter(lambda text: '"summary"' not in text), cuts)
def test_plain_text_comes_as_it_is(text: str, places: list[int]) -> None:
    assert read(text, places) == clean(text)


def test_json_that_breaks_off_gives_what_there_was() -> None:
    assert read('{"summary": "one\\ntwo \\u00', [5, 20]) == "one\ntwo "


def test_broken_escapes_cost_nothing_but_themselves() -> None:
    assert read('{"summary": "a\\u12 b\\x c"} d', []) == "a bx c"


def test_words_arrive_before_the_string_ends() -> None:
    answer = SummaryAnswer()
    assert answer.feed('{"summ') == ""
    assert answer.feed('ary": "The user') == "The user"
    assert answer.feed(" wants\\u00") == " wants"
    assert answer.feed('e9 tea", "x": 1}') == "é tea"


def test_other_json_is_plain_text() -> None:
    assert read('{"title": "x"}', [3]) == '{"title": "x"}'


def test_an_escape_sequence_split_over_chunks_is_removed() -> None:
    assert read('{"summary": "a\\u001b]52;c;aGk=\\u0007b"}', list(range(40))) == "ab"
