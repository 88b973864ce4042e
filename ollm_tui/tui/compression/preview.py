"""A compression before it is applied: what stays, folds and goes, and the summary to edit."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionDrafted,
    Draft,
)
from ollm_tui.core.intake import clean
from ollm_tui.tui.compression.compression_bars import two_bars
from ollm_tui.tui.compression.compression_preview_lines import fate_choices, preview_words, totals
from ollm_tui.tui.compression.lines import CompressionLines
from ollm_tui.tui.compression.progress import Clock, CompressionProgress
from ollm_tui.tui.compression.summary_area import SummaryArea
from ollm_tui.tui.gauge.gauge_bar import ASCII, COLOURED, WITHOUT_COLOUR, Characters
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.kit.question import Question

FRAME_SECONDS = 1 / 20
KEYS = (
    ("preview.apply", "apply"),
    ("preview.edit", "edit the summary"),
    ("preview.instructions", "instructions"),
    ("preview.leave", "leave, nothing changes"),
)
EDITING_KEYS = (("preview.leave", "done editing"),)
PREVIEW = "Preview"
EDITING = "You are editing the summary; the model will read it in the place of the messages."
QUESTION = (
    "Extra instructions for the summary\n"
    "What matters to you, in a line: the summary is written anew with it in mind."
)


@dataclass(frozen=True)
class Applied:
    """The draft is to be applied; `summary` only if the user changed it."""

    draft: Draft
    summary: str | None = None


@dataclass(frozen=True)
class StartOver:
    """The summary is to be written anew with these instructions."""

    instructions: str


Decision = Applied | StartOver | None
"""None: nothing is to change."""


class CompressionPreview(Screen[Decision]):
    """Shows what `take` is told; gives what the user wants, None if nothing is to change."""

    AUTO_FOCUS = "ChoiceList"
    CSS_PATH = "screen.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
    BINDINGS = [
        Binding(
            "enter",
            "apply",
            "Apply",
            id="preview.apply",
            tooltip="Compress the context as it is shown",
            priority=True,
        ),
        Binding("e", "edit", "Edit", id="preview.edit", tooltip="Edit the summary first"),
        Binding(
            "i",
            "instruct",
            "Instructions",
            id="preview.instructions",
            tooltip="Have the summary written anew with extra instructions",
        ),
        Binding(
            "escape",
            "leave",
            "Leave",
            id="preview.leave",
            tooltip="Done editing; else leave, and nothing changes",
        ),
    ]

    app: App[Any]

    def __init__(
        self,
        instructions: str = "",
        progress: CompressionProgress | None = None,
        *,
        unicode: bool = True,
        clock: Clock = time.monotonic,
    ) -> None:
        """With a `progress` somebody else takes the events: `follow` says that there is more."""
        super().__init__()
        self._instructions = instructions
        self._unicode = unicode
        self._clock = clock
        self._progress = progress or CompressionProgress(clock)
        self._is_editing = False
        self._shown_draft: Draft | None = None
        """The draft whose summary was put where it can be edited."""
        self._frame: Timer | None = None
        self._second: Timer | None = None

    def compose(self) -> ComposeResult:
        """How far it is, before and after, what becomes of what beside the summary, the keys."""
        yield Static(id="heading")
        yield Static(id="bars")
        with Container(id="columns"):
            yield ChoiceList(empty="Nothing is chosen yet.", unicode=self._unicode)
            with Vertical(id="words"):
                yield Static(id="summary-title")
                yield SummaryArea()
                yield Static(Content("Ledger, kept without the model"), id="ledger-title")
                with VerticalScroll(id="ledger", can_focus=False):
                    yield Static()
        yield Static(id="said")
        yield LiveKeys()

    def on_mount(self) -> None:
        """It may have begun before."""
        self._show()
        self.follow()

    def on_resize(self) -> None:
        """Bars and heading have another width."""
        self._draw_soon()

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        self._stop()

    def take(self, event: AnyCompressionEvent) -> None:
        """Show one event; those of one frame are drawn together."""
        self._progress.take(event)
        self.follow()

    def follow(self) -> None:
        """More is known of the compression."""
        if not self.is_mounted:
            return
        if self._progress.is_running:
            self._second = self._second or self.set_interval(1, self._draw_soon)
        if self._progress.ending is None:
            self._draw_soon()
        else:
            self._stop()
            self._show()

    # What the user does

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A draft can be applied and its summary edited; what is edited takes all keys but Esc."""
        if action == "apply":
            return self._draft is not None and not self._is_editing
        if action == "edit":
            return self._checkpoint_is_there and not self._is_editing
        return action != "instruct" or not self._is_editing

    def action_apply(self) -> None:
        """Close with the draft."""
        if self._draft:
            self.dismiss(Applied(self._draft, self._own_summary))

    def action_edit(self) -> None:
        """Open the summary."""
        self._is_editing = True
        self.query_one(SummaryArea).open()
        self._show()

    def action_instruct(self) -> None:
        """Ask for a line, and close with it."""

        def start_over(answer: str | None) -> None:
            if answer and answer.strip():
                self.dismiss(StartOver(answer.strip()))

        question = Question(QUESTION, self._instructions, "write it anew")
        self.app.push_screen(question, start_over)

    def action_leave(self) -> None:
        """Done editing; or close, and nothing changes."""
        if not self._is_editing:
            self.dismiss(None)
            return
        self._is_editing = False
        self.query_one(SummaryArea).close()
        self._progress.is_edited = self._own_summary is not None
        self.query_one(ChoiceList).focus()
        self._show()

    @on(ChoiceList.Chosen)
    def look_only(self, event: ChoiceList.Chosen) -> None:
        """A click on a line is no reason to change anything."""
        event.stop()

    # Showing

    @property
    def _draft(self) -> Draft | None:
        ending = self._progress.ending
        return ending.draft if isinstance(ending, CompressionDrafted) else None

    @property
    def _checkpoint_is_there(self) -> bool:
        return self._draft is not None and self._draft.checkpoint is not None

    @property
    def _own_summary(self) -> str | None:
        """What the user made of the summary; None if it is as it was."""
        checkpoint = self._draft and self._draft.checkpoint
        text = clean(self.query_one(SummaryArea).text).strip()
        return text if checkpoint and text != clean(checkpoint.summary).strip() else None

    def _show(self) -> None:
        self._frame = None
        width = max(self.size.width - 2, 1)
        lines = CompressionLines(self._progress, width, self._characters, self._unicode, PREVIEW)
        self._update("heading", Content("\n").join(lines.heading()))
        if self._progress.started:
            bars = two_bars(self._progress, width, self._characters)
            counts = totals(self._progress, self._characters)
            self._update("bars", Content("\n").join([*bars, counts]))
        if not self.query_one(ChoiceList).highlighted:
            self.query_one(ChoiceList).show(fate_choices(self._progress))
        self._show_words()
        self._show_said()

    def _show_words(self) -> None:
        """The summary, unless it is the user's by now, and the ledger."""
        area, draft = self.query_one(SummaryArea), self._draft
        if draft is None:
            area.follow(self._progress.summary)
        elif draft is not self._shown_draft:
            self._shown_draft = draft
            area.follow(clean(draft.checkpoint.summary) if draft.checkpoint else "")
        self._update("summary-title", Content(self._summary_title()))
        ledger = self._progress.ledger.strip()
        self.query_one("#words").set_class(bool(ledger), "with-ledger")
        self.query_one("#ledger Static", Static).update(Content(ledger))

    def _summary_title(self) -> str:
        if self._is_editing:
            return "Summary, yours to edit"
        if self._draft is None:
            return "Summary, as it is written"
        return "Summary" if self._draft.checkpoint else "No summary: nothing is folded"

    def _show_said(self) -> None:
        said, ending = self.query_one("#said", Static), self._progress.ending
        words = EDITING if self._is_editing else preview_words(self._progress, self._own_summary)
        said.update(Content(words))
        said.set_class(self._draft is not None, "ready")
        said.set_class(ending is not None and self._draft is None, "wrong")
        self.set_class(self._is_editing, "-editing")
        self.refresh_bindings()
        self.query_one(LiveKeys).show(*(EDITING_KEYS if self._is_editing else KEYS))

    def _update(self, name: str, content: Content) -> None:
        self.query_one(f"#{name}", Static).update(content)

    def _draw_soon(self) -> None:
        if self._frame is None:
            self._frame = self.set_timer(FRAME_SECONDS, self._show)

    def _stop(self) -> None:
        for timer in (self._frame, self._second):
            if timer:
                timer.stop()
        self._frame = self._second = None

    @property
    def _characters(self) -> Characters:
        if not self._unicode:
            return ASCII
        return WITHOUT_COLOUR if self.app.no_color else COLOURED
