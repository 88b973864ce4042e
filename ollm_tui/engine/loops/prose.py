"""Prose: what of a reply is neither code nor a table, a list or data, found while it streams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b

LONG_LINE = 200
"""Characters after which a line is passed on before its end has arrived."""
MARK_END = "⟧"
"""The end of a mark, which stands in the prose for code, a table or a list left out."""
MARK = re.compile(f"⟦[0-9a-f]*{MARK_END}")

_FENCE = re.compile(r"\s{0,12}(?:>\s?)?(`{3,}|~{3,})")
LIST_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,4}[.):]|\(?[A-Za-z][.)])(?:\s|\Z)")
_INDENTED = re.compile(r"(?: {2,}|\t)\S")
_DATA = re.compile(
    r"\s*[\[{]\s*[\[{\"]|\s*</?[A-Za-z]|\s*\[?(?:\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d)"
    r"|[^\s,]*(?:,[^\s,]*){2,}\Z"
)
"""A line of JSON, markup, a log, or values between commas."""
_DRAWN = re.compile(r"[\s+|=*#~_:/\\<>^.()\u2500-\u257f-]+")
"""A line of a drawing, or a ruler."""
_TABLE = re.compile(r"\s*\||[^|]*\|[^|]*\|")


class ProseStream:
    """Yields the prose of one reply, whose chunks may be cut anywhere.

    Code, tables, lists and data repeat by nature. Each run of them is replaced by a mark with
    its digest, so that prose around other content does not look the same.
    """

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""
        self._is_prose: bool | None = None
        """Whether the current line is prose; None until enough of it has arrived."""
        self._aside = blake2b(digest_size=8)
        self._has_aside = False

    def feed(self, chunk: str) -> Iterator[str]:
        """Yield the prose that is certain by now; lines end with \\n."""
        first, *others = chunk.split("\n")
        yield from self._add(first)
        for part in others:
            yield from self._end_line()
            yield from self._add(part)

    def finish(self) -> Iterator[str]:
        """Yield what was still held back."""
        if self._line:
            yield from self._pass_on("")

    def _add(self, part: str) -> Iterator[str]:
        self._line += part
        if len(self._line) >= LONG_LINE:
            yield from self._pass_on("")

    def _end_line(self) -> Iterator[str]:
        yield from self._pass_on("\n")
        self._is_prose = None

    def _pass_on(self, ending: str) -> Iterator[str]:
        if self._is_prose is None:
            self._is_prose = self._look(self._line)
        text, self._line = self._line + ending, ""
        if not self._is_prose:
            self._aside.update(text.encode("utf-8", "surrogatepass"))
            self._has_aside = True
        elif text.strip():
            yield from self._mark()
            yield text

    def _mark(self) -> Iterator[str]:
        """Yield the mark for the code, table or list before this prose, if there is any."""
        if self._has_aside:
            yield f"⟦{self._aside.hexdigest()}{MARK_END}\n"
            self._aside = blake2b(digest_size=8)
            self._has_aside = False

    def _look(self, line: str) -> bool:
        """Whether a line is prose; remembers whether it opens or closes a code fence."""
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not line.strip(" \t>`~"):
                self._fence = ""
            return False
        if fence:
            self._fence = fence[1]
            return False
        if len(line) < LONG_LINE and _DRAWN.fullmatch(line):
            return False
        return not any(kind.match(line) for kind in (LIST_ITEM, _INDENTED, _TABLE, _DATA))
