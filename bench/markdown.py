"""Growing Markdown: what a chunk costs late in a long answer, against what it costs early."""

from __future__ import annotations

import gc
import time
import tracemalloc

from bench.measure import Outcome, Promise, interleaved, milliseconds
from bench.sample_answers import KINDS, TOKEN_CHARACTERS, sample_text
from ollm_tui.tui.stream.markdown.text import MarkdownText
from ollm_tui.tui.stream.transcript.looks import transcript_styles
from ollm_tui.tui.themes import DEFAULT_THEME, load_theme

EARLY, LATE = 500, 20_000
CHUNKS = 60
"""How many chunks are measured at each place."""
CHUNK_CHARACTERS = 40
WIDTH = 100
ROUNDS = 7
LONG_TOKENS = 100_000
MEGABYTES = 25

PROMISES = tuple(
    Promise(f"a chunk of {what} at {LATE:,} tokens", f"at {EARLY} tokens", 1.3) for what in KINDS
)


def main() -> list[Outcome]:
    """Measure each kind of text, then memory for information."""
    outcomes: list[Outcome] = []
    for what, promise in zip(KINDS, PROMISES, strict=True):
        early, late = _cost_of_chunks(sample_text(what, LATE + 2 * CHUNKS * 10))
        print(f"{what}: {milliseconds(early)} a chunk at {EARLY}, {milliseconds(late)} at {LATE:,}")
        outcomes.append(Outcome(promise, late / early))
    _print_memory()
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
    text = _empty_text()
    text.feed(source[:at])
    gc.collect()
    start = time.process_time()
    for chunk in range(at, at + CHUNKS * CHUNK_CHARACTERS, CHUNK_CHARACTERS):
        text.feed(source[chunk : chunk + CHUNK_CHARACTERS])
        text.strip(text.line_count - 1)
    return (time.process_time() - start) / CHUNKS


def _print_memory() -> None:
    source = sample_text("mixed text", LONG_TOKENS)
    tracemalloc.start()
    text = _empty_text()
    for at in range(0, len(source), 4_000):
        text.feed(source[at : at + 4_000])
    size = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    within = "within" if size <= MEGABYTES else "OVER"
    print(f"{LONG_TOKENS:,} tokens, {text.line_count:,} lines: {size:.1f} MB, {within} {MEGABYTES}")


def _empty_text() -> MarkdownText:
    return MarkdownText(transcript_styles(load_theme(DEFAULT_THEME)).markdown, WIDTH)
