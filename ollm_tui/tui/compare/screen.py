"""The screen of a comparison: answers side by side, or one at a time where there is no room."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.titles import title_of
from ollm_tui.engine.comparison.comparison import ColumnEvent
from ollm_tui.engine.comparison.conversation_comparison import ConversationComparison
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.tui.compare.answer_column import AnswerColumn
from ollm_tui.tui.compare.answer_diff import AnswerDiffScreen, Side
from ollm_tui.tui.compare.words import (
    KEYS,
    NOTHING_YET,
    RUNNING_KEYS,
    TITLE,
    TWO_NEEDED,
    UNVOTED,
    VOTED,
)
from ollm_tui.tui.kit.live_keys import LiveKeys

if TYPE_CHECKING:
    from ollm_tui.tui.frame import Frame

WIDE = 120
"""Columns of the terminal from which on answers stand side by side."""
LEAST_COLUMN = 30
"""Columns an answer needs to be read; with more answers than fit, one is shown at a time."""
ROOM_FOR_FACTS = 54
"""Columns that time, speed, tokens and cost take in one line; narrower ones have two."""
DRAW_SECONDS = 0.1
"""How often what arrived is drawn."""
QUESTION_CHARACTERS = 500
"""Characters of the question that its title is made from."""


class ComparisonScreen(Screen[str | None]):
    """Shows the answers as they arrive; closes with the last message of the one to go on from."""

    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding(
            "enter", "take", "Continue", id="compare.take", tooltip="Continue from this answer"
        ),
        Binding("right,l,tab", "step(1)", "Next", id="compare.next", tooltip="Next answer"),
        Binding(
            "left,h,shift+tab",
            "step(-1)",
            "Previous",
            id="compare.before",
            tooltip="Previous answer",
        ),
        Binding("down,j", "scroll(1)", "Down", id="compare.down", tooltip="Scroll down"),
        Binding("up,k", "scroll(-1)", "Up", id="compare.up", tooltip="Scroll up"),
        Binding(
            "pagedown,space",
            "page(1)",
            "Page down",
            id="compare.page_down",
            tooltip="Scroll a page down",
        ),
        Binding("pageup", "page(-1)", "Page up", id="compare.page_up", tooltip="Scroll a page up"),
        Binding("home,g", "edge(0)", "Top", id="compare.top", tooltip="Go to the top"),
        Binding("end,G", "edge(1)", "End", id="compare.end", tooltip="Go to the bottom"),
        Binding("d", "diff", "Diff", id="compare.diff", tooltip="Compare with another answer"),
        Binding("v", "vote", "Vote", id="compare.vote", tooltip="Vote for this answer"),
        Binding("x", "stop", "Stop", id="compare.stop", tooltip="Stop this answer"),
        Binding(
            "escape,q", "close", "Close", id="compare.close", tooltip="Stop all answers, or close"
        ),
    ]

    app: Frame

    def __init__(
        self,
        comparison: ConversationComparison,
        news: AsyncGenerator[ColumnEvent, None],
        choices: Sequence[ModelChoice],
        question: str,
        standing: Sequence[Message] = (),
    ) -> None:
        """`standing` is the answer that the question has already: it is shown first."""
        super().__init__()
        self._comparison = comparison
        self._news = news
        self._choices = choices
        self._question = title_of(question[:QUESTION_CHARACTERS])
        self._standing = standing
        self._at = 0
        self._is_leaving = False
        self._is_over = False
        self._goes_on_with: str | None = None

    def compose(self) -> ComposeResult:
        """Lay out the question, the names where only one answer is seen, the answers, the keys."""
        styles = self.app.transcript_styles
        yield Static(id="heading", markup=False)
        yield Static(id="tabs", markup=False)
        with Horizontal(id="columns"):
            if self._standing:
                last = self._standing[-1]
                model, provider = last.model or "", last.provider or ""
                yield AnswerColumn(model, provider, styles, standing=self._standing)
            for number, choice in enumerate(self._choices):
                tokens = self._counter(number)
                yield AnswerColumn(choice.model, choice.provider.name, styles, tokens)
        yield LiveKeys()

    def on_mount(self) -> None:
        """Begin to ask."""
        title = Content.styled(TITLE, "bold $primary")
        said = (f"   {visible(self._question)}", "$text-muted")
        self.query_one("#heading", Static).update(Content.assemble(title, said))
        self.set_interval(DRAW_SECONDS, self._draw)
        self.run_worker(self._listen(), group="compare")
        self._go(0)

    @property
    def columns(self) -> list[AnswerColumn]:
        """The answers from left to right."""
        return list(self.query(AnswerColumn))

    @property
    def column(self) -> AnswerColumn:
        """The answer that keys are about."""
        return self.columns[self._at]

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to stop an answer only while it arrives."""
        return action != "stop" or not self.columns or self.column.is_arriving

    def action_take(self) -> None:
        """Go on from this answer; those that still run are stopped."""
        if not self.column.text.strip():
            self._say(NOTHING_YET)
            return
        self._leave(self._answer_of(self._at))

    def action_close(self) -> None:
        """Stop what runs; with nothing running, close."""
        if not self._is_over and not self._is_leaving:
            self._comparison.stop()
            return
        self._leave(None)

    def action_stop(self) -> None:
        """Stop this answer; the others go on."""
        number = self._at - bool(self._standing)
        if number >= 0 and self.column.is_arriving:
            self._comparison.stop(number)

    def action_step(self, step: int) -> None:
        """Go to another answer."""
        self._go((self._at + step) % len(self.columns))

    def action_scroll(self, lines: int) -> None:
        """Scroll this answer by lines."""
        self.column.stream.scroll_relative(y=lines, animate=False)

    def action_page(self, direction: int) -> None:
        """Scroll this answer by pages; one line of the last page stays in view."""
        self.action_scroll(direction * max(self.column.stream.size.height - 1, 1))

    def action_edge(self, end: int) -> None:
        """Scroll this answer to its top or its end."""
        stream = self.column.stream
        stream.scroll_to(y=stream.max_scroll_y if end else 0, animate=False)

    def action_diff(self) -> None:
        """Show what another answer says otherwise, the next one first."""
        columns = self.columns
        order = [*columns[self._at + 1 :], *columns[: self._at]]
        others = [Side(each.model, each.text) for each in order if each.text.strip()]
        if not others or not self.column.text.strip():
            self._say(TWO_NEEDED)
            return
        first = Side(self.column.model, self.column.text)
        self.app.push_screen(AnswerDiffScreen(first, others))

    def action_vote(self) -> None:
        """Keep that this answer is the better one; again, take that back."""
        # One that failed before its first word was no match for anybody.
        answers = [
            self._answer_of(at) if column.text.strip() else None
            for at, column in enumerate(self.columns)
        ]
        known = [answer for answer in answers if answer]
        better = answers[self._at]
        if better is None or len(known) < 2:
            self._say(NOTHING_YET if better is None else TWO_NEEDED)
            return
        self.run_worker(self._vote(better, known), exclusive=True, group="vote")

    async def _vote(self, better: str, answers: Sequence[str]) -> None:
        question = self._comparison.last_turn[0].id
        stands = await self._comparison.vote(question, better, answers)
        for at, column in enumerate(self.columns):
            column.is_better = stands and at == self._at
        self._draw()
        self._say(VOTED.format(visible(self.column.model)) if stands else UNVOTED)

    # What happens

    async def _listen(self) -> None:
        try:
            async with aclosing(self._news) as news:
                async for column, event in news:
                    self.columns[column + bool(self._standing)].take(event)
        except OllmError as error:
            self._say(error.line)
        self._is_over = True
        self._draw()
        if self._is_leaving:
            self.dismiss(self._goes_on_with)

    def _leave(self, goes_on_with: str | None) -> None:
        """Close once everything that arrived is recorded."""
        self._goes_on_with = goes_on_with
        self._is_leaving = True
        if self._is_over:
            self.dismiss(goes_on_with)
        else:
            self._comparison.stop()

    def _answer_of(self, at: int) -> str | None:
        """Return the last message of an answer; None where nothing of it is recorded yet."""
        column, running = self.columns[at], self._comparison.running
        if column.answer or running is None or not column.text.strip():
            return column.answer or None
        return running.contenders[at - bool(self._standing)].message_id

    def _counter(self, number: int) -> Callable[[], int]:
        def tokens() -> int:
            running = self._comparison.running
            return running.contenders[number].tokens if running else 0

        return tokens

    # Looks

    def on_resize(self, event: events.Resize) -> None:
        """Show the answers side by side where there is room for all of them."""
        room = event.size.width // max(len(self.columns), 1)
        is_wide = event.size.width >= WIDE and room >= LEAST_COLUMN
        self.set_class(not is_wide, "-tabs")
        self.set_class(is_wide and room < ROOM_FOR_FACTS, "-narrow")
        self._draw()

    def _go(self, at: int) -> None:
        self._at = at
        for number, column in enumerate(self.columns):
            column.set_class(number == at, "-at")
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if not self.is_current:
            return
        for column in self.columns:
            column.draw()
        self.query_one("#tabs", Static).update(self._tabs())
        self.query_one(LiveKeys).show(*(KEYS if self._is_over else RUNNING_KEYS), about="told")

    def _tabs(self) -> Content:
        names: list[Content] = []
        for number, column in enumerate(self.columns):
            mark = "…" if column.is_arriving else "★" if column.is_better else ""
            style = "bold reverse" if number == self._at else "$text-muted"
            names.append(Content.styled(f" {visible(column.model)}{mark} ", style))
        return Content(" ").join(names)

    def _say(self, text: str) -> None:
        keys = self.query_one(LiveKeys)
        keys.say(text, "told")
        self.set_timer(
            4.0, lambda: keys.show(*KEYS, about="keys") if keys.told[0] == text else None
        )
