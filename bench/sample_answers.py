"""Answers to measure with: each kind of Markdown without end, the same in every run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

TOKEN_CHARACTERS = 4
"""About what a token of English or code has."""

_SENTENCE = (
    "The *budget* belongs to the job, not to the request, and `Retry-After` wins over your own "
    "**schedule** whenever the server sends one. "
)
_CODE = '''    def delay(self, attempt: int) -> float:
        """Full jitter, so that clients spread."""
        return min(self.cap, self.base * 2 ** attempt) * random()  # number {0}

'''
_ROW = "| {0} | *fixed* delay of {0} s | `retry_{0}` | simple |\n"
_TABLE = "| No | What | Name | Note |\n|---:|---|---|---|\n"

KINDS: Mapping[str, tuple[str, str]] = {
    "mixed text": (
        "",
        f"## Part {{0}}\n\n{_SENTENCE * 3}\n\n- one\n- two: {_SENTENCE}\n\n"
        f"```python\n{_CODE}```\n\n> {_SENTENCE}\n\n{_TABLE}{_ROW * 3}\n",
    ),
    "one paragraph": ("", _SENTENCE),
    "one code block": ("```python\nclass Backoff:\n", _CODE),
    "one line of code": ("```json\n[", '{{"delay": {0}, "jitter": true}}, '),
    "one table": (_TABLE, _ROW),
    "one list": ("", f"- item {{0}}: {_SENTENCE}\n"),
    "one nested list": ("", f"- item {{0}}\n  - {_SENTENCE}\n    1. inner {{0}}\n"),
    "one quote": ("", f"> {_SENTENCE}\n"),
}
"""By name: how a text begins, and what is repeated after it with a number."""


def sample_text(kind: str, tokens: int) -> str:
    """A text of at least that many tokens."""
    wanted = tokens * TOKEN_CHARACTERS
    parts: list[str] = []
    size = 0
    for piece in sample_pieces(kind):
        parts.append(piece)
        size += len(piece)
        if size >= wanted:
            break
    return "".join(parts)


def sample_tokens(kind: str) -> Iterator[str]:
    """The same text as tokens without end."""
    left = ""
    for piece in sample_pieces(kind):
        left += piece
        while len(left) >= TOKEN_CHARACTERS:
            yield left[:TOKEN_CHARACTERS]
            left = left[TOKEN_CHARACTERS:]


def sample_pieces(kind: str) -> Iterator[str]:
    """The beginning of a text, then what is repeated, without end."""
    head, pattern = KINDS[kind]
    yield head
    for number in count():
        yield pattern.format(number)
