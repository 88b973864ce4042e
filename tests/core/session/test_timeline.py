"""The timeline: how full the context was, and what stands where."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.loop import LoopRecord
from ollm_tui.core.session.message import Text
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.timeline import TimelineMark, timeline_of, tokens_at
from ollm_tui.core.snapshot import SnapshotSummary
from tests.tui.browser_samples import rich_session

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


def state() -> SessionState:
    return SessionState(rich_session(NOW))


def taken(key: str, minutes: int, *, name: str = "") -> SnapshotSummary:
    at = clock.iso(datetime(2026, 11, 16, 9, minutes, tzinfo=UTC))
    return SnapshotSummary(key, "s", at, name=name, reason="threshold")


def test_measured_tokens_are_told_and_others_are_about_as_much_more_as_they_are_long() -> None:
    tokens = timeline_of(state()).tokens
    assert [tokens[place] for place in (1, 3, 5)] == [900, 1400, 2600]
    assert tokens[0] == len(state()["q0"].text) // 4
    assert tokens[2] == 900 + len("Where does the budget belong?") // 4
    assert tokens_at(state(), "a4") == 2300


def test_another_answer_begins_where_its_question_ended() -> None:
    timeline = timeline_of(state())
    question, answer = timeline.tokens[4], timeline.tokens[6]
    assert answer == question + len("Write it down before the request is made.") // 4


def test_what_follows_a_compression_begins_with_what_it_left() -> None:
    plain = rich_session(NOW)
    unmeasured = [replace(each, usage=None) for each in plain.messages]
    timeline = timeline_of(SessionState(replace(plain, messages=tuple(unmeasured))))
    assert timeline.tokens[9] == 1500 + len("What now?") // 4


@pytest.mark.parametrize("marks", [("long",), ()], ids=["left out", "after going back"])
def test_a_message_that_was_too_long_for_any_model_does_not_fill_the_window(
    marks: tuple[str, ...],
) -> None:
    plain = rich_session(NOW)
    last = plain.messages[-1]
    long = replace(
        last, id="long", role="user", parts=(Text("word " * 20_000),), usage=None, parent_id=last.id
    )
    metadata = replace(plain.metadata, excluded=marks)
    session = replace(plain, messages=(*plain.messages, long), metadata=metadata, window=8192)
    timeline = timeline_of(SessionState(session))
    assert timeline.tokens[-1] == timeline.tokens[-2]
    assert max(timeline.tokens) <= 8192


def test_everything_that_happened_has_its_place() -> None:
    snapshots = (taken("one", 15), taken("two", 28, name="mine"))
    assert timeline_of(state(), snapshots).marks == (
        TimelineMark(4, "automatic", "one"),
        TimelineMark(7, "named", "two"),
        TimelineMark(9, "compression"),
        TimelineMark(10, "model"),
        TimelineMark(11, "restore"),
    )


def test_a_clock_that_went_back_moves_no_mark_to_the_front() -> None:
    plain = rich_session(NOW)
    early = replace(plain.messages[3], timestamp="2020-01-01T00:00:00.000000Z")
    odd = replace(plain, messages=(*plain.messages[:3], early, *plain.messages[4:]))
    assert timeline_of(SessionState(odd), [taken("one", 15)]).marks[0].place == 4


def test_where_the_model_repeated_itself_is_marked() -> None:
    plain = rich_session(NOW)
    at = clock.iso(datetime(2026, 11, 16, 9, 15, tzinfo=UTC))
    loop = LoopRecord(at, "repeated-tool", "called echo 3 times", 3, "stop")
    odd = replace(plain, metadata=replace(plain.metadata, loops=(loop,)))
    marks = timeline_of(SessionState(odd)).marks
    assert TimelineMark(4, "loop") in marks
