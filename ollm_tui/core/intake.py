"""The one filter every foreign string passes: no terminal control gets through it.

Text comes out as it is but for control sequences and characters that steer a terminal or
reorder what is read; line ends become \\n. Chunks may be cut anywhere, also inside a sequence.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import cache

SEQUENCE_LIMIT = 4096
"""Characters a sequence may take; then it counts as broken and text goes on. A line end stops
it earlier, so an introducer that was never meant as one costs a line at most."""

_SURROGATES = "\ud800-\udfff"
_STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without \t and \n, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, overrides, isolates
    "\u2028\u2029\ufeff\ufff9-\ufffb"  # separators, byte order mark, annotations
    "\U000e0000-\U000e007f"  # tags: unseen by the reader, read by the model
)
_UNSEEN = "\xad\u180e\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Zero width but needed by scripts and emoji: kept by the filter, made visible by `visible`."""

UNSAFE = re.compile(f"[{_STEERING}{_SURROGATES}]")
"""Any single character that `clean` removes or replaces."""

_PLAIN = bytes((0x09, 0x0A, *range(0x20, 0x7F)))
"""The ASCII characters that stay as they are."""

_PAIRS = "(?:[\ud800-\udbff][\udc00-\udfff])+"
_LONE = f"[{_SURROGATES}]"
_NOT_EXACT = f"[{_STEERING}{_SURROGATES}{_UNSEEN}]"

_IGNORED = "\x00-\x09\x0b\x0c\x0e-\x17\x19\x1c-\x1f\x7f"
"""Controls a terminal carries out in the middle of a sequence without ending it."""


class _Mode(Enum):
    TEXT = auto()
    ESCAPE = auto()
    """Right after ESC."""
    SHORT = auto()
    """ESC and an intermediate character, as in ESC ( B."""
    CSI = auto()
    STRING = auto()
    """Inside of OSC, DCS, SOS, PM or APC: everything up to a terminator is its content."""


_INTRODUCERS = {"\x1b": _Mode.ESCAPE, "\x9b": _Mode.CSI} | dict.fromkeys(
    "\x90\x98\x9d\x9e\x9f", _Mode.STRING
)
_AFTER_ESCAPE = {"[": _Mode.CSI} | dict.fromkeys("PX]^_", _Mode.STRING)
_CONTENT = {
    _Mode.ESCAPE: f"[{_IGNORED}]",
    _Mode.SHORT: f"[{_IGNORED}\x20-\x2f]",
    _Mode.CSI: f"[{_IGNORED}\x20-\x3f]",
    _Mode.STRING: "[^\x07\n\r\x18\x1a\x1b\x9c]",
}
_FINAL = "[\x30-\x7e]"
_STRING_END = "[\x07\x18\x1a\x9c]"


def _whole(mode: _Mode, final: str) -> str:
    """A pattern for the rest of a sequence; it does not match if the text ends first."""
    return f"{_CONTENT[mode]}{{0,{SEQUENCE_LIMIT}}}+(?:{final}|(?!\\Z))"


_CSI = _whole(_Mode.CSI, _FINAL)
_STRING = _whole(_Mode.STRING, _STRING_END)
_ESCAPE = (
    f"{_CONTENT[_Mode.ESCAPE]}{{0,{SEQUENCE_LIMIT}}}+"
    f"(?:\\[{_CSI}|[PX\\]^_]{_STRING}|[\x20-\x2f]{_whole(_Mode.SHORT, _FINAL)}"
    r"|(?![\[PX\]^_])[\x30-\x7e]|(?![\x20-\x7e]|\Z))"
)
_REMOVED = (
    f"(?:\x1b{_ESCAPE}|\x9b{_CSI}|[\x90\x98\x9d-\x9f]{_STRING}"
    f"|(?![\x1b\x90\x98\x9b\x9d-\x9f\u2028\u2029])[{_STEERING}])++"
    "|(?P<open>[\x1b\x90\x98\x9b\x9d-\x9f](?s:.)*)"
)
"""All that is removed, in runs: as one expression, because floods of controls would take seconds
when read one by one. What no other branch matches is a sequence the text ends in (`open`)."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when first needed: text with nothing to remove needs none of them."""
    return re.compile(pattern)


