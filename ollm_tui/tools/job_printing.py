"""The output of a job as text: both streams in the order they arrive, and how the job ended."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable

from ollm_tui.core.intake import IntakeFilter
from ollm_tui.core.job import Job, JobOutput, StreamPart

HEAD_CHARACTERS = 200_000
TAIL_CHARACTERS = 800_000
"""How much is kept of the beginning and of the end of the output."""


class JobPrinting:
    """Joins both streams of one job. `read` returns what came after a byte offset of each."""

    def __init__(self, read: Callable[[int, int], JobOutput]) -> None:
        self._read = read
        self._streams = _Stream(), _Stream()
        self._kept = _HeadAndTail()
        self._last = -1

    def more(self, *, ended: bool = False) -> str:
        """Return what was printed since the last call; `ended` if nothing more will come."""
        output = self._read(self._streams[0].end, self._streams[1].end)
        pieces: list[str] = []
        for number, part in enumerate((output.stdout, output.stderr)):
            text = self._streams[number].text_of(part, ended=ended)
            if not text:
                continue
            # A line of one stream must not go on with words of the other.
            if self._last not in (-1, number) and not self._kept.ends_line:
                text = f"\n{text}"
            self._kept.add(text)
            self._last = number
            pieces.append(text)
        return "".join(pieces)

    @property
    def text(self) -> str:
        """All of the output, or its beginning and its end if it is long."""
        return self._kept.text


class _Stream:
    """Decodes one stream, where a character or an escape sequence may be cut between two parts."""

    def __init__(self) -> None:
        self.end = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._filter = IntakeFilter()

    def text_of(self, part: StreamPart, *, ended: bool) -> str:
        lost = part.start - self.end
        self.end = part.end
        text = self._filter.feed(self._decoder.decode(part.data, final=ended))
        if ended:
            text += self._filter.finish()
        return f"[{lost:,} bytes came too fast to be kept]\n{text}" if lost > 0 else text


class _HeadAndTail:
    """Keeps the beginning and the end of a long text, and counts what is left out between."""

    def __init__(self) -> None:
        self._head = ""
        self._tail = deque[str]()
        self._tail_length = 0
        self._left_out = 0
        self.ends_line = True

    def add(self, text: str) -> None:
        self.ends_line = text.endswith("\n")
        room = HEAD_CHARACTERS - len(self._head)
        self._head += text[:room]
        if text := text[room:]:
            self._tail.append(text)
            self._tail_length += len(text)
        while self._tail and self._tail_length - len(self._tail[0]) >= TAIL_CHARACTERS:
            gone = len(self._tail.popleft())
            self._tail_length -= gone
            self._left_out += gone

    @property
    def text(self) -> str:
        note = f"\n[… {self._left_out:,} characters are left out here …]\n"
        return self._head + note * bool(self._left_out) + "".join(self._tail)


def ending(job: Job) -> str:
    """Return how a job ended and how long it took, such as "exit 1 · 2.3 s"."""
    how = f"exit {job.exit_code}"
    if job.status in ("killed", "timeout") or job.exit_code is None:
        how = job.status
    took = "" if job.duration is None else _seconds(job.duration)
    return " · ".join(word for word in (how, took, job.note) if word)


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
