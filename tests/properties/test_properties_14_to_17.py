"""Properties 14 to 17 of the seeds: what is a loop, and that a loop stops the turn."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_tui.core.loop import LoopFound
from ollm_tui.engine.loops.detector import LoopDetector
from ollm_tui.settings.schema import LoopDetection

EXAMPLES = settings(max_examples=150)

texts = st.text(max_size=60)
arguments = st.dictionaries(
    texts,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)
names = st.text(min_size=1, max_size=20)
thresholds = st.integers(2, 12)
calls = st.tuples(names, arguments)


def detector(threshold: int = 3, most: int = 50, *, strict: bool = False) -> LoopDetector:
    return LoopDetector(LoopDetection(repeat_threshold=threshold, max_turns=most, strict=strict))


@EXAMPLES
@given(calls, calls, thresholds, st.booleans())
def test_14_the_same_call_in_a_row_is_a_loop_at_the_threshold(
    call: tuple[str, dict[str, Any]], before: tuple[str, dict[str, Any]], times: int, strict: bool
) -> None:
    watched = detector(times, strict=strict)
    if before[0] != call[0]:
        assert watched.tool_called(*before) is None
    found = [watched.tool_called(*call) for _ in range(times)]
    assert found[:-1] == [None] * (times - 1)
    _is_told(found[-1], "repeated-tool", times)


@EXAMPLES
@given(calls, st.lists(texts, min_size=12, max_size=12), thresholds)
def test_14_in_strict_mode_whatever_the_results_are(
    call: tuple[str, dict[str, Any]], results: list[str], times: int
) -> None:
    watched = detector(times, strict=True)
    for result in results[: times - 1]:
        assert watched.tool_called(*call) is None
        watched.tool_answered(call[0], result)
        if watched.paused:
            return
    _is_told(watched.tool_called(*call), "repeated-tool", times)


@EXAMPLES
@given(calls, texts, st.booleans(), thresholds)
def test_14_with_the_same_result_it_is_one_in_every_mode(
    call: tuple[str, dict[str, Any]], result: str, is_error: bool, times: int
) -> None:
    watched = detector(times)
    for _ in range(2 * max(times, 31)):
        watched.tool_called(*call)
        watched.tool_answered(call[0], result, is_error=is_error)
    assert watched.paused
    assert watched.paused.type == "repeated-tool"


@EXAMPLES
@given(texts, thresholds, st.booleans())
def test_15_the_same_output_in_a_row_is_a_loop_at_the_threshold(
    text: str, times: int, strict: bool
) -> None:
    watched = detector(times, strict=strict)
    found = [watched.output(text) for _ in range(times)]
    assert found[:-1] == [None] * (times - 1)
    _is_told(found[-1], "repeated-output", times)


@EXAMPLES
@given(st.integers(1, 300), st.booleans())
def test_16_more_rounds_than_the_limit_are_a_loop(most: int, strict: bool) -> None:
    watched = detector(most=most, strict=strict)
    assert [watched.round() for _ in range(most)] == [None] * most
    _is_told(watched.round(), "turn-limit", most + 1)


@EXAMPLES
@given(calls, st.lists(st.tuples(calls, texts), max_size=6))
def test_17_a_loop_holds_everything_up_until_it_is_answered(
    call: tuple[str, dict[str, Any]], further: list[tuple[tuple[str, dict[str, Any]], str]]
) -> None:
    watched = detector()
    for _ in range(3):
        watched.tool_called(*call)
    paused = watched.paused
    _is_told(paused, "repeated-tool", 3)
    for other, text in further:
        told = (
            watched.round(),
            watched.tool_called(*other),
            watched.tool_answered(other[0], text),
            watched.delta(text),
            watched.output(text),
        )
        assert told == (paused,) * 5
    watched.go_on_once()
    assert watched.paused is None


def _is_told(found: LoopFound | None, kind: str, times: int) -> None:
    assert found
    assert (found.type, found.count) == (kind, times)
    assert found.evidence
    assert "\n" not in found.evidence
