"""The list of sessions, and the words in which it says what the user wants done with one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual.binding import Binding
from textual.message import Message

from ollm_tui.core.session import SessionSummary
from ollm_tui.tui.session_choices import session_choices
from ollm_tui.tui.widgets.choice_list import ChoiceList

EMPTY = "No sessions yet. Type a message to begin one."


class SessionList(ChoiceList):
    """Sessions to choose from. It changes nothing by itself: its messages say what is wanted."""

    BINDINGS = [
        Binding("enter", "choose", "Open", id="sessions.open", tooltip="Open this session"),
        Binding("n", "new", "New", id="sessions.new", tooltip="Begin a new session"),
        Binding("r", "rename", "Rename", id="sessions.rename", tooltip="Give it another title"),
        Binding("p", "pin", "Pin", id="sessions.pin", tooltip="Keep it on top, or no longer"),
        Binding("f", "fork", "Fork", id="sessions.fork", tooltip="Copy it into a new session"),
        Binding("d,delete", "delete", "Delete", id="sessions.delete", tooltip="To the trash"),
        Binding("u", "undo", "Undo", id="sessions.undo", tooltip="Bring back the last deleted"),
    ]

    @dataclass
    class Opened(Message):
        """A session was chosen."""

        session_id: str

    @dataclass
    class TitleAsked(Message):
        """The user wants to type another title for a session."""

        session: SessionSummary

    @dataclass
    class RenameWanted(Message):
        """A session should get this title."""

        session_id: str
        title: str

    @dataclass
    class PinWanted(Message):
        """A session should be pinned, or no longer be."""

        session_id: str
        pinned: bool

    @dataclass
    class DeleteWanted(Message):
        """A session should go to the trash."""

        session_id: str
        title: str

    @dataclass
    class ForkWanted(Message):
        """A session should be copied into a new one."""

        session_id: str

    @dataclass
    class NewWanted(Message):
        """A new session should begin."""

    @dataclass
    class UndoWanted(Message):
        """What was deleted last should come back."""

    def __init__(self, *, unicode: bool = True, **options: Any) -> None:
        super().__init__(unicode=unicode, **options)
        self._sessions: dict[str, SessionSummary] = {}

    def show_sessions(
        self,
        summaries: Sequence[SessionSummary],
        current: str | None = None,
        highlight: str | None = None,
    ) -> None:
        """Show sessions, given the latest first; the filter and the highlight stay.

        The first time the current one is highlighted.
        """
        self._sessions = {summary.session_id: summary for summary in summaries}
        self.empty = EMPTY
        first = None if self.highlighted else current
        self.show(session_choices(summaries, current), highlight or first)

    @property
    def session(self) -> SessionSummary | None:
        """The highlighted session."""
        return self._sessions.get(self.highlighted.key) if self.highlighted else None

    def action_choose(self) -> None:
        """Enter, or a click on the highlighted line."""
        if self.session:
            self._tell(self.Opened(self.session.session_id))

    def action_new(self) -> None:
        """Ask for a new session."""
        self._tell(self.NewWanted())

    def action_rename(self) -> None:
        """Ask for a line to type the title into."""
        if self.session:
            self._tell(self.TitleAsked(self.session))

    def action_pin(self) -> None:
        """Ask for the other state of the pin."""
        if self.session:
            self._tell(self.PinWanted(self.session.session_id, not self.session.pinned))

    def action_fork(self) -> None:
        """Ask for a copy."""
        if self.session:
            self._tell(self.ForkWanted(self.session.session_id))

    def action_delete(self) -> None:
        """Ask for the session to go to the trash."""
        if self.session:
            self._tell(self.DeleteWanted(self.session.session_id, self.session.title))

    def action_undo(self) -> None:
        """Ask for the last deleted one."""
        self._tell(self.UndoWanted())
