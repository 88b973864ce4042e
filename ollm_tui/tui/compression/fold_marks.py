"""Messages folding one by one: a mark and a number each, as many as fit into a line."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from ollm_tui.tui.compression.progress import CompressionProgress

FOLDING = frozenset({"identify", "snapshot", "elide", "summarise"})
"""Stages at which the last message that was taken is still at hand."""


def marks_line(progress: CompressionProgress, width: int, *, unicode: bool) -> Content:
    """Done, at hand, to come; at a side where more are left out, dots say so."""
    keys = list(progress.numbers)
    current = progress.folded[-1] if progress.folded else None
    at = keys.index(current) if current in progress.numbers else 0
    passed = set(progress.folded)
    is_folding = progress.is_running and progress.stage in FOLDING
    more = "…" if unicode else "..."
    # A mark takes three cells at least: no more than these can be seen.
    start, stop = max(at - width // 3, 0), at + width // 3 + 1
    marks = [
        _mark(progress.numbers[key], key in passed, is_folding and key == current, unicode)
        for key in keys[start:stop]
    ]
    first, last = _window([mark.cell_length for mark in marks], at - start, width, len(more))
    shown = marks[first:last]
    if start + first:
        shown.insert(0, Content.styled(more, "$text-muted"))
    if start + last < len(keys):
        shown.append(Content.styled(more, "$text-muted"))
    return Content(" ").join(shown)


def _mark(number: int, is_passed: bool, is_at_hand: bool, unicode: bool) -> Content:
    done, at_hand, to_come = "✓●○" if unicode else "+>."
    if is_at_hand:
        return Content.styled(f"{at_hand} {number}", "bold $accent")
    if is_passed:
        return Content.styled(f"{done}{number}", "$success")
    return Content.styled(f"{to_come} {number}", "$text-muted")


def _window(sizes: Sequence[int], at: int, width: int, dots: int) -> tuple[int, int]:
    """The widest stretch around a place that fits, as from and to."""
    if sum(sizes) + len(sizes) - 1 <= width:
        return 0, len(sizes)
    room = width - 2 * (dots + 1) - sizes[at]
    first, last = at, at + 1
    while True:
        before = first > 0 and sizes[first - 1] + 1 <= room
        after = last < len(sizes) and sizes[last] + 1 <= room
        if after and (not before or last - at <= at - first):
            room -= sizes[last] + 1
            last += 1
        elif before:
            first -= 1
            room -= sizes[first] + 1
        else:
            return first, last
