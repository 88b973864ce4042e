"""The preview of a hit: the conversation around it as the chat shows it, with the words marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ollm_tui.core.intake import visible
from ollm_tui.core.search import Hit
from ollm_tui.core.session.branches import words_of
from ollm_tui.core.session.session import ToolCall
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.tui.search.hit_list import HIT_KEYS
from ollm_tui.tui.search.words import REASONS, SPEAKERS, also_in
from ollm_tui.tui.stream.entries.message_entries import local_time, said_before, shown_at
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.looks import TranscriptStyles
from ollm_tui.tui.stream.transcript.spots import Words
from ollm_tui.tui.stream.transcript.transcript import Transcript

AROUND = 100
"""How many messages are shown before a hit, and after it."""


class Place(NamedTuple):
    """A branch of a session: its messages, and the entries that show them."""

    state: SessionState
    branch: Sequence[str]
    entries: Sequence[Entry]
    calls: Mapping[str, ToolCall]
    """Calls on record that no message has, such as commands of the user, by their ids."""

    def said_at(self, message_id: str) -> str | None:
        """Return the message; for a call, the one it was run after, None if there is none."""
        call = self.calls.get(message_id)
        if call is None:
            return message_id
        return said_before(call.timestamp, (self.state[key] for key in self.branch))

    def key_of(self, message_id: str) -> str | None:
        """Return the key of the entry that shows a message or a call."""
        keys = [entry.key for entry in self.entries]
        said = message_id if message_id in keys else self.said_at(message_id)
        return shown_at(said, self.branch, keys) if said else None


class HitStream(Transcript):
    """The conversation around a hit; actions are for the message under its cursor."""

    BINDINGS = [
        *HIT_KEYS,
        Binding(
            "enter",
            "screen.do('open')",
            "Open",
            id="hits.open_here",
            tooltip="Open the session there",
        ),
        Binding("k,up", "step(-1)", "Up", id="hits.message_up", tooltip="Previous message"),
        Binding("j,down", "step(1)", "Down", id="hits.message_down", tooltip="Next message"),
        Binding("n", "other(1)", "Next", id="hits.next", tooltip="Next match"),
        Binding("N", "other(-1)", "Previous", id="hits.before", tooltip="Previous match"),
        Binding("space", "unfold", "Open", id="hits.unfold", tooltip="Expand or collapse"),
    ]

    is_moved = False
    """Whether the user moved the cursor: what is read late then leaves it alone."""

    @dataclass
    class OtherRequested(Message):
        """The user wants to see the next hit, or the one before."""

        step: int

    def on_focus(self, _event: events.Focus) -> None:
        """Put the cursor on a message."""
        if self.cursor.key is None and self.keys:
            self.cursor.move_to(self.keys[-1])

    def show(self, entries: Iterable[Entry]) -> None:
        """Show other entries; `HitPreview` puts the cursor on the hit."""
        self.is_moved = False
        super().show(entries)

    def action_step(self, step: int) -> None:
        """Move the cursor."""
        self.is_moved = True
        self.cursor.move(step)

    def action_other(self, step: int) -> None:
        """Ask for another hit."""
        self.post_message(self.OtherRequested(step))

    def action_unfold(self) -> None:
        """Open or close what is folded."""
        if self.cursor.key:
            self.toggle_folds(self.cursor.key)


class HitPreview(Vertical):
    """Shows the session of a hit on top, and what was said around it below."""

    def __init__(self, looks: TranscriptStyles, **options: Any) -> None:
        super().__init__(**options)
        self._looks = looks
        self._hit: Hit | None = None

    def compose(self) -> ComposeResult:
        """Lay out the title, the facts and the messages."""
        yield Static(classes="preview-title", markup=False)
        yield Static(classes="preview-facts", markup=False)
        yield HitStream(self._looks)

    @property
    def stream(self) -> HitStream:
        """The messages."""
        return self.query_one(HitStream)

    def show(self, hit: Hit, place: Place, words: Words) -> None:
        """Show a hit among the messages of its branch, with words marked."""
        state, branch, entries = place.state, place.branch, place.entries
        header = state.header
        facts = [local_time(hit.timestamp), SPEAKERS[hit.role], visible(hit.model)]
        facts += [visible(header.project or ""), f"matched by {REASONS[hit.why]}"]
        if hit.places:
            facts.append(also_in(hit.places))
        if not hit.on_branch:
            facts.append(f"other branch: {visible(words_of(state[branch[-1]]))}")
        self._tell(visible(header.title) or UNTITLED, " · ".join(filter(None, facts)))
        keys = [entry.key for entry in entries]
        key = place.key_of(hit.message_id)
        at = keys.index(key) if key else 0
        stream = self.stream
        is_same = self._hit is not None and self._hit.message_id == hit.message_id
        chosen = stream.cursor.key if is_same and stream.is_moved else None
        self._hit = hit
        stream.finder.clear()
        stream.show(entries[max(at - AROUND, 0) : at + AROUND])
        stream.finder.look_for(words)
        if chosen in stream.stack:
            stream.is_moved = True
            stream.cursor.move_to(chosen)
        elif key:
            stream.go_to(key)
            # Again once it is laid out, to bring the marked words into view.
            self.call_after_refresh(self._stand_on, key)

    def show_problem(self, text: str) -> None:
        """Show why there are no messages; an empty text shows nothing."""
        self._tell("", "")
        self.stream.show([Entry("problem", "error", text)] if text else [])

    def _stand_on(self, key: str) -> None:
        """Put the cursor on the hit and show its first marked words, also those in a fold."""
        stream = self.stream
        if key not in stream.keys or stream.is_moved:
            return
        stream.go_to(key)
        if stream.finder.position[1]:
            stream.finder.go(1)
        if stream.finder.key != key:  # marked words are only elsewhere
            stream.go_to(key)
        stream.cursor.move_to(key, reveal=False)

    def _tell(self, title: str, facts: str) -> None:
        self.query_one(".preview-title", Static).update(Content(title))
        self.query_one(".preview-facts", Static).update(Content(facts))
