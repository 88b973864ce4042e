"""The preview of a compression: what stays, folds and goes short, and the summary to edit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from types import MappingProxyType
from typing import Any, assert_never

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static, TextArea

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionCancelled,
    CompressionDrafted,
    CompressionFailed,
    CompressionSkipped,
    ContextCompressed,
    Draft,
    Outcome,
)
from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean, visible
from ollm_tui.engine.compression.conversation_compression import NO_CHOICES, Choices
from ollm_tui.engine.compression.plan.material import Choice as OwnChoice
from ollm_tui.tui.compression.checkpoint_screen import CheckpointsScreen
from ollm_tui.tui.compression.compression_lines import COLOURS, NOUNS, CompressionLines, two_bars
from ollm_tui.tui.compression.progress import (
    Clock,
    CompressionProgress,
    reading_words,
    tokens_of,
)
from ollm_tui.tui.compression.words import (
    BEFORE_AFTER,
    CHECKPOINT_KEYS,
    EDITING,
    EDITING_KEYS,
    INSTRUCTIONS_QUESTION,
    NOTHING_SELECTED_YET,
    OUTCOME_GROUPS,
    OUTCOME_WORDS,
    PREVIEW,
    PREVIEW_KEYS,
    REJECTED,
    What,
    ending_line,
)
from ollm_tui.tui.gauge.gauge_bar import Characters, characters_for
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.kit.question import Question
from ollm_tui.tui.kit.reading_screen import ReadingScreen

DIFF_CONTEXT = 2
"""Unchanged lines around a change."""
DIFF_TONES = MappingProxyType({"+": "$text-success", "-": "$text-error", "@": "$text-muted"})
NEXT_CHOICE: Mapping[What, OwnChoice] = MappingProxyType(
    {"keep": "excerpt", "elide": "fold", "fold": "keep"}
)
FRAME_SECONDS = 1 / 20
"""Events of one frame are drawn together."""


@dataclass(frozen=True)
class Applied:
    """The user applies the draft; `summary` is None unless the user changed it."""

    draft: Draft
    summary: str | None = None


@dataclass(frozen=True)
class StartOver:
    """The user wants the summary to be written again with these instructions."""

    instructions: str
    choices: Choices = field(default_factory=dict[str, OwnChoice])
    """What the user decided for single messages."""


BeforeAndAfter = Callable[[Draft, str | None], tuple[str, str]]
"""Returns the prompt as it is and as a draft, with the user's summary if any, would leave it."""

Decision = Applied | StartOver | None
"""What the user decides about a draft; None changes nothing."""


