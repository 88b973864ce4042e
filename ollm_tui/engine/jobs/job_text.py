"""The text of a job: its two streams joined in the order they arrived, without secrets, and how
it ended in words."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

from ollm_tui.core.intake import IntakeFilter
from ollm_tui.core.job import Job, JobOutput, StreamPart
from ollm_tui.services.jobs.safe_text import hidden, settled_part, without_cut_start
from ollm_tui.services.redaction.redactor import Redactor

MOST_TURNS = 2_000
"""How many changes between the two streams are remembered; what came before them is joined one
stream after the other."""
RECORDED_CHARACTERS = 20_000
"""How much of a job's text is recorded and given to a model; the jobs panel shows more."""
HEAD_SHARE = 4
"""One part in so many of a capped text is its beginning: errors stand at the end."""


class Arrivals:
    """The order in which the two streams of a job grew."""

    def __init__(self) -> None:
        self._turns: list[tuple[int, int]] = []

    def note(self, stdout_end: int, stderr_end: int) -> None:
        """Note the byte offsets where the streams end now. A stream that goes on alone takes one
        turn, however long."""
        last, before = [*reversed(self._turns[-2:]), (0, 0), (0, 0)][:2]
        only_stdout = stderr_end == last[1] == before[1]
        only_stderr = stdout_end == last[0] == before[0]
        if self._turns and (only_stdout or only_stderr):
            self._turns.pop()
        self._turns.append((stdout_end, stderr_end))
        del self._turns[:-MOST_TURNS]

    def joined(self, output: JobOutput, redactor: Redactor) -> str:
        """The text of both streams, without secrets and terminal controls."""
        ended = not output.job.running
        stdout = _pieces(output.stdout, [turn[0] for turn in self._turns], redactor, ended=ended)
        stderr = _pieces(output.stderr, [turn[1] for turn in self._turns], redactor, ended=ended)
        # Each stream by itself first: the other may have printed between two halves of a secret.
        pairs = zip(hidden(stdout, redactor), hidden(stderr, redactor), strict=True)
        text = _in_lines(piece for pair in pairs for piece in pair)
        # Then together: a secret may have been printed half to each.
        if any(stdout) and any(stderr):
            text = redactor.redact(text)
        return _cut_note(output) + text if text else ""


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


def _pieces(part: StreamPart, ends: Iterable[int], redactor: Redactor, *, ended: bool) -> list[str]:
    """The text of one stream, cut at byte offsets. A character or control sequence that is cut
    there belongs to the later piece."""
    whole = part.on_character_borders(ended=ended)
    data = whole.data if ended else settled_part(whole.data, redactor)
    decoder, intake = codecs.getincrementaldecoder("utf-8")("replace"), IntakeFilter()
    pieces: list[str] = []
    at = 0
    for end in ends:
        until = max(end - whole.start, at)
        pieces.append(intake.feed(decoder.decode(data[at:until])))
        at = until
    pieces.append(intake.feed(decoder.decode(data[at:], final=True)) + intake.finish())
    if whole.truncated:
        first = next((number for number, piece in enumerate(pieces) if piece), 0)
        pieces[first] = without_cut_start(pieces[first])
    return pieces


def _in_lines(pieces: Iterable[str]) -> str:
    """Join pieces that alternate between two streams; each change of stream begins a line."""
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
    """A line that says how much is missing at the start; empty if nothing is."""
    gone = sum(part.start for part in (output.stdout, output.stderr) if part.truncated)
    return f"[{gone:,} bytes before this are no longer kept]\n" if gone else ""
