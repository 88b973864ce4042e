"""One answer of a comparison: its model, its figures, and its text as it arrives."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.costs import cost_words
from ollm_tui.core.counts import percent, short_count
from ollm_tui.core.errors import OllmError
from ollm_tui.core.events import (
    AnyTurnEvent,
    Prepared,
    PromptCut,
    Queued,
    ReasoningArrived,
    ReplyStarted,
    TextArrived,
    TurnCancelled,
    TurnFailed,
    TurnFinished,
)
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Message
from ollm_tui.tui.compare.words import (
    ASKING,
    BEFORE,
    BETTER,
    FAILED,
    NOT_ASKED,
    STOPPED,
    THINKING,
)
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.entry_layout import TranscriptStyles
from ollm_tui.tui.stream.transcript.transcript import Transcript

ANSWER, PROBLEM = "answer", "problem"
"""The keys of the two entries a column may have."""


class AnswerColumn(Vertical):
    """Shows one answer. Text is collected by `take` and drawn by `draw`, a few times a second."""

    def __init__(
        self,
        model: str,
        provider: str,
        looks: TranscriptStyles,
        tokens: Callable[[], int] = lambda: 0,
        standing: Sequence[Message] = (),
        **options: Any,
    ) -> None:
        """`tokens` counts what arrived; `standing` is an answer that was there before."""
        super().__init__(**options)
        self.model = model
        self._provider = provider
        self._looks = looks
        self._tokens = tokens
        self._standing = standing
        self.answer = standing[-1].id if standing else ""
        """The last message of the answer; empty as long as there is none."""
        self.is_arriving = not standing
        self.is_better = False
        """Whether the user voted for it."""
        self._arrived: list[str] = []
        self._text = "\n\n".join(each.text for each in standing if each.role == "assistant").strip()
        self._doing = "" if standing else ASKING
        self._begun = 0.0
        self._ended = ""
        """The figures of an answer that has ended."""
        if standing:
            self._ended = figures(standing[-1], 0) or BEFORE

    def compose(self) -> ComposeResult:
        """Lay out the name, the figures and the text."""
        yield Static(classes="column-name", markup=False)
        yield Static(classes="column-facts", markup=False)
        stream = Transcript(self._looks)
        stream.can_focus = False
        yield stream

    def on_mount(self) -> None:
        """Show what is there already."""
        entry = Entry(ANSWER, "assistant", visible(self._text))
        entry.growing = self.is_arriving
        self.stream.show([entry])
        self.stream.go_to(ANSWER)
        self.draw()

    @property
    def stream(self) -> Transcript:
        """The text."""
        return self.query_one(Transcript)

    @property
    def text(self) -> str:
        """The text of the answer so far."""
        return self._text

    def take(self, event: AnyTurnEvent) -> None:
        """Take in what happened to this answer."""
        match event:
            case ReplyStarted():
                self._begun = time.monotonic()
                self._doing = ASKING
            case Prepared():
                share = "" if event.fraction is None else f" {percent(event.fraction)}"
                self._doing = f"{event.what}{share}"
            case Queued():
                self._doing = event.words if event.place else ASKING
            case ReasoningArrived():
                self._doing = THINKING
            case TextArrived():
                self._doing = ""
                self._text += event.text
                self._arrived.append(event.text)
            case TurnFinished():
                self._end(event.message, "")
            case TurnCancelled():
                self._end(event.message, STOPPED if event.message else NOT_ASKED)
            case TurnFailed():
                self._end(event.message, FAILED)
                self._complain(event.error, event.hint)
            case PromptCut():
                self._complain(event.message, event.hint)
            case _:
                pass  # a comparison offers no tools and compresses nothing

    def draw(self) -> None:
        """Draw what arrived since the last time, and the figures of this moment."""
        if self._arrived:
            self.stream.grow(ANSWER, "".join(self._arrived))
            self._arrived.clear()
        if not self.is_arriving and self.stream.entry(ANSWER).growing:
            self.stream.finish(ANSWER)
        elif self.is_arriving and not self._text:
            self.stream.wait_for(ANSWER, self._doing)
        name = Content.assemble((visible(self.model), "bold"), f"  {visible(self._provider)}")
        if self.is_better:
            name = Content.assemble(name, (f"  {BETTER}", "$text-success"))
        self.query_one(".column-name", Static).update(name)
        self.query_one(".column-facts", Static).update(Content(visible(self.facts)))

    @property
    def facts(self) -> str:
        """The time, speed, tokens and cost of the answer, or what is waited for."""
        if not self.is_arriving:
            return self._ended
        seconds = time.monotonic() - self._begun if self._begun else 0.0
        tokens = self._tokens()
        if not tokens:
            return f"{self._doing} · {seconds:.0f} s" if self._begun else self._doing
        return f"{seconds:.0f} s · {tokens / max(seconds, 0.1):.0f} tok/s · ≈{tokens:,} tokens"

    def _end(self, message: Message | None, how: str) -> None:
        seconds = time.monotonic() - self._begun if self._begun else 0.0
        self.is_arriving = False
        self.answer = message.id if message else ""
        words = (how, figures(message, seconds) if message else "")
        self._ended = " · ".join(filter(None, words))

    def _complain(self, error: str, hint: str) -> None:
        """Show what went wrong below what arrived."""
        self.stream.add(Entry(PROBLEM, "error", visible(OllmError(error, hint).lines)))


def figures(message: Message, seconds: float) -> str:
    """Return the time, speed, tokens and cost of an answer; what is not known is left out."""
    usage = message.usage
    written = usage.output_tokens if usage else 0
    measured = usage.output_seconds if usage else None
    if usage and not seconds:  # it was there before: its server has measured it
        times = (usage.load_seconds, usage.prompt_seconds, usage.output_seconds)
        seconds = sum(filter(None, times))
    facts = [f"{seconds:.1f} s" if seconds else ""]
    if written and (taken := measured or seconds):
        facts.append(f"{written / taken:.0f} tok/s")
    if written:
        facts.append(f"{short_count(written)} tokens")
    facts.append(cost_words(usage.cost) if usage else "")
    return " · ".join(filter(None, facts))