class IntakeFilter:
    """Cleans one stream of text, chunk by chunk: the cuts make no difference."""

    def __init__(self) -> None:
        self._mode = _Mode.TEXT
        self._room = 0
        self._after_return = False
        self._high_surrogate = ""

    def feed(self, chunk: str) -> str:
        """Return what may be shown of the next chunk."""
        idle = self._mode is _Mode.TEXT and not self._after_return and not self._high_surrogate
        if idle and not UNSAFE.search(chunk):
            return chunk
        return self._filter(self._join_surrogates(chunk))

    def finish(self) -> str:
        """Return what was still held back; a sequence that never ended is dropped."""
        last = "\ufffd" if self._high_surrogate else ""
        self._high_surrogate = ""
        text = self._filter(last)
        self._mode = _Mode.TEXT
        self._after_return = False
        return text

    def _join_surrogates(self, chunk: str) -> str:
        text = self._high_surrogate + chunk
        self._high_surrogate = ""
        # A pair may be cut between two chunks: its first half waits for the second.
        if "\ud800" <= text[-1:] <= "\udbff":
            self._high_surrogate = text[-1]
            text = text[:-1]
        return _compiled(_LONE).sub("\ufffd", _compiled(_PAIRS).sub(_joined, text))

    def _filter(self, text: str) -> str:
        # The \r at the end of the last chunk was given out as a line end: its \n is skipped.
        at = int(self._after_return and text.startswith("\n"))
        if text:
            self._after_return = False
        at = self._leave_sequence(text, at)
        return self._read_text(text[at:]) if at < len(text) else ""

    def _leave_sequence(self, text: str, at: int) -> int:
        while self._mode is not _Mode.TEXT and at < len(text):
            at = self._read_sequence(text, at)
        return at

    def _read_text(self, text: str) -> str:
        self._after_return = text.endswith("\r")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        kept: list[str] = []
        at = 0
        for found in _compiled(_REMOVED).finditer(text):
            kept.append(text[at : found.start()])
            at = found.end()
            if opened := found["open"]:
                # The text ends inside this sequence: the next chunk continues it.
                self._begin(_INTRODUCERS[opened[0]])
                self._leave_sequence(opened, 1)
        kept.append(text[at:])
        return "".join(kept).replace("\u2028", "\n").replace("\u2029", "\n")

    def _begin(self, mode: _Mode) -> None:
        self._mode = mode
        self._room = SEQUENCE_LIMIT

    def _read_sequence(self, text: str, at: int) -> int:
        content = _compiled(f"{_CONTENT[self._mode]}*")
        found = content.match(text, at, min(len(text), at + self._room))
        end = found.end() if found else at
        self._room -= end - at
        return end + self._end_sequence(text[end]) if end < len(text) else end

    def _end_sequence(self, character: str) -> int:
        """Return 1 if a character ends or continues the sequence, 0 if it is text again."""
        mode, self._mode = self._mode, _Mode.TEXT
        if mode is _Mode.STRING:
            # ESC is left to the text: with a backslash it is the terminator, else a new start.
            return int(character in "\x07\x18\x1a\x9c")
        if mode is _Mode.ESCAPE and character in _AFTER_ESCAPE:
            self._begin(_AFTER_ESCAPE[character])
            return 1
        if mode is _Mode.ESCAPE and "\x20" <= character <= "\x2f":
            self._begin(_Mode.SHORT)
            return 1
        return int("\x30" <= character <= "\x7e")


def clean(text: str) -> str:
    """Return a whole foreign string without terminal controls; the same object if it has none."""
    # Most texts are plain ASCII, for which this takes a tenth of the time of the expression.
    is_plain = text.isascii() and not text.encode().translate(None, _PLAIN)
    if is_plain or not UNSAFE.search(text):
        return text
    intake = IntakeFilter()
    return intake.feed(text) + intake.finish()


def visible(text: str) -> str:
    """Return the text with everything invisible made visible, to show exactly what is there.

    Controls become their pictures (␛), others their number (⟨U+202E⟩); \\t and \\n stay.
    """
    return _compiled(_NOT_EXACT).sub(_picture, text)


def _joined(found: re.Match[str]) -> str:
    return found[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
