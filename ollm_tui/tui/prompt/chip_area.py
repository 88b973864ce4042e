"""A text area that grows with its text and shows long pastes as chips, whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec
from rich.text import Text
from textual import events, on
from textual.binding import Binding
from textual.geometry import Offset
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import clean
from ollm_tui.core.session.message import Attachment
from ollm_tui.core.session.picture import PICTURE_TOKENS, picture_size

MOST_LINES = 40
MOST_CHARACTERS = 4_000
"""A paste with more lines or characters becomes a chip."""

_PASTE = re.compile(r"paste (\d+)")
_HANDLE = re.compile(r"file_[0-9a-f]{8}")


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
    """Return a text with its attachments as one string; plain text where there are none."""
    # A text that looks like JSON is encoded, too: `from_draft` could take it for a draft.
    if not written.attachments and not written.text.startswith("{"):
        return written.text
    return msgspec.json.encode(_Draft(*written)).decode()


def from_draft(draft: str) -> Written:
    """Return what `to_draft` was given, filtered; any other string is a plain text."""
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
            handle=piece.handle if _HANDLE.fullmatch(piece.handle or "") else None,
        )
        for piece in found.attachments
    )
    return Written(clean(found.text), tuple(pieces))


def is_long(text: str) -> bool:
    """Whether a paste is so long that it is shown as a chip."""
    return _lines(text) > MOST_LINES or len(text) > MOST_CHARACTERS


class Chips:
    """The chips of one text. What a chip stands for stays known until another text is unpacked."""

    def __init__(self) -> None:
        self._by_label: dict[str, Attachment] = {}
        self._pattern: re.Pattern[str] | None = None
        self._number = 0

    def add(self, content: str) -> str:
        """Return the label for a new paste, which gets a number of its own."""
        self._number += 1
        piece = Attachment(name=f"paste {self._number}", media_type="text/plain", content=content)
        self._take((*self._by_label.values(), piece))
        return _label(piece)

    def attach(self, piece: Attachment) -> str:
        """Return the label for a file; the same file read again replaces the earlier one."""
        others = (each for each in self._by_label.values() if each.name != piece.name)
        self._take((*others, piece))
        return _label(piece)

    def spans(self, line: str) -> list[Span]:
        """Return the chips in a line, from left to right."""
        if not self._pattern:
            return []
        found = self._pattern.finditer(line)
        return [Span(chip.start(), chip.end(), self._by_label[chip[0]]) for chip in found]

    def pack(self, text: str) -> Written:
        """Return a text with labels as it is sent. A damaged label stays as text, its paste is left
        out unless the name can still be read."""
        if not self._pattern:
            return Written(text)
        pieces = tuple(piece for piece in self._by_label.values() if _names(piece, text))
        if not self._pattern.sub("", text).strip():
            return Written("", pieces)
        return Written(self._replaced(text, lambda piece: f"[{piece.name}]"), pieces)

    def unpack(self, written: Written) -> str:
        """Return the text with labels; attachments it does not name are added to its end."""
        self._take(written.attachments)
        text = written.text
        for label, piece in self._by_label.items():
            text = text.replace(f"[{piece.name}]", label)
            if label not in text:
                text = f"{text}\n{label}" if text.strip() else label
        return text

    def whole(self, text: str) -> str:
        """Return the text with every paste written out; files stay chips."""
        return self._replaced(text, lambda p: _label(p) if is_file(p) else p.content)

    def fold(self, text: str) -> str:
        """Reverse `whole`: make a paste that still stands there unchanged a chip again."""
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
    """Whether an attachment comes from a file, and not from the clipboard or from a session."""
    return piece.path is not None and (piece.media_type == "text/plain" or is_image(piece))


def is_image(piece: Attachment) -> bool:
    """Whether an attachment is an image, for which no text can stand."""
    return piece.media_type.startswith("image/")


def _label(piece: Attachment) -> str:
    if is_image(piece):
        count = len(piece.content.rstrip("=")) * 3 // 4
        size = picture_size(piece.content) or "image"
        return f"[{piece.name} · {size} · {_size(count)} · ≈{short_count(PICTURE_TOKENS)} tokens]"
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


TALLEST = 10
"""Lines of text up to which the prompt grows, but no more than a third of the screen."""
LEAST_TALL = 3
"""Lines of text up to which it grows on the smallest screen."""


class ChipArea(TextArea):
    """A text area whose cursor steps over chips and whose edits take whole ones."""

    COMPONENT_CLASSES = {"chip-area--chip"}
    DEFAULT_CSS = """
    ChipArea .chip-area--chip { color: $text-accent; background: $accent-muted; }
    """
    BINDINGS = [
        Binding(
            "alt+e",
            "expand",
            "Expand paste",
            id="prompt.expand",
            show=False,
            priority=True,
            tooltip="Expand the paste at the cursor",
        ),
    ]

    def __init__(self, placeholder: str) -> None:
        self._chips = Chips()
        super().__init__(
            id="prompt",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder=placeholder,
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False

    @property
    def whole_text(self) -> str:
        """The text with every paste written out."""
        return self._chips.whole(self.text)

    @property
    def written(self) -> Written:
        """The text as it is sent, and the pastes that go along."""
        return self._chips.pack(self.text)

    def put_whole(self, text: str) -> None:
        """Replace the text; a paste that stands in it unchanged is a chip again."""
        folded = self._chips.fold(clean(text))
        if folded != self.text:
            self.load_text(folded)
            self.move_cursor(self.document.end)

    def put_chip(self, piece: Attachment, start: Location, end: Location) -> None:
        """Put a chip in the place of some text."""
        self.replace(self._chips.attach(piece), start, end, maintain_selection_offset=False)

    def action_expand(self) -> None:
        """Write out the paste at the cursor."""
        if chip := self._chip_at_cursor():
            row = self.cursor_location[0]
            self.replace(
                chip.attachment.content,
                (row, chip.start),
                (row, chip.end),
                maintain_selection_offset=False,
            )

    def action_paste(self) -> None:
        """Paste what was copied in this program."""
        clipboard = self.app.clipboard  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        self._paste(clipboard)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a key that would do nothing to others."""
        if action == "expand":
            chip = self._chip_at_cursor()
            return chip is not None and not is_image(chip.attachment)
        return super().check_action(action, parameters)

    def edit(self, edit: Edit) -> EditResult:
        """Edit the text; an edit that reaches into a chip takes all of it."""
        (top, bottom), keep = (edit.top, edit.bottom), edit.maintain_selection_offset
        first, last = self._chip_around(top), self._chip_around(bottom)
        if first and top == bottom:
            top = bottom = (top[0], first.end)
        else:
            top = (top[0], first.start) if first else top
            bottom = (bottom[0], last.end) if last else bottom
        return super().edit(Edit(edit.text, top, bottom, keep) if first or last else edit)

    def get_line(self, line_index: int) -> Text:
        """Return a line with its chips coloured."""
        line = super().get_line(line_index)
        for chip in self._chips.spans(line.plain):
            line.stylize(self.get_component_rich_style("chip-area--chip"), chip.start, chip.end)
        return line

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """Return nothing: the search would read the whole text at every step of the cursor."""
        return None

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep both ends of the selection out of chips."""
        return Selection(self._beside(selection.start), self._beside(selection.end))

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor if it is in the text: undo asks before it moves the cursor."""
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    @on(TextArea.Changed)
    def grow(self) -> None:
        """Make the area as tall as its text, within limits."""
        tallest = min(TALLEST, max(self.screen.size.height // 3, LEAST_TALL))
        height = min(max(self.wrapped_document.height, 1), tallest) + 2  # 2 for the border
        set_before = self.styles.height
        if set_before is None or set_before.cells != height:  # to set it lays out all the screen
            self.styles.height = height

    def on_resize(self) -> None:
        """Grow or shrink: another width wraps the text differently."""
        self.call_after_refresh(self.grow)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._paste(event.text)

    def _paste(self, text: str) -> None:
        text = clean(text)
        if is_long(text):
            text = self._chips.add(text)
        self.move_cursor(self.replace(text, *self.selection).end_location)
        self.focus()

    def _beside(self, location: Location) -> Location:
        """Return a place outside of chips: the nearer side of a chip, or its other side where the
        cursor comes from one of them, so that it steps over the chip."""
        chip = self._chip_around(location)
        if chip is None:
            return location
        row, column = location
        come_from = self.cursor_location
        if come_from == (row, chip.start):
            return row, chip.end
        if come_from == (row, chip.end):
            return row, chip.start
        return row, chip.start if column - chip.start < chip.end - column else chip.end

    def _chip_around(self, location: Location) -> Span | None:
        row, column = location
        if row >= self.document.line_count:
            return None
        chips = self._chips.spans(self.document.get_line(row))
        return next((chip for chip in chips if chip.start < column < chip.end), None)

    def _chip_at_cursor(self) -> Span | None:
        row, column = self.cursor_location
        chips = self._chips.spans(self.document.get_line(row))
        return next((chip for chip in chips if chip.start <= column <= chip.end), None)
