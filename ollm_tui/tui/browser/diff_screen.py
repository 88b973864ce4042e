"""Two points side by side: what was said on either side, and in which form it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.snapshot import ContextSnapshot, summary_of
from ollm_tui.engine.context.budget import Budget
from ollm_tui.services.snapshots.snapshot_diff import diff
from ollm_tui.services.tokens.prompt_count import GROUPS
from ollm_tui.tui.browser.snapshot_diff_lines import summary
from ollm_tui.tui.browser.snapshot_diff_page import SnapshotDiffPage
from ollm_tui.tui.browser.words import snapshot_title
from ollm_tui.tui.kit.reading import ReadingScreen
from ollm_tui.tui.stream.entries.message_entries import local_time

KEYS = "j k PgUp PgDn g G read   n next difference   Esc close"
LEGEND = "+ only right   − only left   ≈ sent in another form"


class DiffSide(NamedTuple):
    """One of the two points."""

    context: ContextSnapshot
    name: str
    parts: Mapping[str, int]
    """Tokens by what they belong to."""

    @classmethod
    def of(cls, context: ContextSnapshot, budget: Budget, *, is_snapshot: bool) -> DiffSide:
        """A point under the name it has in lists."""
        name = snapshot_title(summary_of(context, 0)) if is_snapshot else ""
        name = name or f"{context.summary}   {local_time(context.timestamp)}"
        return cls(context, name, {group: getattr(budget.parts, group) for group in GROUPS})


class SnapshotDiffScreen(ReadingScreen):
    """Shows what differs between two points."""

    PAGE = SnapshotDiffPage
    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape,q,d", "close", "Close", id="diff.close", tooltip="Back to the list"),
        Binding("j,down", "scroll(1)", "Down", id="diff.down", tooltip="A line down"),
        Binding("k,up", "scroll(-1)", "Up", id="diff.up", tooltip="A line up"),
        Binding("pagedown,space", "page(1)", "Page down", id="diff.page_down", tooltip="On"),
        Binding("pageup", "page(-1)", "Page up", id="diff.page_up", tooltip="A page back"),
        Binding("g,home", "edge(0)", "Top", id="diff.top", tooltip="To the top"),
        Binding("G,end", "edge(1)", "End", id="diff.end", tooltip="To the end"),
        Binding("n", "next", "Next", id="diff.next", tooltip="To the next difference"),
    ]

    def __init__(self, left: DiffSide, right: DiffSide) -> None:
        super().__init__()
        self._diff = diff(left.context, right.context, left.parts, right.parts)
        self._names = (left.name, right.name)

    def compose(self) -> ComposeResult:
        """What differs in a line, all of it, the keys."""
        title = Content.styled("What differs", "bold $primary")
        said = (f"   {summary(self._diff)}", "$text-muted")
        yield Static(Content.assemble(title, said), id="heading")
        yield SnapshotDiffPage(self._diff, self._names)
        yield Static(Content(f"{LEGEND}\n{KEYS}"), id="keys")

    def action_next(self) -> None:
        """To the next message that differs."""
        self.query_one(SnapshotDiffPage).go_to_next()
