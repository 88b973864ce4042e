"""Two points as lines side by side: a head with what differs, then message beside message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.branches import words_of
from ollm_tui.core.session.message import Message
from ollm_tui.services.snapshots.snapshot_diff import Change, ContextDiff, Form, MessageDiff

TWO_COLUMNS = 100
Look = Literal["plain", "quiet", "added", "gone", "changed", "title"]

MARKS: Mapping[str, str] = {"same": " ", "added": "+", "gone": "−", "changed": "≈"}
_FORMS: Mapping[Form, str] = {
    "": "",
    "sent": "",
    "folded": "folded",
    "elided": "cut short",
    "excluded": "left out",
}
_SPEAKERS = {"user": "you", "assistant": "model", "system": "note", "tool": "tool"}
_NAMES = {
    "system": "always sent",
    "checkpoints": "checkpoints",
    "user": "yours",
    "assistant": "the model's",
    "tools": "tools",
}
GUTTER = 12
"""Cells for the names at the left of the head."""


class Piece(NamedTuple):
    """Some words and how they look."""

    look: Look
    text: str


Line = tuple[Piece, ...]


def diff_lines(diff: ContextDiff, names: tuple[str, str], width: int) -> list[Line]:
    """All lines, in two columns where there is room for them."""
    lines = [*_head(diff, names, width), ()]
    draw = _two_columns if width >= TWO_COLUMNS else _one_column
    lines += [draw(each, diff, width) for each in diff.messages]
    if not diff.messages:
        lines.append((Piece("quiet", " Nothing had been said on either side."),))
    return lines


def summary(diff: ContextDiff) -> str:
    """What differs, in one line."""
    counts = (
        (diff.count("gone"), "only left"),
        (diff.count("added"), "only right"),
        (diff.count("changed"), "in another form"),
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
    yield line("tokens", f"{diff.tokens[0]:,}", f"{diff.tokens[1]:,}")
    for name, left, right in diff.parts:
        if left or right:
            yield line(_NAMES.get(name, name), f"{left:,}", f"{right:,}")
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
    look: Look = "quiet" if each.fate == "same" else each.fate
    mark = MARKS[each.fate]
    return (
        Piece(look, f" {mark if left else ' '} {_cut(left, room - 2)}"),
        Piece("quiet", "│"),
        Piece(look, f" {mark if right else ' '} {_cut(right, room - 2)}"),
    )


def _side_width(width: int) -> int:
    return (width - 5) // 2


def _one_column(each: MessageDiff, diff: ContextDiff, width: int) -> Line:
    look: Look = "quiet" if each.fate == "same" else each.fate
    words = _words(diff.words.get(each.key))
    form = _FORMS[each.left]
    if each.fate == "changed":
        form = f"{_FORMS[each.left] or 'whole'} → {_FORMS[each.right] or 'whole'}"
    elif each.fate == "added":
        form = _FORMS[each.right]
    note = f"  {form}" if form else ""
    text = _cut(words, max(width - 5 - cell_len(note), 8))
    return (Piece(look, f" {MARKS[each.fate]} {text}{note}"),)


def _with_form(words: str, form: Form, room: int) -> str:
    """What was said and in which form it is sent; nothing if it is not there at all."""
    if not form:
        return ""
    note = f"  {_FORMS[form]}" if _FORMS[form] else ""
    return f"{_cut(words, room - 2 - cell_len(note))}{note}"


def _words(message: Message | None) -> str:
    if message is None:
        return "(behind a checkpoint)"
    return f"{_SPEAKERS[message.role]:<6} {clean(words_of(message))}"


def _cut(text: str, width: int) -> str:
    """A text in exactly so many cells."""
    text = " ".join(clean(text).split()) if "\n" in text else clean(text)
    if cell_len(text) > width:
        text = f"{set_cell_size(text, max(width - 1, 0)).rstrip()}…"
    return set_cell_size(text, max(width, 0))
