"""Sessions as lines: what stands where, and how old it is said to be."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from ollm_tui.core import clock
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.tui.browser.session_list import age_labels, session_choices
from ollm_tui.tui.kit.choice_list import Choice

NOW = datetime(2026, 11, 16, 12, 0).astimezone()


def summary(name: str, ago: timedelta, **fields: object) -> SessionSummary:
    at = clock.iso(NOW - ago)
    given: dict[str, object] = {"title": name, "project": "/home/me/uploader", "tags": ("work",)}
    return SessionSummary(
        session_id=f"{name}-0000-1111",
        start_time=at,
        last_activity=at,
        model="qwen",
        provider="ollama",
        message_count=2,
        token_count=10,
        **(given | fields),  # pyright: ignore[reportArgumentType] the fields of the test
    )


def test_pinned_ones_come_first_then_days_then_months() -> None:
    sessions = [
        summary("now", timedelta(seconds=3)),
        summary("morning", timedelta(hours=3)),
        summary("damaged", timedelta(hours=5), title="", damage="torn"),
        summary("yesterday", timedelta(days=1)),
        summary("star", timedelta(days=1, hours=1), pinned=True),
        summary("monday", timedelta(days=4)),
        summary("month", timedelta(days=10)),
        summary("autumn", timedelta(days=33)),
        summary("old", timedelta(days=400)),
    ]
    lines = session_choices(sessions, "now-0000-1111", NOW)
    assert [(line.mark, line.text, line.note) for line in lines] == [
        ("", "Pinned", ""),
        ("★", "star", "1d"),
        ("", "Today", ""),
        ("▸", "now", "now"),
        ("", "morning", "3h"),
        ("!", "Untitled", "5h"),
        ("", "Yesterday", ""),
        ("", "yesterday", "1d"),
        ("", "This week", ""),
        ("", "monday", "4d"),
        ("", "November", ""),
        ("", "month", "6 Nov"),
        ("", "October", ""),
        ("", "autumn", "14 Oct"),
        ("", "October 2025", ""),
        ("", "old", "12 Oct"),
    ]
    assert [line.heading for line in lines] == [not line.key for line in lines]


def test_a_session_is_found_by_model_project_tag_and_the_beginning_of_its_id() -> None:
    [_, line] = session_choices([summary("retry logic", timedelta())], None, NOW)
    assert line == Choice(
        "retry logic-0000-1111", "retry logic", "now", words="retry lo qwen uploader work"
    )


@pytest.mark.parametrize(
    ("ago", "label"),
    [
        (timedelta(minutes=-5), "now"),
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=1), "1m"),
        (timedelta(minutes=59, seconds=59), "59m"),
        (timedelta(hours=1), "1h"),
        (timedelta(hours=23, minutes=59), "23h"),
        (timedelta(days=1), "1d"),
        (timedelta(days=6, hours=23), "6d"),
        (timedelta(days=7), "9 Nov"),
        (timedelta(days=365), "Nov 2025"),
    ],
)
def test_ages_are_short(ago: timedelta, label: str) -> None:
    assert age_labels(NOW)(clock.iso(NOW - ago)) == label


@pytest.mark.parametrize("time", ("", "long ago", "0000-99-99T", "1970-xx-01"))
def test_a_time_that_is_none_has_no_age_and_stands_below(time: str) -> None:
    odd = summary("odd", timedelta())
    lines = session_choices([SessionSummary(odd.session_id, "odd", time, time, "", "", 0, 0)])
    assert {line.text for line in lines} <= {"Earlier", "odd", "Today"}
    assert lines[-1].note in ("", "now")