class SummaryArea(TextArea):
    """A text that grows at its end until the user edits it. What is pasted is filtered."""

    def __init__(self) -> None:
        super().__init__(
            read_only=True,
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            show_cursor=False,
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False

    def follow(self, text: str) -> None:
        """Show a text, and keep its end in view; of a text that has grown only the end is added."""
        shown = self.text
        if text == shown:
            return
        if shown and text.startswith(shown):
            self.insert(text[len(shown) :], self.document.end, maintain_selection_offset=True)
        else:
            self.load_text(text)
        self.scroll_end(animate=False)

    def open(self) -> None:
        """Let it be edited, from its end."""
        self.read_only = False
        self.show_cursor = True
        self.move_cursor(self.document.end)
        self.focus()

    def close(self) -> None:
        """Let it only be read."""
        self.read_only = True
        self.show_cursor = False

    def action_paste(self) -> None:
        """Paste what was copied in this program."""
        self._put(self.app.clipboard)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._put(event.text)

    def _put(self, text: str) -> None:
        if not self.read_only:
            self.move_cursor(self.replace(clean(text), *self.selection).end_location)


class BeforeAfterScreen(ReadingScreen):
    """Shows what the model sees before and after a compression, as a diff."""

    PAGE = VerticalScroll
    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = CheckpointsScreen.BINDINGS

    def __init__(self, before: str, after: str) -> None:
        super().__init__()
        self._before = before
        self._after = after

    def compose(self) -> ComposeResult:
        """Show a title, the diff, and the keys."""
        yield Static(Content(BEFORE_AFTER), id="heading")
        with VerticalScroll(can_focus=False):
            yield Static(Content("\n").join(self._lines()), classes="checkpoint", markup=False)
        yield Static(Content(CHECKPOINT_KEYS), id="keys")

    def _lines(self) -> Iterator[Content]:
        before, after = self._before.splitlines(), self._after.splitlines()
        for line in unified_diff(before, after, lineterm="", n=DIFF_CONTEXT):
            if not line.startswith(("---", "+++")):
                yield Content.styled(visible(line), DIFF_TONES.get(line[:1], ""))


class CompressionPreview(Screen[Decision]):
    """Shows a compression by its events; dismisses with what the user decides."""

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
            tooltip="Apply this compression",
            priority=True,
        ),
        Binding("e", "edit", "Edit", id="preview.edit", tooltip="Edit the summary"),
        Binding(
            "x",
            "leave_out",
            "Without summary",
            id="preview.leave_out",
            tooltip="Apply without a summary; keep only the ledger",
        ),
        Binding(
            "d",
            "diff",
            "Before and after",
            id="preview.diff",
            tooltip="Show the prompt before and after",
        ),
        Binding(
            "space",
            "choose",
            "Keep, cut or fold",
            id="preview.choose",
            tooltip="Keep, cut or fold this message, and preview again",
        ),
        Binding(
            "i",
            "instruct",
            "Instructions",
            id="preview.instructions",
            tooltip="Rewrite the summary with instructions",
        ),
        Binding(
            "escape",
            "leave",
            "Close",
            id="preview.leave",
            tooltip="Finish editing, or close without changes",
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
        before_and_after: BeforeAndAfter | None = None,
        choices: Choices = NO_CHOICES,
    ) -> None:
        """With a `progress` the caller takes the events itself, and calls `follow` after each."""
        super().__init__()
        self._before_and_after = before_and_after
        self._choices = choices
        self._instructions = instructions
        self._unicode = unicode
        self._clock = clock
        self._progress = progress or CompressionProgress(clock)
        self._is_editing = False
        self._shown_draft: Draft | None = None
        """The draft whose summary is in the text area."""
        self._frame: Timer | None = None
        self._second: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out the heading, the bars, the outcomes beside summary and ledger, and the keys."""
        yield Static(id="heading")
        yield Static(id="bars")
        with Container(id="columns"):
            yield ChoiceList(empty=NOTHING_SELECTED_YET, unicode=self._unicode)
            with Vertical(id="words"):
                yield Static(id="summary-title")
                yield SummaryArea()
                yield Static(Content("Ledger (from records, no model)"), id="ledger-title")
                with VerticalScroll(id="ledger", can_focus=False):
                    yield Static()
        yield Static(id="said")
        yield LiveKeys()

    def on_mount(self) -> None:
        """Show a compression that may have begun before."""
        self._show()
        self.follow()

    def on_resize(self) -> None:
        """Draw bars and heading in the new width."""
        self._draw_soon()

    def on_unmount(self) -> None:
        """Stop the timers."""
        self._stop()

    def take(self, event: AnyCompressionEvent) -> None:
        """Show one event; those of one frame are drawn together."""
        self._progress.take(event)
        self.follow()

    def follow(self) -> None:
        """Draw again: more is known of the compression."""
        # Closed, but not gone yet, it has no widgets to draw in.
        if not self.is_mounted or self not in self.app.screen_stack:
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
        """Allow what is possible now: while the summary is edited, it takes all keys but Esc."""
        if action == "apply":
            return self._draft is not None and not self._is_editing
        if action in ("edit", "leave_out"):
            return self._checkpoint_is_there and not self._is_editing
        if action == "diff":
            can = self._draft is not None and self._before_and_after is not None
            return can and not self._is_editing
        if action == "choose":
            return self._progress.ending is not None and not self._is_editing
        return action != "instruct" or not self._is_editing

    def action_apply(self) -> None:
        """Dismiss with the draft, and the summary if the user changed it."""
        if self._draft:
            self.dismiss(Applied(self._draft, self._own_summary))

    def action_edit(self) -> None:
        """Let the user edit the summary."""
        self._is_editing = True
        self.query_one(SummaryArea).open()
        self._show()

    def action_leave_out(self) -> None:
        """Dismiss with the draft, without any summary."""
        if self._draft:
            self.dismiss(Applied(self._draft, ""))

    def action_diff(self) -> None:
        """Show the prompt as the model sees it before and after, as a diff."""
        if self._draft and self._before_and_after:
            both = self._before_and_after(self._draft, self._own_summary)
            self.app.push_screen(BeforeAfterScreen(*both))

    def action_choose(self) -> None:
        """Give the message under the cursor its next outcome, and plan anew."""
        chosen = self.query_one(ChoiceList).highlighted
        started = self._progress.started
        listed = {outcome.key: outcome for outcome in started.outcomes} if started else {}
        outcome = listed.get(chosen.key) if chosen else None
        if outcome is None or outcome.why == "checkpoint" or outcome.what == "age":
            return
        choices: dict[str, OwnChoice] = dict(self._choices)
        choices[outcome.key] = NEXT_CHOICE[outcome.what]
        self.dismiss(StartOver(self._instructions, choices))

    def action_instruct(self) -> None:
        """Ask for instructions, and dismiss with them."""

        def start_over(answer: str | None) -> None:
            if answer and answer.strip():
                self.dismiss(StartOver(answer.strip(), self._choices))

        question = Question(INSTRUCTIONS_QUESTION, self._instructions, "rewrite")
        self.app.push_screen(question, start_over)

    def action_leave(self) -> None:
        """End editing; else dismiss, and nothing changes."""
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
        """Stop the event: choosing a line changes nothing."""
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
        """The summary as the user changed it; None if it is as it was."""
        checkpoint = self._draft and self._draft.checkpoint
        text = clean(self.query_one(SummaryArea).text).strip()
        if not checkpoint or text == self._untouched:
            return None
        return text

    @property
    def _untouched(self) -> str:
        """The text to edit: the summary, or the one that was rejected. Only once it was edited
        is a rejected one applied."""
        checkpoint = self._draft.checkpoint if self._draft else None
        if checkpoint is None:
            return ""
        return clean(checkpoint.summary).strip() or self._progress.rejected.strip()

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
            self.query_one(ChoiceList).show(outcome_choices(self._progress))
        self._show_words()
        self._show_said()

    def _show_words(self) -> None:
        """Show the summary and the ledger; a summary that the user may have edited stays."""
        area, draft = self.query_one(SummaryArea), self._draft
        if draft is None:
            area.follow(self._progress.summary)
        elif draft is not self._shown_draft:
            self._shown_draft = draft
            area.follow(self._untouched)
        self._update("summary-title", Content(self._summary_title()))
        ledger = self._progress.ledger.strip()
        self.query_one("#words").set_class(bool(ledger), "with-ledger")
        self.query_one("#words").set_class(self._has_ledger_alone, "ledger-alone")
        self.query_one("#ledger Static", Static).update(Content(ledger))

    def _summary_title(self) -> str:
        if self._is_editing:
            return "Summary (editing)"
        if self._draft is None and self._progress.ending:
            return ""
        if self._draft is None:
            return reading_words(self._progress) or "Summary (being written)"
        if self._draft.checkpoint is None:
            return "No summary: nothing to fold"
        if self._draft.checkpoint.summary:
            return "Summary"
        return REJECTED if self._progress.rejected else "No summary, only the ledger"

    @property
    def _has_ledger_alone(self) -> bool:
        """Whether there is no summary, nor one that could be edited: the ledger has its place."""
        made = self._draft.checkpoint if self._draft else None
        has_words = self._is_editing or self._progress.rejected or self._own_summary
        return made is not None and not made.summary and not has_words

    def _show_said(self) -> None:
        said, ending = self.query_one("#said", Static), self._progress.ending
        words = EDITING if self._is_editing else preview_words(self._progress, self._own_summary)
        said.update(Content(words))
        said.set_class(self._draft is not None, "ready")
        said.set_class(ending is not None and self._draft is None, "wrong")
        self.set_class(self._is_editing, "-editing")
        self.refresh_bindings()
        self.query_one(LiveKeys).show(*(EDITING_KEYS if self._is_editing else PREVIEW_KEYS))

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
        return characters_for(unicode=self._unicode, no_color=self.app.no_color)


def outcome_choices(progress: CompressionProgress) -> list[Choice]:
    """Return three groups with a line for each message and older checkpoint, the largest first."""
    lines: list[Choice] = []
    listed = progress.started.outcomes if progress.started else ()
    width = max((len(f"{outcome.tokens:,}") for outcome in listed), default=0)
    for title, kinds in OUTCOME_GROUPS:
        outcomes = [outcome for what in kinds for outcome in progress.outcomes(what)]
        if outcomes:
            heading = f"{title} · {len(outcomes):,} · {tokens_of(outcomes)[0]:,} tokens"
            lines.append(Choice(title, heading, heading=True))
            lines += [
                _line(outcome, width)
                for outcome in sorted(outcomes, key=lambda outcome: -outcome.tokens)
            ]
    return lines


def totals(progress: CompressionProgress, characters: Characters) -> Content:
    """Return how many stay, fold, go short and age, with the colours of the bars."""
    parts = [
        Content.assemble(
            (characters[NOUNS[what][0]], COLOURS[NOUNS[what][0]]),
            f" {word} ",
            (str(len(outcomes)), "$text-muted"),
        )
        for what, word in OUTCOME_WORDS.items()
        if (outcomes := progress.outcomes(what))
    ]
    return Content("   ").join(parts)


def preview_words(progress: CompressionProgress, summary: str | None) -> str:
    """Return what would happen, and that nothing has yet; `summary` is the user's own, if any."""
    match progress.ending:
        case None:
            return _words_before(progress)
        case CompressionDrafted():
            note = visible(progress.ending.draft.compression.note)
            return " ".join(filter(None, (_words_of_draft(progress, summary), note)))
        case CompressionSkipped() | CompressionFailed() | CompressionCancelled():
            return ending_line(progress.ending)
        case ContextCompressed():
            return "applied"
        case _:
            assert_never(progress.ending)


