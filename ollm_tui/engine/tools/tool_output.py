"""Cuts the output of tools for the model: all of it, or head and tail with a note between."""

from __future__ import annotations

from collections.abc import Callable

from ollm_tui.core.counts import counted

HEAD_SHARE = 0.75
"""The head's share of a cut output: it says what it is, the tail how it ended."""
LEAST_TOKENS = 200
"""What an output may take at least, also in the smallest window."""
WINDOW_SHARE = 0.2
"""Share of the longest prompt that an output may take: no single one fills it."""
MOST_TOKENS = 8000
"""What an output may take at most, also in the largest window."""
GUESSED_CHARACTERS = 3
"""Characters of a token, guessed low for most outputs; where it is less, the cut is repeated."""

CountTokens = Callable[[str], int]


def allowance(limit: int | None) -> int:
    """How many tokens one output may take where `limit` is the longest prompt, if known."""
    if limit is None:
        return MOST_TOKENS
    return max(LEAST_TOKENS, min(MOST_TOKENS, int(limit * WINDOW_SHARE)))


def cut(text: str, tokens: int, count: CountTokens) -> str:
    """The text if it has no more than so many tokens, else its head and tail.

    Text that is too long by far is cut before it is counted: a huge output costs no more than a
    long one.
    """
    characters = tokens * GUESSED_CHARACTERS
    if len(text) <= tokens or (len(text) <= 2 * characters and count(text) <= tokens):
        return text
    while True:
        short = _around_a_mark(text, characters)
        if count(short) <= tokens or characters < LEAST_TOKENS:
            return short
        characters = characters * 3 // 4


def _around_a_mark(text: str, characters: int) -> str:
    head = _whole_lines(text[: int(characters * HEAD_SHARE)], from_end=False)
    tail = _whole_lines(text[len(text) - int(characters * (1 - HEAD_SHARE)) :], from_end=True)
    gone = text[len(head) : len(text) - len(tail)]
    lines = counted(gone.count("\n") + 1, "line")
    return f"{head.rstrip()}\n[… {lines}, {len(gone):,} characters cut here …]\n{tail.lstrip()}"


def _whole_lines(piece: str, *, from_end: bool) -> str:
    """A piece without its cut line, unless less than half would be left."""
    if from_end:
        start = piece.find("\n") + 1
        return piece[start:] if 0 < start < len(piece) // 2 else piece
    end = piece.rfind("\n")
    return piece[: end + 1] if end > len(piece) // 2 else piece
