"""Decoding a file's bytes into text and back, with the encoding, byte order mark and line ends
kept; and naming what is not a text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ollm_tui.core.errors import ToolError
from ollm_tui.services.files.mentioned_file import IMAGES

UNREADABLE_SHARE = 0.1
"""If bytes are no UTF-8 and have a larger share of control characters, they are no text."""
KINDS: Mapping[bytes, str] = MappingProxyType(
    {
        b"\x7fELF": "a program",
        b"MZ": "a program",
        b"PK\x03\x04": "a zip archive",
        b"\x1f\x8b": "a gzip archive",
        b"BZh": "a bzip2 archive",
        b"\xfd7zXZ": "an xz archive",
        b"%PDF": "a PDF",
        b"SQLite format 3": "an SQLite database",
        b"\x00\x00\x01\x00": "an icon",
        b"OggS": "an Ogg recording",
        b"ID3": "an MP3 recording",
        b"\x00asm": "WebAssembly",
        b"wOF": "a font",
    }
)
"""The first bytes of files that are not text, and what such a file is."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Without tab, line feed, form feed, return, escape and NEL, which stand in texts too.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")


@dataclass(frozen=True)
class TextContent:
    """A decoded text with its line ends unchanged, and how to encode it again."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    """The byte order mark the file begins with."""

    @property
    def ends_with_returns(self) -> bool:
        """Whether most lines end in \\r\\n."""
        returns = self.text.count("\r\n")
        return returns > self.text.count("\n") - returns

    def bytes_of(self, text: str) -> bytes:
        """Encode another text in the same way. ToolError if the encoding lacks a character."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            wrong = error.object[error.start]
            raise ToolError(
                f"the file is written in {self.encoding}, which has no U+{ord(wrong):04X}"
            ) from error


def text_content(data: bytes) -> TextContent | None:
    """Decode bytes; None if they are no text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _decoded(data.removeprefix(mark), encoding)
            return None if text is None else TextContent(text, encoding, mark)
    if b"\0" in data:
        return None
    text = _decoded(data, "utf-8")
    if text is not None:
        return TextContent(text)
    # Latin-1 decodes any bytes and gives back the same ones: even a wrong guess damages nothing.
    text = data.decode("latin-1")
    if len(_CONTROLS.findall(text)) > len(text) * UNREADABLE_SHARE:
        return None
    return TextContent(text, "latin-1")


def image_kind(data: bytes) -> str | None:
    """Return the media type of a picture; None if it is none that models can look at."""
    # RIFF is also the beginning of WAV and AVI files.
    kind = next((kind for start, kind in IMAGES.items() if data.startswith(start)), None)
    return None if kind == "image/webp" and data[8:12] != b"WEBP" else kind


def binary_kind(data: bytes) -> str:
    """Return what a file that is no text is, in words, by its first bytes."""
    if image := image_kind(data):
        return f"a picture ({image})"
    return next((kind for start, kind in KINDS.items() if data.startswith(start)), "binary data")


def size_in_words(size: int) -> str:
    """Return a number of bytes in few characters, such as "1.2 MB"."""
    for limit, unit in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= limit:
            return f"{size / limit:.1f} {unit}"
    return f"{size} bytes"


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None
