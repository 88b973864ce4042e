"""A list to choose from by keys or mouse, filtered by words; only the lines in view are drawn."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from textwrap import wrap
from typing import Any, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ollm_tui.tui.kit.ranking import Query, ranked

LEAST_TEXT = 10
"""Cells of the text below which the note is left out."""
_BOLD = Style(bold=True)
# Marks and what stands for them in terminals without Unicode, as wide.
_PLAIN_MARKS = str.maketrans("★▸▾✓●○◆◇·…→", "*>v+*o*o-~>")


class Choice(NamedTuple):
    """One line. `text` may come from anywhere: it is shown without markup, cut to the room."""

    key: str
    text: str
    note: str = ""
    """A short text at the right edge: an age, keys, a size."""
    mark: str = ""
    """At most two cells before the text."""
    heading: bool = False
    """A line that cannot be chosen; it stands over the choices below it."""
    words: str = ""
    """Further text that the filter searches."""
    indent: str = ""
    """Drawn before the text as it is: the lines of a tree."""


class LineLooks(NamedTuple):
    """The styles of a line; the highlighted line has one for all."""

    text: Style
    mark: Style
    note: Style


class LineDrawing(NamedTuple):
    """How the lines of one list are drawn."""

    width: int
    mark_width: int
    query: Query
    """What is bold in the text."""
    unicode: bool

    def heading(self, text: str, style: Style) -> list[Segment]:
        """Draw a line that stands over others."""
        return [Segment(f" {self._cut(text, self.width - 2)}", style)]

    def line(self, choice: Choice, looks: LineLooks) -> list[Segment]:
        """Draw a blank, the mark, the text, and at the right edge the note and a blank."""
        mark = choice.mark if self.unicode else choice.mark.translate(_PLAIN_MARKS)
        column = self.mark_width + 1 if self.mark_width else 0
        room = self.width - column - cell_len(choice.indent) - 2
        note = " ".join(choice.note.split())
        if room - cell_len(note) - 2 < min(LEAST_TEXT, cell_len(choice.text)):
            note = ""
        text = self._cut(choice.text, room - cell_len(note) - 2 if note else room)
        gap = room - cell_len(text) - cell_len(note)
        return [
            Segment(" ", looks.text),
            Segment(set_cell_size(mark, column), looks.mark),
            Segment(choice.indent, looks.note),
            *self._with_matches(text, looks.text),
            Segment(" " * max(gap, 0), looks.text),
            Segment(note, looks.note),
        ]

    def _cut(self, text: str, width: int) -> str:
        """Return the text in one line of at most this many cells."""
        text = " ".join(text.split())
        if cell_len(text) <= width:
            return text
        return set_cell_size(text, max(width - 1, 0)).rstrip() + ("…" if self.unicode else "~")

    def _with_matches(self, text: str, style: Style) -> Iterator[Segment]:
        end = 0
        for start, stop in self.query.spans(text):
            yield Segment(text[end:start], style)
            yield Segment(text[start:stop], style + _BOLD)
            end = stop
        yield Segment(text[end:], style)


NOTHING_FITS = "No matches."


class ChoiceList(ScrollView, can_focus=True, inherit_bindings=False):
    """A scrolling list of choices; draws only what is seen, however many there are."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {
        "choice-list--highlighted",
        "choice-list--heading",
        "choice-list--note",
        "choice-list--mark",
    }
    DEFAULT_CSS = """
    ChoiceList {
        overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        & > .choice-list--highlighted { background: $primary 25%; color: $text; }
        &:focus > .choice-list--highlighted {
            background: $block-cursor-background; color: $block-cursor-foreground;
        }
        &:nocolor > .choice-list--highlighted { text-style: reverse; }
        & > .choice-list--heading { color: $text-muted; text-style: bold; }
        & > .choice-list--note { color: $text-muted; }
        & > .choice-list--mark { color: $accent; }
    }
    """
    BINDINGS = [
        Binding("up,k", "move(-1)", "Up", id="choices.up", tooltip="Previous line", show=False),
        Binding("down,j", "move(1)", "Down", id="choices.down", tooltip="Next line", show=False),
        Binding(
            "pageup", "page(-1)", "Page up", id="choices.page_up", tooltip="A page up", show=False
        ),
        Binding(
            "pagedown",
            "page(1)",
            "Page down",
            id="choices.page_down",
            tooltip="A page down",
            show=False,
        ),
        Binding("home", "first", "First", id="choices.first", tooltip="First line", show=False),
        Binding("end", "last", "Last", id="choices.last", tooltip="Last line", show=False),
        Binding("enter", "choose", "Choose", id="choices.choose", tooltip="Choose"),
    ]

    empty: reactive[str] = reactive("")
    """The text shown when there are no choices: it says how to get some."""

    @dataclass
    class Highlighted(Message):
        """Another line is highlighted, or the same one reads differently now."""

        choice: Choice | None

    @dataclass
    class Chosen(Message):
        """A line was chosen, by Enter or by a click on the highlighted one."""

        choice: Choice

    def __init__(
        self, *, empty: str = "", unicode: bool = True, ranks: bool = False, **options: Any
    ) -> None:
        """With `ranks` the filter puts the best first; else the order stays, as that of times."""
        super().__init__(**options)
        self.set_reactive(ChoiceList.empty, empty)
        self._unicode = unicode
        self._ranks = ranks
        self._choices: Sequence[Choice] = ()
        self._choosable: list[int] = []
        self._headings: list[int] = []
        self._searched: list[str] | None = None
        """What the filter searches, made with the first filter: most lists are never filtered."""
        self._query = Query("")
        self._mark_width = 0
        self._lines: list[int] = []
        """The choices that pass the filter and the headings over them, as indexes."""
        self._at: int | None = None
        """The highlighted line."""

    # Choices and filter

    def show(self, choices: Sequence[Choice], highlight: str | None = None) -> None:
        """Replace the choices; the filter stays, and the highlight too if its choice does."""
        before, line = self.highlighted, self._at or 0
        self._choices = tuple(choices)
        self._headings = [at for at, choice in enumerate(self._choices) if choice.heading]
        self._choosable = [at for at, choice in enumerate(self._choices) if not choice.heading]
        self._searched = None
        self._mark_width = max(map(cell_len, {choice.mark for choice in self._choices}), default=0)
        self._narrow()
        self._settle(before, highlight or (before.key if before else None), line)

    def filter(self, words: str) -> int:
        """Show only choices with every word in their texts; returns how many are left."""
        before, was = self.highlighted, self._query
        self._query = Query(words)
        left = self._narrow()
        keeps = before and not (self._ranks and self._query.words != was.words)
        self._settle(before, before.key if before and keeps else None, 0)
        return left

    @property
    def highlighted(self) -> Choice | None:
        """The line that Enter would take."""
        return None if self._at is None else self._choice(self._at)

    @property
    def highlighted_key(self) -> str:
        """The key of the highlighted line; empty if there is none."""
        return self.highlighted.key if self.highlighted else ""

    @property
    def is_at_top(self) -> bool:
        """Whether nothing above the highlighted line can be chosen."""
        return self._at is None or all(self._choice(line).heading for line in range(self._at))

    # Moving

    def move(self, step: int) -> None:
        """Highlight the line this many lines below; headings are passed over."""
        if self._at is None:
            return
        line = min(max(self._at + step, 0), len(self._lines) - 1)
        self._highlight(self._choosable_line(line, step))

    def action_move(self, step: int) -> None:
        """Move one line up or down."""
        self.move(step)

    def action_page(self, direction: int) -> None:
        """Move by a page; one line of it stays in view."""
        self.move(direction * max(self._room().height - 1, 1))

    def action_first(self) -> None:
        """Move to the first line."""
        self.move(-len(self._lines))

    def action_last(self) -> None:
        """Move to the last line."""
        self.move(len(self._lines))

    def action_choose(self) -> None:
        """Choose the highlighted line."""
        if self.highlighted:
            self._tell(self.Chosen(self.highlighted))

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked line, or choose it if it is highlighted already."""
        line = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if line == self._at:
            self.action_choose()
        elif line < len(self._lines) and not self._choice(line).heading:
            self._highlight(line)

    def on_resize(self) -> None:
        """Keep the highlighted line in view."""
        self._fit()

    # Filtering and highlighting

    def _narrow(self) -> int:
        """Filter the lines; returns how many are left. Headings stay if a choice below does."""
        left = self._choosable
        if self._query.words and self._ranks:
            lines = (self._choices[at] for at in left)
            best = ranked(self._query, ((one.text, f"{one.note}\n{one.words}") for one in lines))
            self._lines = [left[at] for at in best]
            return len(best)
        if self._query.words and self._searched is None:
            self._searched = [
                f"{choice.text}\n{choice.note}\n{choice.words}".casefold()
                for choice in self._choices
            ]
        searched = self._searched or []
        for word in self._query.words:
            left = [at for at in left if word in searched[at]]
        ends = [*self._headings[1:], len(self._choices)]
        kept = [
            heading
            for heading, end in zip(self._headings, ends, strict=False)
            if (first := bisect_left(left, heading)) < len(left) and left[first] < end
        ]
        self._lines = sorted([*left, *kept])
        return len(left)

    def _settle(self, before: Choice | None, key: str | None, line: int) -> None:
        """Highlight the choice with a key, or the one nearest to a line, and post the change."""
        self._at = next((at for at in range(len(self._lines)) if self._is(at, key)), None)
        if self._at is None and self._lines:
            self._at = self._choosable_line(min(line, len(self._lines) - 1), 1)
        self._fit()
        self.refresh()
        if self.highlighted != before:
            self._tell(self.Highlighted(self.highlighted))

    def _is(self, line: int, key: str | None) -> bool:
        choice = self._choice(line)
        return choice.key == key and not choice.heading

    def _choice(self, line: int) -> Choice:
        return self._choices[self._lines[line]]

    def _choosable_line(self, line: int, step: int) -> int | None:
        """Return the first line from here on that is no heading, else the first before it."""
        after, before = range(line, len(self._lines)), range(line, -1, -1)
        order = chain(after, before) if step >= 0 else chain(before, after)
        return next((at for at in order if not self._choice(at).heading), None)

    def _highlight(self, line: int | None) -> None:
        if line == self._at:
            return
        self._at = line
        self._fit()
        self.refresh()
        self._tell(self.Highlighted(self.highlighted))

    def _tell(self, message: Message) -> None:
        """Post a message that reaches all parents, also when a call from a parent caused it."""
        self.post_message(message.set_sender(self))

    def _room(self) -> Size:
        return self.scrollable_content_region.size

    def _fit(self) -> None:
        """Set the length of the list and scroll the highlighted line into view."""
        room = self._room()
        self.virtual_size = Size(room.width, len(self._lines))
        if self._at is None or not room.height:
            return
        # A heading right above the highlighted line is kept in view with it.
        has_heading = self._at > 0 and self._choice(self._at - 1).heading
        top = self._at - 1 if has_heading and room.height > 1 else self._at
        seen = self.scroll_offset.y
        lowest = max(len(self._lines) - room.height, 0)
        first = min(top, max(seen, self._at - room.height + 1), lowest)
        if first != seen:
            self.scroll_to(y=first, animate=False, immediate=True)

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        width = self._room().width
        line = self.scroll_offset.y + y
        highlighted = line == self._at
        ground = self._style("highlighted") if highlighted else self.rich_style
        if not self._lines:
            segments = self._hint(y, width)
        elif line >= len(self._lines):
            segments = []
        else:
            segments = self._segments(self._choice(line), ground, highlighted)
        return Strip(segments).adjust_cell_length(width, ground)

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"choice-list--{part}")

    def _hint(self, y: int, width: int) -> list[Segment]:
        lines = wrap(NOTHING_FITS if self._choices else self.empty, max(width - 2, 1))
        return [Segment(f" {lines[y]}", self._style("note"))] if y < len(lines) else []

    def _segments(self, choice: Choice, ground: Style, highlighted: bool) -> list[Segment]:
        drawing = LineDrawing(self._room().width, self._mark_width, self._query, self._unicode)
        if choice.heading:
            return drawing.heading(choice.text, self._style("heading"))
        if highlighted:
            return drawing.line(choice, LineLooks(ground, ground, ground))
        return drawing.line(choice, LineLooks(ground, self._style("mark"), self._style("note")))
