"""The one filter every foreign string passes: no terminal control gets through it.

Text comes out as it is but for control sequences and characters that steer a terminal or
reorder what is read; line ends become \\n. Chunks may be cut anywhere, also inside a sequence.
"""

from __future__ import annotations

import re
from enum import Enum, auto

SEQUENCE_LIMIT = 4096
"""Characters a sequence may swallow; then it counts as broken and text goes on. A line end
stops it earlier, so an introducer that was never meant as one costs a line at most."""

_SURROGATES = "\ud800-\udfff"
_STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without \t and \n, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, overrides, isolates
    "\u2028\u2029\ufeff\ufff9-\ufffb"  # separators, byte order mark, annotations
    "\U000e0000-\U000e007f"  # tags: unseen by the reader, read by the model
)
_UNSEEN = "\xad\u180e\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Zero width but needed by scripts and emoji: kept by the filter, shown by `visible`."""

UNSAFE = re.compile(f"[{_STEERING}{_SURROGATES}]")
"""Any single character that `clean` removes or replaces."""

_SAFE_RUN = re.compile(f"[^{_STEERING}]+")
_LONE_OR_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_NOT_EXACT = re.compile(f"[{_STEERING}{_SURROGATES}{_UNSEEN}]")

_IGNORED = "\x00-\x09\x0b\x0c\x0e-\x17\x19\x1c-\x1f\x7f"
"""Controls a terminal carries out in the middle of a sequence without ending it."""

_LINE_ENDS = {"\r": "\n", "\u2028": "\n", "\u2029": "\n"}


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
    _Mode.ESCAPE: re.compile(f"[{_IGNORED}]*"),
    _Mode.SHORT: re.compile(f"[{_IGNORED}\x20-\x2f]*"),
    _Mode.CSI: re.compile(f"[{_IGNORED}\x20-\x3f]*"),
    _Mode.STRING: re.compile("[^\x07\n\r\x18\x1a\x1b\x9c]*"),
}


class IntakeFilter:
    """Cleans one stream of text, chunk by chunk: the cuts make no difference."""

    def __init__(self) -> None:
        self._mode = _Mode.TEXT
        self._room = 0
        self._after_return = False
        self._high_surrogate = ""

    def feed(self, chunk: str) -> str:
        """What of the next chunk may be shown."""
        idle = self._mode is _Mode.TEXT and not self._after_return and not self._high_surrogate
        if idle and not UNSAFE.search(chunk):
            return chunk
        return self._filter(self._join_surrogates(chunk))

    def finish(self) -> str:
        """What was still held back. A sequence that never ended is dropped."""
        last = "\ufffd" if self._high_surrogate else ""
        self._high_surrogate = ""
        text = self._filter(last)
        self._mode = _Mode.TEXT
        self._after_return = False
        return text

    def _join_surrogates(self, chunk: str) -> str:
        text = self._high_surrogate + chunk
        self._high_surrogate = ""
        if "\ud800" <= text[-1:] <= "\udbff":
            self._high_surrogate = text[-1]
            text = text[:-1]
        return _LONE_OR_PAIR.sub(_joined, text)

    def _filter(self, text: str) -> str:
        kept: list[str] = []
        at = 0
        while at < len(text):
            if self._mode is _Mode.TEXT:
                at = self._read_text(text, at, kept)
            else:
                at = self._read_sequence(text, at)
        return "".join(kept)

    def _read_text(self, text: str, at: int, kept: list[str]) -> int:
        if self._after_return:
            self._after_return = False
            if text[at] == "\n":
                return at + 1
        run = _SAFE_RUN.match(text, at)
        if run:
            kept.append(run[0])
            return run.end()
        character = text[at]
        if character in _LINE_ENDS:
            kept.append("\n")
            self._after_return = character == "\r"
        elif character in _INTRODUCERS:
            self._begin(_INTRODUCERS[character])
        return at + 1

    def _begin(self, mode: _Mode) -> None:
        self._mode = mode
        self._room = SEQUENCE_LIMIT

    def _read_sequence(self, text: str, at: int) -> int:
        content = _CONTENT[self._mode].match(text, at, min(len(text), at + self._room))
        end = content.end() if content else at
        self._room -= end - at
        return end + self._end_sequence(text[end]) if end < len(text) else end

    def _end_sequence(self, character: str) -> int:
        """Decides what ends or continues the sequence: 1 if it belongs to it, 0 if it is text."""
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
    """A whole foreign string without terminal controls; the same object if it has none."""
    if not UNSAFE.search(text):
        return text
    intake = IntakeFilter()
    return intake.feed(text) + intake.finish()


def visible(text: str) -> str:
    """The text with everything unseen made visible, for showing exactly what is there.

    Controls become their pictures (␛), others their number (⟨U+202E⟩); \\t and \\n stay.
    """
    return _NOT_EXACT.sub(_picture, text)


def _joined(found: re.Match[str]) -> str:
    if len(found[0]) == 1:
        return "\ufffd"
    return found[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
