"""A widget that shows lines in different tones, whole: a command, a diff, an output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible
from ollm_tui.tui.stream.markdown.wrapping import chopped, line_spans
from ollm_tui.tui.stream.transcript.entry import Tone
from ollm_tui.tui.stream.transcript.plain_text import shown


class TonedLine(NamedTuple):
    """A line and its tone."""

    text: str
    tone: Tone = ""


_SIGNS: Mapping[str, Tone] = {"+": "added", "-": "gone"}
_PADDING = re.compile(r"(?<=\S)[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]{9,}")
"""Blanks within a line that could push the rest of it out of sight."""
MOST_EMPTY_LINES = 2
"""More empty lines in a row are replaced by their count."""


def exact_lines(text: str) -> Iterator[TonedLine]:
    """Yield the lines of a text with nothing hidden: long runs of blanks and empty lines are
    replaced by their count."""
    shown = _exact(text)
    for is_empty, group in groupby(shown.split("\n"), key=lambda line: not line.strip()):
        lines = list(group)
        if is_empty and len(lines) > MOST_EMPTY_LINES:
            yield TonedLine(f"⟨{counted(len(lines), 'empty line')}⟩", "stopped")
        else:
            yield from map(TonedLine, lines)


def _exact(text: str) -> str:
    return _PADDING.sub(lambda found: f"⟨{len(found[0])} spaces⟩", visible(text).rstrip("\n"))


def diff_lines(diff: str) -> Iterator[TonedLine]:
    """Yield the lines of a unified diff, without the names of the file, which stand above it."""
    is_head = True
    for line in visible(diff).rstrip("\n").split("\n"):
        # Only above the first hunk: below, "--- " may be a removed line that begins with "-- ".
        is_head = is_head and not line.startswith("@@")
        if line.startswith("@@"):
            yield TonedLine(line, "quiet")
        elif not (is_head and line.startswith(("--- ", "+++ "))):
            yield TonedLine(line, _SIGNS.get(line[:1], ""))


def argument_lines(args: Mapping[str, Any], *, without_texts: bool = False) -> Iterator[TonedLine]:
    """Yield the arguments of a tool call; of an old and a new text, one is removed, one added.

    `without_texts` leaves out texts of several lines: a diff shows them already.
    """
    has_pair = {name[:3] for name in args} >= {"old", "new"}
    for name, value in args.items():
        text = f"{value}".rstrip("\n")
        sign = {"old": "-", "new": "+"}.get(name[:3], "") if has_pair else ""
        is_text = bool(sign) or "\n" in text
        if is_text and without_texts:
            continue
        if not is_text:
            yield TonedLine(f"{visible(name)}: {_exact(text)}")
            continue
        yield TonedLine(f"{visible(name)}:")
        for line, tone in exact_lines(text):
            yield TonedLine(f"{sign or ' '} {line}", tone or _SIGNS.get(sign, ""))


def joined(lines: Iterable[TonedLine]) -> tuple[str, tuple[tuple[int, Tone], ...]]:
    """Return the lines as one text, and pairs of an offset and the tone from there on."""
    texts: list[str] = []
    tones: list[tuple[int, Tone]] = []
    at = 0
    for line, tone in lines:
        if not tones or tones[-1][1] != tone:
            tones.append((at, tone))
        texts.append(line)
        at += len(line) + 1
    return "\n".join(texts), tuple(tones)


OTHER_LINES = 14
"""Lines of a chat that stay for what is not shown here: the stream, the keys, the prompt."""
SCROLL_BAR = 1
"""Columns of the scroll bar, kept free in every line."""


class DiffLines(ScrollView, can_focus=False):
    """Shows every line whole, wrapped if it is long, and knows whether its end was seen.

    An approval needs both: nothing that is approved may be out of sight.
    """

    COMPONENT_CLASSES = {
        "lines--plain",
        "lines--running",
        "lines--failed",
        "lines--stopped",
        "lines--quiet",
        "lines--added",
        "lines--gone",
    }
    DEFAULT_CSS = """
    DiffLines {
        height: auto; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        & > .lines--plain { color: $foreground; }
        & > .lines--running { color: $accent; }
        & > .lines--failed, & > .lines--gone { color: $text-error; }
        & > .lines--stopped { color: $text-warning; }
        & > .lines--quiet { color: $text-muted; }
        & > .lines--added { color: $text-success; }
    }
    """

    @dataclass
    class EndSeen(Message):
        """The last line came into view for the first time."""

    def __init__(
        self, lines: Sequence[TonedLine] = (), *, is_prose: bool = False, **options: Any
    ) -> None:
        """Prose is wrapped between words; of anything else every space is shown."""
        super().__init__(**options)
        self._lines = lines
        self._is_prose = is_prose
        self._wrapped: tuple[int, list[TonedLine]] = (0, [])
        """A width, and the lines wrapped for it."""
        self.end_was_seen = False

    def show(self, lines: Sequence[TonedLine]) -> None:
        """Replace the lines and scroll to the first one."""
        self._lines = lines
        self._wrapped = (0, [])
        self.end_was_seen = False
        self.scroll_to(y=0, animate=False)
        self.refresh(layout=True)
        self.call_after_refresh(self._lay_out)

    @property
    def place(self) -> tuple[int, int]:
        """The last line in view, and how many there are."""
        total = self.virtual_size.height
        return min(self.scroll_offset.y + self.size.height, total), total

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines, but at most about half of the screen."""
        return min(
            len(self._fitted(width)),
            max(min(viewport.height // 2, viewport.height - OTHER_LINES), 4),
        )

    def on_resize(self) -> None:
        """Wrap the lines for the new width."""
        self._lay_out()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Check whether the end is in view now."""
        super().watch_scroll_y(old_value, new_value)
        self._check_end()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        lines, number = self._fitted(self._width), y + self.scroll_offset.y
        text, tone = lines[number] if number < len(lines) else ("", "")
        style = self.get_component_rich_style(f"lines--{tone or 'plain'}")
        strip = Strip([Segment(text, style)])
        return strip.adjust_cell_length(self.size.width, self.rich_style).apply_style(
            self.rich_style
        )

    @property
    def _width(self) -> int:
        return self.size.width or 1

    def _lay_out(self) -> None:
        self.virtual_size = Size(self._width, len(self._fitted(self._width)))
        self.refresh()
        self.call_after_refresh(self._check_end)

    def _check_end(self) -> None:
        last, total = self.place
        if total and last >= total and not self.end_was_seen:
            self.end_was_seen = True
            self.post_message(self.EndSeen())

    def _fitted(self, width: int) -> list[TonedLine]:
        if self._wrapped[0] != width:
            room = max(width - SCROLL_BAR, 1)
            self._wrapped = (
                width,
                [each for line in self._lines for each in self._cut(line, room)],
            )
        return self._wrapped[1]

    def _cut(self, line: TonedLine, width: int) -> list[TonedLine]:
        text = shown(line.text)
        spans = line_spans(text, 0, width) if self._is_prose else chopped(text, width)
        pieces = [text[first:last] for first, last in spans] or [""]
        return [TonedLine(piece, line.tone) for piece in pieces]
