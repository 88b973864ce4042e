"""The preview of a point: its facts, how full its context is, and what had been said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message as Told
from textual.widgets import Static

from ollm_tui.core.intake import clean
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.engine.context.budget import Budget
from ollm_tui.services.tokens.prompt_count import Count
from ollm_tui.tui.browser.words import session_facts
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.gauge.gauge_bar import bar
from ollm_tui.tui.gauge.gauge_line import Line, Reading, Text
from ollm_tui.tui.stream.entries.message_entries import entry_of
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.entry_layout import TranscriptStyles
from ollm_tui.tui.stream.transcript.transcript import Transcript

LEAST_CELLS, LONGEST_BAR = 11, 40
"""Cells of the bar at most."""
LAST = 300
"""How many messages are shown: enough to recognise a session and to find a place in it."""
MessageAction = Literal["back", "before", "graft", "fork"]
"""End the conversation after a message or before it, bring it into the prompt, or fork there."""


class SnapshotGauge(Gauge):
    """A gauge for the context of a point; unlike that of the chat it says nothing of what comes."""

    def show_budget(self, budget: Budget | None, *, estimated: bool = False) -> None:
        """Show how a window is divided; None shows nothing."""
        if budget is None:
            self.show_words("")
            return
        self._draw(Reading(budget.parts, budget.room, estimated=estimated, words=""))

    @property
    def line(self) -> Line:
        """The bar where there is room for it, and the numbers."""
        if self._reading is None:
            return Line((), ())
        room = self._reading.room
        used = Count(self._reading.parts.total, self._reading.source)
        if room is None:
            return Line((), (Text("numbers", f"{used} tokens"),))
        numbers = f" {used} of {room.window:,} tokens"
        # As long for every point, however many digits its tokens have.
        longest = len(f" ≈{room.window:,} of {room.window:,} tokens")
        cells = min(self.size.width - longest - 1, LONGEST_BAR)
        drawn = tuple(bar(self._reading.parts, room, cells)) if cells >= LEAST_CELLS else ()
        return Line(drawn, (Text("numbers", numbers if drawn else numbers.strip()),))


class PreviewStream(Transcript):
    """The messages of a point; keys go back to one, bring it into the prompt, or fork there."""

    BINDINGS = [
        Binding(
            "enter,b",
            "ask('back')",
            "Rewind here",
            id="sessions.back_to",
            tooltip="Rewind to this message",
        ),
        Binding(
            "B",
            "ask('before')",
            "Rewind before",
            id="sessions.before",
            tooltip="Rewind to before this message",
        ),
        Binding(
            "g",
            "ask('graft')",
            "Attach",
            id="sessions.graft",
            tooltip="Attach to your next message",
        ),
        Binding("f", "ask('fork')", "Fork", id="sessions.fork_here", tooltip="Fork from here"),
        Binding("k,up", "step(-1)", "Up", id="sessions.message_up", tooltip="Previous message"),
        Binding("j,down", "step(1)", "Down", id="sessions.message_down", tooltip="Next message"),
        Binding(
            "K,shift+up",
            "extend(-1)",
            "Mark",
            id="sessions.extend_up",
            tooltip="Extend selection up",
        ),
        Binding(
            "J,shift+down",
            "extend(1)",
            "Mark",
            id="sessions.extend_down",
            tooltip="Extend selection down",
        ),
        Binding("space", "unfold", "Open", id="sessions.unfold", tooltip="Expand or collapse"),
        Binding("tab,escape", "leave", "List", id="sessions.leave", tooltip="Back to the list"),
    ]

    @dataclass
    class Chosen(Told):
        """An action on the messages under the cursor was chosen."""

        action: MessageAction
        keys: list[str]

    @dataclass
    class Left(Told):
        """The user wants to go back to the list."""

    steps: int = 0
    """How far the cursor is moved once there are messages: keys may come before these are read."""

    def on_focus(self, _event: events.Focus) -> None:
        """Put the cursor on a message."""
        self.stand()

    def stand(self) -> None:
        """Put the cursor on the last message if it is on none."""
        if self.cursor.key is None and self.keys:
            self.cursor.move_to(self.keys[-1])

    def show(self, entries: Iterable[Entry]) -> None:
        """Show other entries. They may be read while the user is already here: then the cursor
        stays on its message, or goes where the keys meanwhile would have taken it."""
        meant = self.cursor.key
        super().show(entries)
        if not (self.has_focus and self.keys):
            return
        if meant in self.stack:
            self.cursor.move_to(meant)
        else:
            self.stand()
            self.cursor.move(self.steps)
        self.steps = 0

    def on_blur(self, _event: events.Blur) -> None:
        """Take the cursor away: without the focus no message is meant."""
        self.steps = 0
        self.cursor.move_to(None, reveal=False)

    def action_ask(self, action: MessageAction) -> None:
        """Post an action on the messages under the cursor."""
        if self.cursor.keys:
            self.post_message(self.Chosen(action, self.cursor.keys))

    def action_step(self, step: int) -> None:
        """Move the cursor, or remember the step until there are messages."""
        if self.keys:
            self.cursor.move(step)
        else:
            self.steps += step

    def action_extend(self, step: int) -> None:
        """Mark more messages, or fewer."""
        self.cursor.extend(step)

    def action_unfold(self) -> None:
        """Open or close what is folded."""
        if self.cursor.key:
            self.toggle_folds(self.cursor.key)

    def action_leave(self) -> None:
        """Go back to the list."""
        self.post_message(self.Left())


class SessionPreview(Vertical):
    """Shows the facts of a point on top, its messages below."""

    def __init__(self, looks: TranscriptStyles, *, unicode: bool = True, **options: Any) -> None:
        super().__init__(**options)
        self._looks = looks
        self._unicode = unicode

    def compose(self) -> ComposeResult:
        """Lay out the title, the gauge, the facts and the messages."""
        yield Static(classes="preview-title", markup=False)
        yield SnapshotGauge(unicode=self._unicode)
        yield Static(classes="preview-facts", markup=False)
        yield PreviewStream(self._looks)

    @property
    def stream(self) -> PreviewStream:
        """The messages."""
        return self.query_one(PreviewStream)

    def show(self, session: SessionSummary | None) -> None:
        """Show the facts of a session; its messages follow with `show_messages`."""
        if session is None:
            self.show_facts("", ())
        else:
            self.show_session(session)

    def show_session(
        self,
        session: SessionSummary,
        budget: Budget | None = None,
        links: Iterable[str] = (),
        *,
        estimated: bool = False,
    ) -> None:
        """Show the facts of a session, and how full its context is, where that is known."""
        title = " ".join(clean(session.title).split()) or UNTITLED
        facts = (*links, *session_facts(session))
        self.show_facts(title, facts, budget, estimated=estimated)

    def show_facts(
        self,
        title: str,
        facts: Iterable[str],
        budget: Budget | None = None,
        *,
        estimated: bool = False,
    ) -> None:
        """Show lines about a point, and how full the context is there."""
        self.query_one(".preview-title", Static).update(Content(title))
        self.query_one(".preview-facts", Static).update(Content("\n".join(facts)))
        gauge = self.query_one(SnapshotGauge)
        gauge.display = budget is not None
        gauge.show_budget(budget, estimated=estimated)

    def show_messages(self, messages: Sequence[Message], state: SessionState | None = None) -> None:
        """Show the last messages of a point."""
        self.stream.show(_entry(message, state) for message in messages[-LAST:])

    def show_problem(self, text: str) -> None:
        """Show why there are no messages."""
        self.stream.show([Entry("problem", "error", text)])


def _entry(message: Message, state: SessionState | None) -> Entry:
    if state and message.id in state:
        return entry_of(message, state)
    speaker = "user" if message.role == "user" else "assistant"
    return Entry(message.id, speaker, clean(message.text).strip())
