"""What a job did, in words and as one text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.job import Job, JobOutput, JobStatus, StreamPart
from ollm_tui.engine.jobs.job_text import RECORDED_CHARACTERS, Arrivals, capped, duration, ending
from ollm_tui.services.redaction.redactor import Redactor


def job(status: JobStatus = "completed", code: int | None = 0, note: str = "") -> Job:
    return Job(
        id="job-s-1",
        session_id="s",
        sequence=1,
        code="make",
        language="shell",
        cwd="/",
        background=False,
        started_at="2026-01-01T00:00:00.000000Z",
        pid=1,
        status=status,
        exit_code=code,
        duration=1400,
        note=note,
    )


def output(stdout: bytes, stderr: bytes = b"", start: int = 0) -> JobOutput:
    return JobOutput(job(), StreamPart(start, stdout, truncated=start > 0), StreamPart(0, stderr))


def test_streams_are_joined_in_the_order_they_came() -> None:
    order = Arrivals()
    for ends in ((4, 0), (4, 6), (9, 6)):
        order.note(*ends)
    assert order.joined(output(b"one\nfour\n", b"oops!\n"), Redactor()) == "one\noops!\nfour\n"


def test_a_stream_begins_a_line_where_the_other_had_not_ended_one() -> None:
    order = Arrivals()
    order.note(3, 3)
    assert order.joined(output(b"...", b"no\n"), Redactor()) == "...\nno\n"


def test_a_character_that_two_events_share_is_whole() -> None:
    order = Arrivals()
    order.note(1, 0)
    order.note(1, 2)
    order.note(3, 2)
    assert order.joined(output("é\n".encode(), b"x\n"), Redactor()) == "x\né\n"


def test_controls_that_two_events_share_are_gone() -> None:
    order = Arrivals()
    order.note(3, 0)
    assert order.joined(output(b"a\x1b[31mb"), Redactor()) == "ab"


def test_what_is_no_longer_kept_is_told() -> None:
    kept = Arrivals().joined(output(b"cut off\nend\n", start=500), Redactor())
    assert kept == "[500 bytes before this are no longer kept]\nend\n"
    assert Arrivals().joined(output(b"", start=500), Redactor()) == ""


@given(st.lists(st.tuples(st.booleans(), st.text("ab\n", min_size=1, max_size=5)), max_size=40))
def test_nothing_is_lost_or_doubled_whatever_the_order(printed: list[tuple[bool, str]]) -> None:
    order, streams = Arrivals(), [b"", b""]
    for to_stderr, text in printed:
        streams[to_stderr] += text.encode()
        order.note(len(streams[0]), len(streams[1]))
    joined = order.joined(output(streams[0], streams[1]), Redactor())
    plain = "".join(text for _, text in printed)
    assert joined.replace("\n", "") == plain.replace("\n", "")


def test_a_long_text_keeps_its_two_ends_and_says_so() -> None:
    text = "".join(f"line {number}\n" for number in range(10_000))
    short = capped(text)
    assert short.startswith("line 0\n") and short.endswith("line 9999\n")
    assert f"{len(text) - RECORDED_CHARACTERS:,} characters are left out" in short
    assert capped("short") == "short"


def test_endings_say_how_and_how_long() -> None:
    assert ending(job()) == "exit 0 · 1.4 s"
    assert ending(job("failed", 137, "ended by SIGKILL")) == "exit 137 · 1.4 s · ended by SIGKILL"
    assert ending(job("killed", 143)) == "killed · 1.4 s"
    assert ending(job("timeout", 143)) == "timeout · 1.4 s"
    assert ending(job("failed", None)) == "failed · 1.4 s"
    assert ending(job("running", None)) == "still running"


def test_durations_are_short() -> None:
    spans = (40, 1_400, 12_000, 200_000, 7_500_000)
    assert [duration(span) for span in spans] == [
        "40 ms",
        "1.4 s",
        "12 s",
        "3 min 20 s",
        "2 h 5 min",
    ]
