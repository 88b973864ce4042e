"""The output of a job as text without secrets and without terminal control sequences.

Output is read in parts. A secret that lies across the border of a part is hidden all the same:
more is read before the part than is shown, and what may still become a secret waits for its end.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from ollm_tui.core.intake import IntakeFilter
from ollm_tui.core.job import StreamPart
from ollm_tui.services.redaction.mark import mark_for
from ollm_tui.services.redaction.redactor import Redactor

LEAD_BYTES = 16 * 1024
"""Bytes to read before a part: no secret that is recognised by its beginning reaches further."""
_SEARCHED_BYTES = 4 * LEAD_BYTES
"""Bytes at the end of an output in which the border is looked for at first."""

_WORD = re.compile(rb"\S*\s*")
_REST_OF_LINE = re.compile(r"[^\n]{0,4096}\n|\S{0,4096}")
_REST_OF_KEY = re.compile(
    r"[A-Za-z0-9+/=\s]{0,15000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,6}-----"
)


class SafePart(NamedTuple):
    """Text of one stream, and where the next read goes on."""

    text: str
    end: int
    """The absolute byte offset behind the text."""


def safe_part(part: StreamPart, redactor: Redactor, since: int = 0, *, ended: bool) -> SafePart:
    """The text from the offset `since` on; the part should begin `LEAD_BYTES` before it."""
    whole = part.on_character_borders(ended=ended)
    data = whole.data if ended else settled_part(whole.data, redactor)
    lead = max(since - whole.start, 0)
    # One decoder and filter for both halves: a character or sequence may lie across the border.
    decoder, intake = codecs.getincrementaldecoder("utf-8")("replace"), IntakeFilter()
    before = intake.feed(decoder.decode(data[:lead]))
    after = intake.feed(decoder.decode(data[lead:], final=True)) + intake.finish()
    if whole.truncated:
        kept = len(without_cut_start(before + after))
        before, after = before[len(before) + len(after) - kept :], after[-kept:] if kept else ""
    return SafePart(hidden((before, after), redactor)[1], max(whole.start + len(data), since))


def hidden(pieces: Sequence[str], redactor: Redactor) -> list[str]:
    """The pieces of a clean text without secrets; a mark is in the piece where its secret ends."""
    text = "".join(pieces)
    found = redactor.find(text)
    if not found:
        return list(pieces)
    safe: list[str] = []
    start, waiting = 0, deque(found)
    for piece in pieces:
        end, at, shown = start + len(piece), start, ""
        while waiting and waiting[0].end <= end:
            secret = waiting.popleft()
            mark = mark_for(text[secret.start : secret.end], secret.kind)
            shown += text[at : max(secret.start, at)] + mark
            at = secret.end
        until = min(max(waiting[0].start, at), end) if waiting else end
        safe.append(shown + text[at:until])
        start = end
    return safe


def settled_part(data: bytes, redactor: Redactor) -> bytes:
    """The data without its last words, if these may become a secret when more of it comes."""
    text = _Text()
    scan = redactor.scan()
    scan.grow(text.feed(data))
    for _ in scan.settle(final=False):
        pass
    if scan.settled >= text.length:
        return data
    start = _behind_space(data, len(data) - _SEARCHED_BYTES)
    text = _Text()
    text.feed(data[:start])
    if text.length > scan.settled:
        start, text = 0, _Text()
    for word in _WORD.finditer(data, start):
        text.feed(word[0])
        if text.length > scan.settled:
            return data[: word.start()]
    return data


class _Text:
    """The clean text of growing data, of which only the length is kept."""

    def __init__(self) -> None:
        self.length = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._intake = IntakeFilter()

    def feed(self, data: bytes) -> str:
        text = self._intake.feed(self._decoder.decode(data))
        self.length += len(text)
        return text


def _behind_space(data: bytes, near: int) -> int:
    """The offset of the first word that begins at or after `near`."""
    space = _WORD.match(data, near) if near > 0 else None
    return space.end() if space else 0


def without_cut_start(text: str) -> str:
    """A text whose beginning is no longer kept, without what may be the rest of a secret."""
    rest = _REST_OF_KEY.match(text) or _REST_OF_LINE.match(text)
    return text[rest.end() :] if rest else text
