"""The words of a summary while they arrive: out of JSON if it comes as that, and filtered."""

from __future__ import annotations

import re

from ollm_tui.core.intake import IntakeFilter

OPENING_CHARACTERS = 80
"""Longer than this, what begins like JSON is none of ours."""

_OPENING = re.compile(r"\s*(?:```\w*\s*)?\{\s*\"summary\"\s*:\s*\"")
_MAYBE_OPENING = re.compile(r"\s*(?:`{1,2}|```\w*\s*)?(?:\{[\s\w\":]*)?")
_PLAIN_RUN = re.compile(r"[^\"\\]+")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[^u])")
_BROKEN_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,3}(?=[^0-9a-fA-F])")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": ""}


class SummaryAnswer:
    """Reads one answer chunk by chunk; where the cuts are makes no difference."""

    def __init__(self) -> None:
        self.text = ""
        """All words so far."""
        self._filter = IntakeFilter()
        self._held = ""
        self._opened: bool | None = None
        """Whether it is JSON; None while that is open."""
        self._closed = False

    def feed(self, chunk: str) -> str:
        """The words that the next chunk brings."""
        return self._take(self._filter.feed(self._decoded(chunk)))

    def finish(self) -> str:
        """What was held back; an escape that never ended is dropped."""
        rest = "" if self._opened else self._held
        self._held = ""
        return self._take(self._filter.feed(rest) + self._filter.finish())

    def _take(self, words: str) -> str:
        self.text += words
        return words

    def _decoded(self, chunk: str) -> str:
        text, self._held = self._held + chunk, ""
        if self._opened is None:
            opening = _OPENING.match(text)
            if opening:
                self._opened, text = True, text[opening.end() :]
            elif _MAYBE_OPENING.fullmatch(text) and len(text) <= OPENING_CHARACTERS:
                self._held = text
                return ""
            else:
                self._opened = False
        return self._unescaped(text) if self._opened else text

    def _unescaped(self, text: str) -> str:
        """The content of a JSON string as far as it goes."""
        words: list[str] = []
        at = 0
        while at < len(text) and not self._closed:
            if run := _PLAIN_RUN.match(text, at):
                words.append(run[0])
            elif text[at] == '"':
                self._closed = True
                break
            elif run := _ESCAPE.match(text, at):
                words.append(_character(run[0]))
            elif not (run := _BROKEN_ESCAPE.match(text, at)):
                self._held = text[at:]
                break
            at = run.end()
        return "".join(words)


def _character(escape: str) -> str:
    if escape[1] == "u":
        return chr(int(escape[2:], 16))
    return _ESCAPED.get(escape[1], escape[1])
