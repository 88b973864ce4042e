"""What a job did, in words and as one text: both streams in the order they arrived."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

from ollm_tui.core.intake import IntakeFilter
from ollm_tui.core.job import Job, JobOutput, StreamPart

MOST_TURNS = 2_000
"""Of the two streams; what came before the last of them is joined one stream after the other."""
RECORDED_CHARACTERS = 20_000
"""Kept in the session, and given to a model; the panel has more for as long as the program runs."""
HEAD_SHARE = 4
"""A fourth of what is kept is the beginning: errors stand at the end."""


class Arrivals:
    """When which stream of a job grew."""

    def __init__(self) -> None:
        self._turns: list[tuple[int, int]] = []

    def note(self, stdout_end: int, stderr_end: int) -> None:
        """The streams end here now. A stream that goes on alone takes one turn, however long."""
        last, before = [*reversed(self._turns[-2:]), (0, 0), (0, 0)][:2]
        only_stdout = stderr_end == last[1] == before[1]
        only_stderr = stdout_end == last[0] == before[0]
        if self._turns and (only_stdout or only_stderr):
            self._turns.pop()
        self._turns.append((stdout_end, stderr_end))
        del self._turns[:-MOST_TURNS]

    def joined(self, output: JobOutput) -> str:
        """The text of both streams, without anything that steers a terminal."""
        stdout, stderr = _Reading(output.stdout), _Reading(output.stderr)
        pieces: list[str] = []
        for stdout_end, stderr_end in self._turns:
            pieces += (stdout.up_to(stdout_end), stderr.up_to(stderr_end))
        text = _in_lines((*pieces, stdout.rest(), stderr.rest()))
        return _cut_note(output) + text if text else ""


class _Reading:
    """Reads one stream piece by piece: a character may be cut between two of them."""

    def __init__(self, part: StreamPart) -> None:
        whole = part.on_character_borders(ended=True)
        self._data = whole.data
        self._start = whole.start
        self._at = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._filter = IntakeFilter()

    def up_to(self, end: int) -> str:
        data = self._data[self._at : max(end - self._start, self._at)]
        self._at += len(data)
        return self._filter.feed(self._decoder.decode(data))

    def rest(self) -> str:
        text = self._decoder.decode(self._data[self._at :], final=True)
        return self._filter.feed(text) + self._filter.finish()


def _in_lines(pieces: Iterable[str]) -> str:
    """Pieces of two streams by turns; where the other one goes on, it begins a line."""
    joined: list[str] = []
    last = -1
    for number, piece in enumerate(pieces):
        if not piece:
            continue
        if joined and number % 2 != last and not joined[-1].endswith("\n"):
            joined.append("\n")
        joined.append(piece)
        last = number % 2
    return "".join(joined)


def _cut_note(output: JobOutput) -> str:
    gone = sum(part.start for part in (output.stdout, output.stderr) if part.truncated)
    return f"[{gone:,} bytes before this are no longer kept]\n" if gone else ""


def capped(text: str, most: int = RECORDED_CHARACTERS) -> str:
    """The beginning and the end of a text, and a line that says how much is left out."""
    if len(text) <= most:
        return text
    head = most // HEAD_SHARE
    note = f"\n[… {len(text) - most:,} characters are left out here …]\n"
    return f"{text[:head]}{note}{text[head - most :]}"


def ending(job: Job) -> str:
    """How a job ended and how long it took, in a few words."""
    if job.running:
        return "still running"
    how = job.status if job.status in ("killed", "timeout") else f"exit {job.exit_code}"
    if job.exit_code is None:
        how = job.status
    took = "" if job.duration is None else duration(job.duration)
    return " · ".join(part for part in (how, took, job.note) if part)


def duration(milliseconds: float) -> str:
    """A time span: 40 ms, 1.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    seconds = max(milliseconds, 0) / 1000
    if seconds < 1:
        return f"{max(milliseconds, 0):.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