def _words_before(progress: CompressionProgress) -> str:
    if progress.started is None:
        return "Checking what can be folded. Nothing changes yet."
    if reading := reading_words(progress):
        return f"Nothing changed yet. {reading}."
    if progress.problems:
        return f"Nothing changed yet. {progress.problems[-1]}"
    return "Nothing changed yet. Once the summary is written you can edit and apply it."


def _words_of_draft(progress: CompressionProgress, summary: str | None) -> str:
    done: list[str] = []
    if folded := len(progress.outcomes("fold")):
        by = {None: "", "": ", ledger only"}.get(summary, " with your summary")
        done.append(f"{counted(folded, 'message')} folded into a checkpoint{by}")
    if elided := len(progress.outcomes("elide")):
        done.append(f"{counted(elided, 'output')} shortened")
    if aged := len(progress.outcomes("age")):
        done.append(f"{counted(aged, 'older checkpoint')} condensed")
    return f"Nothing changed yet. Applying: {', '.join(done) or 'no change'}."


def _line(outcome: Outcome, width: int) -> Choice:
    left = f"{outcome.after:,} left" if outcome.what in ("elide", "age") else ""
    note = " · ".join(word for word in (visible(outcome.why), left) if word)
    return Choice(outcome.key, visible(outcome.title), note, f"{outcome.tokens:>{width},}")
