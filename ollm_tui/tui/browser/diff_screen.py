"""The screen that compares two points: what each side says, and in which form it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.branches import words_of
from ollm_tui.core.session.message import Message
from ollm_tui.core.snapshot import ContextSnapshot, summary_of
from ollm_tui.engine.context.budget import Budget
from ollm_tui.services.snapshots.snapshot_diff import Change, ContextDiff, Form, MessageDiff, diff
from ollm_tui.services.tokens.prompt_count import GROUPS
from ollm_tui.tui.browser.words import (
    DIFF_KEYS,
    DIFF_LEGEND,
    DIFF_SPEAKERS,
    FORM_WORDS,
    PART_NAMES,
    snapshot_title,
)
from ollm_tui.tui.kit.reading_screen import ReadingScreen
from ollm_tui.tui.stream.entries.message_entries import local_time

TWO_COLUMNS = 100
"""Cells from which the sides stand beside each other."""
GUTTER = 12
"""Cells for the names at the left of the head."""
Look = Literal["plain", "quiet", "added", "gone", "changed", "title"]
MARKS: Mapping[str, str] = {"same": " ", "added": "+", "gone": "−", "changed": "≈"}


class Piece(NamedTuple):
    """A text and how it looks."""

    look: Look
    text: str


Line = tuple[Piece, ...]


class DiffSide(NamedTuple):
    """One side of a comparison: a point, its name and its tokens."""

    context: ContextSnapshot
    name: str
    parts: Mapping[str, int]
    """Tokens by what they belong to."""

    @classmethod
    def of(cls, context: ContextSnapshot, budget: Budget, *, is_snapshot: bool) -> DiffSide:
        """Return the side of a point, under the name it has in lists."""
        name = snapshot_title(summary_of(context, 0)) if is_snapshot else ""
        name = name or f"{context.summary}   {local_time(context.timestamp)}"
        return cls(context, name, {group: getattr(budget.parts, group) for group in GROUPS})


class SnapshotDiffPage(ScrollView, can_focus=False):
    """Scrolls through the lines of a comparison."""

    COMPONENT_CLASSES = {
        "diff--plain",
        "diff--quiet",
        "diff--added",
        "diff--gone",
        "diff--changed",
        "diff--title",
    }
    DEFAULT_CSS = """
    SnapshotDiffPage {
        height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        & > .diff--plain { color: $foreground; }
        & > .diff--quiet { color: $text-muted; }
        & > .diff--added { color: $text-success; }
        & > .diff--gone { color: $text-error; }
        & > .diff--changed { color: $text-warning; }
        & > .diff--title { color: $primary; text-style: bold; }
    }
    """

    def __init__(self, diff: ContextDiff, names: tuple[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._diff = diff
        self._names = names
        self._lines: list[Line] = []

    def on_resize(self) -> None:
        """Lay the lines out for the new width."""
        width = self.scrollable_content_region.width
        self._lines = diff_lines(self._diff, self._names, width)
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def go_to_next(self) -> None:
        """Show the next message that differs, below what is at the top; after the last, the
        first."""
        head = len(self._lines) - len(self._diff.messages)
        places = [
            head + number
            for number, each in enumerate(self._diff.messages)
            if each.outcome != "same"
        ]
        above = self.scroll_offset.y + 1
        wanted = next((place for place in places if place - 1 > above), None)
        if wanted is None and places:
            wanted = places[0]
        if wanted is not None:
            self.scroll_to(y=max(wanted - 1, 0), animate=False)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        number, width = y + self.scroll_offset.y, self.size.width
        line = self._lines[number] if number < len(self._lines) else ()
        strip = Strip([Segment(text, self._style(look)) for look, text in line])
        return strip.adjust_cell_length(width, self.rich_style).apply_style(self.rich_style)

    def _style(self, look: str) -> Style:
        return self.get_component_rich_style(f"diff--{look}")


class SnapshotDiffScreen(ReadingScreen):
    """Shows what differs between two points, with a summary on top."""

    PAGE = SnapshotDiffPage
    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape,q,d", "close", "Close", id="diff.close", tooltip="Back to the list"),
        Binding("j,down", "scroll(1)", "Down", id="diff.down", tooltip="Scroll down"),
        Binding("k,up", "scroll(-1)", "Up", id="diff.up", tooltip="Scroll up"),
        Binding(
            "pagedown,space",
            "page(1)",
            "Page down",
            id="diff.page_down",
            tooltip="Scroll a page down",
        ),
        Binding("pageup", "page(-1)", "Page up", id="diff.page_up", tooltip="Scroll a page up"),
        Binding("g,home", "edge(0)", "Top", id="diff.top", tooltip="Go to the top"),
        Binding("G,end", "edge(1)", "End", id="diff.end", tooltip="Go to the bottom"),
        Binding("n", "next", "Next", id="diff.next", tooltip="Next difference"),
    ]

    def __init__(self, left: DiffSide, right: DiffSide) -> None:
        super().__init__()
        self._diff = diff(left.context, right.context, left.parts, right.parts)
        self._names = (left.name, right.name)

    def compose(self) -> ComposeResult:
        """Show a summary, the comparison, and the keys."""
        title = Content.styled("Differences", "bold $primary")
        said = (f"   {summary(self._diff)}", "$text-muted")
        yield Static(Content.assemble(title, said), id="heading")
        yield SnapshotDiffPage(self._diff, self._names)
        yield Static(Content(f"{DIFF_LEGEND}\n{DIFF_KEYS}"), id="keys")

    def action_next(self) -> None:
        """Scroll to the next message that differs."""
        self.query_one(SnapshotDiffPage).go_to_next()


def diff_lines(diff: ContextDiff, names: tuple[str, str], width: int) -> list[Line]:
    """Return the lines of a comparison, in two columns where there is room for them."""
    lines = [*_head(diff, names, width), ()]
    draw = _two_columns if width >= TWO_COLUMNS else _one_column
    lines += [draw(each, diff, width) for each in diff.messages]
    if not diff.messages:
        lines.append((Piece("quiet", " No messages on either side."),))
    return lines


def summary(diff: ContextDiff) -> str:
    """Return what differs, in one line."""
    counts = (
        (diff.count("gone"), "only left"),
        (diff.count("added"), "only right"),
        (diff.count("changed"), "sent differently"),
    )
    said = [f"{number:,} {words}" for number, words in counts if number]
    same = f"{diff.count('same'):,} the same"
    return " · ".join([*said, same])


def _head(diff: ContextDiff, names: tuple[str, str], width: int) -> Iterator[Line]:
    # The line between the sides is the one between the columns below, where there are two.
    is_wide = width >= TWO_COLUMNS
    middle = _side_width(width) + 1 if is_wide else (width + GUTTER) // 2
    indent = "   " if is_wide else " "

    def line(what: str, left: str, right: str, look: Look = "plain") -> Line:
        return (
            Piece("quiet", f" {_cut(what, GUTTER - 1)}"),
            Piece(look, f" {_cut(left, middle - GUTTER - 2)} "),
            Piece("quiet", "│"),
            Piece(look, f"{indent}{_cut(right, width - middle - 1 - len(indent))}"),
        )

    yield line("", *names, "title")
    left, right = ("≈" if estimated else "" for estimated in diff.estimated)
    yield line("tokens", f"{left}{diff.tokens[0]:,}", f"{right}{diff.tokens[1]:,}")
    for name, left, right in diff.parts:
        if left or right:
            yield line(PART_NAMES.get(name, name), f"{left:,}", f"{right:,}")
    for change in diff.goals:
        yield line("goal", _goal(change, change.left), _goal(change, change.right), "changed")
    for change in (*diff.facts, *diff.files):
        yield line(change.what, change.left or "none", change.right or "none", "changed")
    if diff.pins:
        yield (Piece("changed", f" {counted(len(diff.pins), 'message')} pinned on one side only"),)


def _goal(change: Change, state: str) -> str:
    return f"{visible(change.what)}: {state}" if state else "none"


def _two_columns(each: MessageDiff, diff: ContextDiff, width: int) -> Line:
    room = _side_width(width)
    words = _words(diff.words.get(each.key))
    left, right = (_with_form(words, form, room) for form in (each.left, each.right))
    look: Look = "quiet" if each.outcome == "same" else each.outcome
    mark = MARKS[each.outcome]
    return (
        Piece(look, f" {mark if left else ' '} {_cut(left, room - 2)}"),
        Piece("quiet", "│"),
        Piece(look, f" {mark if right else ' '} {_cut(right, room - 2)}"),
    )


def _side_width(width: int) -> int:
    return (width - 5) // 2


def _one_column(each: MessageDiff, diff: ContextDiff, width: int) -> Line:
    look: Look = "quiet" if each.outcome == "same" else each.outcome
    words = _words(diff.words.get(each.key))
    form = FORM_WORDS[each.left]
    if each.outcome == "changed":
        form = f"{FORM_WORDS[each.left] or 'whole'} → {FORM_WORDS[each.right] or 'whole'}"
    elif each.outcome == "added":
        form = FORM_WORDS[each.right]
    note = f"  {form}" if form else ""
    text = _cut(words, max(width - 5 - cell_len(note), 8))
    return (Piece(look, f" {MARKS[each.outcome]} {text}{note}"),)


def _with_form(words: str, form: Form, room: int) -> str:
    """Return what was said and the form it is sent in; empty if this side does not have it."""
    if not form:
        return ""
    note = f"  {FORM_WORDS[form]}" if FORM_WORDS[form] else ""
    return f"{_cut(words, room - 2 - cell_len(note))}{note}"


def _words(message: Message | None) -> str:
    if message is None:
        return "(behind a checkpoint)"
    return f"{DIFF_SPEAKERS[message.role]:<6} {clean(words_of(message))}"


def _cut(text: str, width: int) -> str:
    """Return a text in exactly this many cells."""
    text = " ".join(clean(text).split()) if "\n" in text else clean(text)
    if cell_len(text) > width:
        text = f"{set_cell_size(text, max(width - 1, 0)).rstrip()}…"
    return set_cell_size(text, max(width, 0))
