"""Chips: short labels in a text, each standing for a long paste or a file that goes along."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean
from ollm_tui.core.session.message import Attachment

MOST_LINES = 40
MOST_CHARACTERS = 4_000
"""A paste with more becomes a chip."""

_PASTE = re.compile(r"paste (\d+)")


class Written(NamedTuple):
    """A text in which `[paste 1]` stands for the attachment of that name."""

    text: str
    attachments: tuple[Attachment, ...] = ()


class Span(NamedTuple):
    """Where a chip stands in a line."""

    start: int
    end: int
    attachment: Attachment


class _Draft(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    attachments: tuple[Attachment, ...]


def to_draft(written: Written) -> str:
    """One string for the whole; plain text where nothing goes along."""
    if not written.attachments and not written.text.startswith("{"):
        return written.text
    return msgspec.json.encode(_Draft(*written)).decode()


def from_draft(draft: str) -> Written:
    """What `to_draft` was given; any other string is a text."""
    try:
        found = msgspec.json.decode(draft, type=_Draft)
    except (msgspec.MsgspecError, RecursionError):
        return Written(clean(draft))
    pieces = (
        Attachment(
            name=" ".join(clean(piece.name).split()),
            media_type=piece.media_type,
            content=clean(piece.content),
            path=piece.path,
        )
        for piece in found.attachments
    )
    return Written(clean(found.text), tuple(pieces))


def is_long(text: str) -> bool:
    """Whether a paste is better shown as a chip."""
    return _lines(text) > MOST_LINES or len(text) > MOST_CHARACTERS


class Chips:
    """The chips of one text. What they stand for stays known until other chips are taken."""

    def __init__(self) -> None:
        self._by_label: dict[str, Attachment] = {}
        self._pattern: re.Pattern[str] | None = None
        self._number = 0

    def add(self, content: str) -> str:
        """The label for a paste; its number is new."""
        self._number += 1
        piece = Attachment(name=f"paste {self._number}", media_type="text/plain", content=content)
        self._take((*self._by_label.values(), piece))
        return _label(piece)

    def attach(self, piece: Attachment) -> str:
        """The label for a file; the same file read again takes the place of the earlier one."""
        others = (each for each in self._by_label.values() if each.name != piece.name)
        self._take((*others, piece))
        return _label(piece)

    def spans(self, line: str) -> list[Span]:
        """The chips in a line, from left to right."""
        if not self._pattern:
            return []
        found = self._pattern.finditer(line)
        return [Span(chip.start(), chip.end(), self._by_label[chip[0]]) for chip in found]

    def pack(self, text: str) -> Written:
        """A text with labels as it is sent. A label that was damaged stays, and its paste goes."""
        if not self._pattern:
            return Written(text)
        pieces = tuple(piece for piece in self._by_label.values() if _names(piece, text))
        if not self._pattern.sub("", text).strip():
            return Written("", pieces)
        return Written(self._replaced(text, lambda piece: f"[{piece.name}]"), pieces)

    def unpack(self, written: Written) -> str:
        """The text with labels; what it does not name is added to its end."""
        self._take(written.attachments)
        text = written.text
        for label, piece in self._by_label.items():
            text = text.replace(f"[{piece.name}]", label)
            if label not in text:
                text = f"{text}\n{label}" if text.strip() else label
        return text

    def whole(self, text: str) -> str:
        """The text with every paste written out; files stay chips."""
        return self._replaced(text, lambda p: _label(p) if is_file(p) else p.content)

    def fold(self, text: str) -> str:
        """The reverse of `whole`: a paste that still stands there unchanged is a chip again."""
        for label, piece in self._by_label.items():
            if piece.content and not is_file(piece):
                text = text.replace(piece.content, label, 1)
        return text

    def _take(self, pieces: Iterable[Attachment]) -> None:
        self._by_label = {_label(piece): piece for piece in pieces}
        labels = "|".join(map(re.escape, self._by_label))
        self._pattern = re.compile(labels) if labels else None
        numbers = (_PASTE.fullmatch(piece.name) for piece in self._by_label.values())
        self._number = max(self._number, *(int(found[1]) for found in numbers if found), 0)

    def _replaced(self, text: str, by: Callable[[Attachment], str]) -> str:
        if not self._pattern:
            return text
        return self._pattern.sub(lambda chip: by(self._by_label[chip[0]]), text)


def is_file(piece: Attachment) -> bool:
    """Whether something comes from a file, and not from the clipboard or from a session."""
    return piece.path is not None and (piece.media_type == "text/plain" or is_image(piece))


def is_image(piece: Attachment) -> bool:
    """Whether something is a picture: no text can stand for it."""
    return piece.media_type.startswith("image/")


def _label(piece: Attachment) -> str:
    if is_image(piece):
        count = len(piece.content.rstrip("=")) * 3 // 4
        return f"[{piece.name} · image · {_size(count)}]"
    lines = counted(_lines(piece.content), "line")
    return f"[{piece.name} · {lines} · {_size(len(piece.content.encode()))}]"


def _size(count: int) -> str:
    for limit, unit in ((1_000_000, "MB"), (1_000, "kB")):
        if count >= limit:
            return f"{count / limit:.0f} {unit}"
    return f"{count} B"


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _names(piece: Attachment, text: str) -> bool:
    return re.search(rf"\[{re.escape(piece.name)}(?:\]| ·|$)", text) is not None
