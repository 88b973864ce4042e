"""Thinking between <think> tags, cut into chunks anywhere."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.provider import ReasoningDelta, StreamEvent, TextDelta
from ollm_tui.providers.wire.think_tags import ThinkTagSplitter
from tests.cases import every
from tests.stand_ins.collected_events import joined


def split(*chunks: str) -> list[StreamEvent]:
    splitter = ThinkTagSplitter()
    events: list[StreamEvent] = [delta for chunk in chunks for delta in splitter.feed(chunk)]
    return joined([*events, *splitter.finish()])


PIECES = ["<think>", "</think>", "<", "thi", "nk>", "</", ">", " ", "\n", "a", "words "]


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.lists(st.integers(0, 60), max_size=12))
def test_the_cuts_make_no_difference(pieces: list[str], places: list[int]) -> None:
    text = "".join(pieces)
    edges = [0, *sorted(p % (len(text) + 1) for p in places), len(text)]
    chunks = [text[a:b] for a, b in pairwise(edges)]
    assert split(*chunks) == split(text)
    assert split(*text) == split(text)


@given(st.text(alphabet="abc< \n", min_size=1))
def test_text_without_tags_stays_as_it_is(text: str) -> None:
    assert split(*text) == [TextDelta(text)]


@every(
    ("text", "events"),
    [
        ("<think>\nhm\n</think>\n\nYes.", [ReasoningDelta("hm\n"), TextDelta("Yes.")]),
        ("\n <think>hm</think>Yes.", [ReasoningDelta("hm"), TextDelta("Yes.")]),
        ("<think>\n\n</think>\n\nYes.", [TextDelta("Yes.")]),
        ("<think>a</think><think>b</think>c", [ReasoningDelta("ab"), TextDelta("c")]),
        ("<think>never closed", [ReasoningDelta("never closed")]),
        ("<think>a < b </thin", [ReasoningDelta("a < b </thin")]),
        ("Write <think> first.", [TextDelta("Write <think> first.")]),
        ("no </think> here", [TextDelta("no </think> here")]),
        ("<thinker>", [TextDelta("<thinker>")]),
        ("<thi", [TextDelta("<thi")]),
        ("  leading", [TextDelta("  leading")]),
        ("", []),
    ],
)
def test_thinking_is_parted_from_the_answer(text: str, events: list[StreamEvent]) -> None:
    assert split(text) == events


def test_words_come_at_once_when_no_tag_can_follow() -> None:
    splitter = ThinkTagSplitter()
    assert splitter.feed("Hi <") == [TextDelta("Hi <")]
