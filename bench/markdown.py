"""Growing Markdown: what a chunk costs late in a long answer, against what it costs early."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from itertools import count

from bench.measure import Outcome, Promise, interleaved, milliseconds
from ollm_tui.tui.markdown.styles import default_dark
from ollm_tui.tui.markdown.text import MarkdownText

EARLY, LATE = 500, 20_000
CHUNKS = 60
"""How many chunks are measured at each place."""
CHUNK_CHARACTERS, TOKEN_CHARACTERS = 40, 4
WIDTH = 100
ROUNDS = 7
LONG_TOKENS = 100_000
MEGABYTES = 25
RESIZED_LINES, RESIZE_SECONDS = 10_000, 0.15

SUBJECTS = (
    "mixed text",
    "one paragraph",
    "one code block",
    "one line of code",
    "one table",
    "one list",
    "one nested list",
    "one quote",
)
PROMISES = tuple(
    Promise(f"a chunk of {what} at {LATE:,} tokens", f"at {EARLY} tokens", 1.3) for what in SUBJECTS
)

_SENTENCE = (
    "The *budget* belongs to the job, not to the request, and `Retry-After` wins over your own "
    "**schedule** whenever the server sends one. "
)
_CODE = '''    def delay(self, attempt: int) -> float:
        """Full jitter, so that clients spread."""
        return min(self.cap, self.base * 2 ** attempt) * random()  # number {0}

'''


def main() -> list[Outcome]:
    """Measure each kind of text, then memory and resizing for information."""
    outcomes: list[Outcome] = []
    for what, promise in zip(SUBJECTS, PROMISES, strict=True):
        early, late = _cost_of_chunks(_source(what, LATE + 2 * CHUNKS * 10))
        print(f"{what}: {milliseconds(early)} a chunk at {EARLY}, {milliseconds(late)} at {LATE:,}")
        outcomes.append(Outcome(promise, late / early))
    _print_memory()
    _print_resize()
    return outcomes


def _cost_of_chunks(source: str) -> tuple[float, float]:
    """The least seconds of a chunk, early and late in the same text, measured in turns."""
    runs = interleaved(
        {
            "early": lambda: _chunks_after(source, EARLY),
            "late": lambda: _chunks_after(source, LATE),
        },
        ROUNDS,
    )
    return min(runs["early"]), min(runs["late"])


def _chunks_after(source: str, tokens: int) -> float:
    """The mean CPU seconds of the chunks that follow the first tokens of a text."""
    at = tokens * TOKEN_CHARACTERS
    text = MarkdownText(default_dark(), WIDTH)
    text.feed(source[:at])
    gc.collect()
    start = time.process_time()
    for chunk in range(at, at + CHUNKS * CHUNK_CHARACTERS, CHUNK_CHARACTERS):
        text.feed(source[chunk : chunk + CHUNK_CHARACTERS])
        text.strip(text.line_count - 1)
    return (time.process_time() - start) / CHUNKS


def _print_memory() -> None:
    source = _source("mixed text", LONG_TOKENS)
    tracemalloc.start()
    text = MarkdownText(default_dark(), WIDTH)
    for at in range(0, len(source), 4_000):
        text.feed(source[at : at + 4_000])
    size = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    within = "within" if size <= MEGABYTES else "OVER"
    print(f"{LONG_TOKENS:,} tokens, {text.line_count:,} lines: {size:.1f} MB, {within} {MEGABYTES}")


def _print_resize() -> None:
    text = MarkdownText(default_dark(), WIDTH)
    pieces = _pieces("mixed text")
    while text.line_count < RESIZED_LINES:
        text.feed(next(pieces))
    seconds: list[float] = []
    for width in (80, 120, WIDTH) * 2:
        start = time.process_time()
        text.resize(width)
        seconds.append(time.process_time() - start)
    least = min(seconds)
    within = "within" if least <= RESIZE_SECONDS else "OVER"
    limit = milliseconds(RESIZE_SECONDS)
    print(f"resizing {text.line_count:,} lines: {milliseconds(least)}, {within} {limit}")


def _source(what: str, tokens: int) -> str:
    """A text of at least that many tokens."""
    wanted = tokens * TOKEN_CHARACTERS
    parts: list[str] = []
    size = 0
    for piece in _pieces(what):
        parts.append(piece)
        size += len(piece)
        if size >= wanted:
            break
    return "".join(parts)


def _pieces(what: str) -> Iterator[str]:
    """Pieces of a text of one kind, without end."""
    row = "| {0} | *fixed* delay of {0} s | `retry_{0}` | simple |\n"
    patterns: Mapping[str, tuple[str, str]] = {
        "one paragraph": ("", _SENTENCE),
        "one code block": ("```python\nclass Backoff:\n", _CODE),
        "one line of code": ("```json\n[", '{{"delay": {0}, "jitter": true}}, '),
        "one table": ("| No | What | Name | Note |\n|---:|---|---|---|\n", row),
        "one list": ("", f"- item {{0}}: {_SENTENCE}\n"),
        "one nested list": ("", f"- item {{0}}\n  - {_SENTENCE}\n    1. inner {{0}}\n"),
        "one quote": ("", f"> {_SENTENCE}\n"),
        "mixed text": (
            "",
            f"## Part {{0}}\n\n{_SENTENCE * 3}\n\n- one\n- two: {_SENTENCE}\n\n"
            f"```python\n{_CODE}```\n\n> {_SENTENCE}\n\n"
            f"| No | What | Name | Note |\n|---:|---|---|---|\n{row * 3}\n",
        ),
    }
    head, pattern = patterns[what]
    yield head
    for number in count():
        yield pattern.format(number)
