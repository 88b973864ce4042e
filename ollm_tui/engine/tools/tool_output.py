"""What of a tool's output goes to the model: all of it, or its head and tail around a mark."""

from __future__ import annotations

from collections.abc import Callable

from ollm_tui.core.counts import counted

HEAD_SHARE = 0.75
"""The beginning says what it is, the end how it ended."""
LEAST_TOKENS = 200
WINDOW_SHARE = 0.2
"""Of the longest prompt: five such outputs fill it, and none of them alone."""
MOST_TOKENS = 8000
GUESSED_CHARACTERS = 3
"""A token has at least so many characters in most outputs; where not, the cut is repeated."""

CountTokens = Callable[[str], int]


def allowance(limit: int | None) -> int:
    """How many tokens one output may take in a window whose longest prompt is known."""
    if limit is None:
        return MOST_TOKENS
    return max(LEAST_TOKENS, min(MOST_TOKENS, int(limit * WINDOW_SHARE)))


def cut(text: str, tokens: int, count: CountTokens) -> str:
    """The text if it has no more than so many tokens, else its head and tail.

    Only so much of it is counted as could fit: a huge output costs no more than a long one.
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
    """Without the line that is not whole, unless that would leave too little."""
    if from_end:
        start = piece.find("\n") + 1
        return piece[start:] if 0 < start < len(piece) // 2 else piece
    end = piece.rfind("\n")
    return piece[: end + 1] if end > len(piece) // 2 else piece
