"""What stands beside the stream, and whether the sidebar leaves it room."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message
from textual.widget import Widget

LEAST_COLUMNS = 60
"""A stream that shares its row with a pane has at least so many, before a sidebar gets any."""


@dataclass
class SideChanged(Message):
    """A pane beside the stream came or went."""


def is_crowded_by(sidebar: Widget, row: Widget, width: int) -> bool:
    """Whether the stream shares a row of this width with a pane, and both would be too narrow
    beside a sidebar."""
    beside = [
        each.styles.width
        for each in row.children
        if each.display and each is not sidebar and each.styles.dock == "none"
    ]
    sharing = sum(1 for width in beside if width and width.is_fraction)
    fixed = [*beside, sidebar.styles.width]
    taken = sum(width.value for width in fixed if width and not width.is_fraction)
    return sharing > 1 and width - taken < sharing * LEAST_COLUMNS
