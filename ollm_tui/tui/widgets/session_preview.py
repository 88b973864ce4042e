"""What a session is about, without opening it: its facts, and the last that was said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.message import Message
from ollm_tui.core.session import SessionSummary
from ollm_tui.core.titles import UNTITLED
from ollm_tui.tui.entries import local_time
from ollm_tui.tui.transcript.entry import Entry
from ollm_tui.tui.transcript.layout import TranscriptStyles
from ollm_tui.tui.transcript.transcript import Transcript

LAST = 30
"""Messages that are shown: enough to know a session again."""


class SessionPreview(Vertical):
    """Facts on top, words below."""

    def __init__(self, looks: TranscriptStyles, **options: Any) -> None:
        super().__init__(**options)
        self._looks = looks

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(classes="preview-title", markup=False)
        yield Static(classes="preview-facts", markup=False)
        yield Transcript(self._looks)

    def show(self, session: SessionSummary | None) -> None:
        """Show the facts of a session; its words follow with `show_messages`."""
        title, facts = ("", "") if session is None else (_title(session), _facts(session))
        self.query_one(".preview-title", Static).update(Content(title))
        self.query_one(".preview-facts", Static).update(Content(facts))

    def show_messages(self, messages: Sequence[Message]) -> None:
        """Show the end of what was said."""
        self.query_one(Transcript).show(
            Entry(message.id, "user" if message.role == "user" else "assistant", text)
            for message in messages[-LAST:]
            if (text := clean(message.text).strip())
        )

    def show_problem(self, text: str) -> None:
        """Say why there are no words."""
        self.query_one(Transcript).show([Entry("problem", "error", text)])


def _title(session: SessionSummary) -> str:
    return " ".join(clean(session.title).split()) or UNTITLED


def _facts(session: SessionSummary) -> str:
    who = [visible(session.model), visible(session.provider)]
    size = [counted(session.message_count, "message")]
    if session.token_count:
        size.append(f"{short_count(session.token_count)} tokens")
    times = [f"begun {local_time(session.start_time)}", f"last {local_time(session.last_activity)}"]
    where = [visible(session.project or ""), *map(visible, session.tags)]
    lines = (" · ".join(filter(None, parts)) for parts in (who, size, times, where))
    return "\n".join(filter(None, lines))
