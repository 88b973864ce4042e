"""The screen that shows the checkpoints of the context: what is sent in place of older messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.compression import Checkpoint
from ollm_tui.tui.compression.words import (
    CHECKPOINT_KEYS,
    LEDGER,
    LEVEL_WORDS,
    NO_CHECKPOINT,
    NO_SUMMARY,
)
from ollm_tui.tui.kit.reading_screen import ReadingScreen
from ollm_tui.tui.stream.entries.message_entries import local_time


class CheckpointsScreen(ReadingScreen):
    """Shows the checkpoints it is given, in the order of the prompt."""

    PAGE = VerticalScroll
    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape,q,v", "close", "Close", id="checkpoints.close", tooltip="Close"),
        Binding("j,down", "scroll(1)", "Down", id="checkpoints.down", tooltip="Scroll down"),
        Binding("k,up", "scroll(-1)", "Up", id="checkpoints.up", tooltip="Scroll up"),
        Binding(
            "pagedown,space",
            "page(1)",
            "Page down",
            id="checkpoints.page_down",
            tooltip="Scroll a page down",
        ),
        Binding(
            "pageup", "page(-1)", "Page up", id="checkpoints.page_up", tooltip="Scroll a page up"
        ),
        Binding("g,home", "edge(0)", "Top", id="checkpoints.top", tooltip="Go to the top"),
        Binding("G,end", "edge(1)", "End", id="checkpoints.end", tooltip="Go to the bottom"),
    ]

    def __init__(self, checkpoints: Sequence[Checkpoint], show: str | None = None) -> None:
        """`show` is the id of the checkpoint that is read first."""
        super().__init__()
        self._checkpoints = checkpoints
        self._first = show

    def compose(self) -> ComposeResult:
        """Show a title, the checkpoints, and the keys."""
        title = self._title()
        yield Static(title, id="heading", markup=False)
        with VerticalScroll(can_focus=False):
            if not self._checkpoints:
                yield Static(Content(NO_CHECKPOINT), classes="checkpoint")
            for number, checkpoint in enumerate(self._checkpoints, start=1):
                text = Content("\n").join(_lines(checkpoint, number, len(self._checkpoints)))
                yield Static(text, classes="checkpoint", markup=False)
        yield Static(Content(CHECKPOINT_KEYS), id="keys")

    def on_mount(self) -> None:
        """Scroll to the checkpoint that is read first."""
        ids = [checkpoint.id for checkpoint in self._checkpoints]
        if self._first in ids:
            first = self.query(".checkpoint")[ids.index(self._first)]
            self.call_after_refresh(first.scroll_visible, animate=False, top=True)

    def _title(self) -> Content:
        title = Content.styled("Checkpoints", "bold $primary")
        if not self._checkpoints:
            return title
        original = sum(checkpoint.original_tokens for checkpoint in self._checkpoints)
        now = sum(checkpoint.current_tokens for checkpoint in self._checkpoints)
        return Content.assemble(title, (f"   {original:,} → {now:,} tokens", "$text-muted"))


def _lines(checkpoint: Checkpoint, number: int, total: int) -> Iterator[Content]:
    title = f"Checkpoint {number} of {total}" if total > 1 else "Checkpoint"
    yield Content.styled(title, "bold $secondary")
    yield Content.styled(" · ".join(_facts(checkpoint)), "$text-muted")
    yield Content("")
    yield Content(clean(checkpoint.summary).strip() or NO_SUMMARY)
    if ledger := clean(checkpoint.facts).strip():
        yield Content("")
        yield Content.styled(LEDGER, "$secondary")
        yield Content(ledger)


def _facts(checkpoint: Checkpoint) -> Iterator[str]:
    yield LEVEL_WORDS.get(checkpoint.level, f"level {checkpoint.level}")
    first, last = (visible(key)[:8] for key in checkpoint.covers)
    messages = counted(len(checkpoint.messages), "message")
    yield f"{messages}, {first} to {last}" if first != last else f"{messages}, {first}"
    yield f"{checkpoint.original_tokens:,} → {checkpoint.current_tokens:,} tokens"
    if checkpoint.model:
        yield visible(checkpoint.model)
    if checkpoint.edited:
        yield "summary edited by you"
    yield f"compression {checkpoint.compression_number}"
    if when := local_time(checkpoint.created_at):
        yield when
