"""A timeline in cells: it fits, its peaks are seen, and the selected snapshot is always there."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.timeline import timeline_of
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.tui.browser.timeline_strip import MARKS, drawing
from tests.snapshot_samples import message
from tests.tui.browser_samples import WINDOW, rich_session

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


def state() -> SessionState:
    return SessionState(rich_session(NOW))


def test_the_drawing_fits_and_the_selected_snapshot_is_always_there() -> None:
    at = "2026-11-16T09:15:00.000000Z"
    snapshots = [SnapshotSummary(str(number), "s", at, reason="mode") for number in range(20)]
    timeline = timeline_of(state(), snapshots)
    assert timeline.window == WINDOW
    for width in (1, 5, 11, 30, 200):
        drawn = drawing(timeline, width, "17")
        assert len(drawn.curve) == len(drawn.marks) <= width
        assert any(mark and mark.key == "17" for mark in drawn.marks)


def test_the_curve_is_as_high_as_the_window_is_full() -> None:
    drawn = drawing(timeline_of(state()), 11)
    assert drawn.curve[0] == "▁" and drawn.curve[8] == "▇"
    assert [MARKS[mark.kind] if mark else " " for mark in drawn.marks].count("⤓") == 1


def test_nothing_said_is_nothing_drawn() -> None:
    empty = SessionState(replace(rich_session(NOW), messages=(), head=None))
    assert drawing(timeline_of(empty), 40).curve == ""
    assert drawing(timeline_of(SessionState(rich_session(NOW))), 0).curve == ""


def test_a_very_long_session_is_drawn_by_its_peaks() -> None:
    session = rich_session(NOW)
    many = [message(f"m{number}", "user") for number in range(1000)]
    long = SessionState(replace(session, messages=(*session.messages, *many), head="m999"))
    assert "▇" in drawing(timeline_of(long), 20).curve
