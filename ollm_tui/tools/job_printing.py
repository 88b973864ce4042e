"""The output of a job as text: both streams in the order they arrive, and how the job ended."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable

from ollm_tui.core.job import Job, JobOutput, StreamPart
from ollm_tui.services.jobs.safe_text import without_cut_start
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.stream_redactor import StreamRedactor

HEAD_CHARACTERS = 200_000
TAIL_CHARACTERS = 800_000
"""How much is kept of the beginning and of the end of the output."""


class JobPrinting:
    """Joins both streams of one job. `read` returns what came after a byte offset of each.

    Secrets are hidden in each stream by itself: the other may print between two halves of one.
    """

    def __init__(self, read: Callable[[int, int], JobOutput], redactor: Redactor) -> None:
        self._read = read
        self._streams = _Stream(redactor), _Stream(redactor)
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
    """Makes text of one stream; a character, a control sequence or a secret may be cut anywhere."""

    def __init__(self, redactor: Redactor) -> None:
        self.end = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._redactor = StreamRedactor(redactor)

    def text_of(self, part: StreamPart, *, ended: bool) -> str:
        lost = part.start - self.end
        self.end = part.end
        before, data = "", part.data
        if lost > 0:
            before = f"{self._redactor.end()}[{lost:,} bytes came too fast to be kept]\n"
            # What is left of a secret whose beginning is lost could not be recognised.
            data = without_cut_start(data.decode("utf-8", "replace")).encode()
            self._decoder.reset()
        text = self._redactor.feed(self._decoder.decode(data, final=ended))
        return before + text + (self._redactor.end() if ended else "")


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
