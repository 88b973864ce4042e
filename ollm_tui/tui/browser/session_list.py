"""The list of sessions, and the words in which it says what the user wants done with one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from textual.binding import Binding
from textual.message import Message

from ollm_tui.core.session.session import SessionSummary
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.browser.session_choices import age_labels, session_choices
from ollm_tui.tui.browser.snapshot_choices import Inside, choices_inside, point_of, snapshot_name
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList

EMPTY = "No sessions yet. Type a message to begin one."


class SessionList(ChoiceList):
    """Sessions to choose from, and snapshots of the open one below it.

    It changes nothing by itself: its messages say what is wanted.
    """

    BINDINGS = [
        Binding("up", "up", "Up", id="sessions.up", tooltip="One line up", show=False),
        Binding("enter", "choose", "Open", id="sessions.open", tooltip="Open it, or go back to it"),
        Binding("n", "new", "New", id="sessions.new", tooltip="Begin a new session"),
        Binding("r", "rename", "Rename", id="sessions.rename", tooltip="Give it another name"),
        Binding("p", "pin", "Pin", id="sessions.pin", tooltip="Keep it, or no longer"),
        Binding("f", "fork", "Fork", id="sessions.fork", tooltip="Copy it into a new session"),
        Binding(
            "delete,backspace", "delete", "Delete", id="sessions.delete", tooltip="To the trash"
        ),
        Binding("u", "undo", "Undo", id="sessions.undo", tooltip="Take back what was done last"),
    ]

    @dataclass
    class Opened(Message):
        """A point was chosen."""

        point: Point

    @dataclass
    class TitleAsked(Message):
        """The user wants to type another title for a session, or a name for a snapshot."""

        point: Point
        title: str

    @dataclass
    class RenameWanted(Message):
        """A session or a snapshot should get this title, in the place of another."""

        point: Point
        title: str
        before: str = ""

    @dataclass
    class PinWanted(Message):
        """A session or a snapshot should be pinned, or no longer be."""

        point: Point
        pinned: bool

    @dataclass
    class DeleteWanted(Message):
        """A session or a snapshot should go to the trash."""

        point: Point
        title: str

    @dataclass
    class ForkWanted(Message):
        """A point should be copied into a new session."""

        point: Point

    @dataclass
    class NewWanted(Message):
        """A new session should begin."""

    @dataclass
    class UndoWanted(Message):
        """What was done last should be taken back."""

    NOT_ASKED: tuple[type[Message], ...] = (ChoiceList.Highlighted,)
    """What it tells by itself."""

    def __init__(self, *, unicode: bool = True, **options: Any) -> None:
        super().__init__(unicode=unicode, **options)
        self._sessions: dict[str, SessionSummary] = {}
        self._snapshots: dict[str, SnapshotSummary] = {}
        self._has_moved = False
        self.above: Callable[[], None] | None = None
        """What going up from the first line does, if anything."""

    def show(self, choices: Sequence[Choice], highlight: str | None = None) -> None:
        """Show other choices. Where the user went to meanwhile counts more than what should be
        highlighted when something was read."""
        super().show(choices, None if self._has_moved else highlight)

    def show_sessions(
        self,
        summaries: Sequence[SessionSummary],
        current: str | None = None,
        highlight: str | None = None,
        snapshots: Sequence[SnapshotSummary] = (),
    ) -> None:
        """Show sessions, given the latest first; the filter and the highlight stay.

        The first time the current one is highlighted. The snapshots are those of the current
        one, the newest first.
        """
        self._sessions = {summary.session_id: summary for summary in summaries}
        self._snapshots = {snapshot.id: snapshot for snapshot in snapshots}
        self.empty = EMPTY
        first = None if self.highlighted else current
        lines = session_choices(summaries, current)
        if snapshots and snapshots[0].session_id in self._sessions:
            at = [line.key for line in lines].index(snapshots[0].session_id) + 1
            age = age_labels(datetime.now().astimezone())
            lines[at:at] = choices_inside("", Inside(snapshots), age)
        self.show(lines, highlight or first)

    @property
    def point(self) -> Point | None:
        """What is highlighted."""
        return point_of(self.highlighted.key) if self.highlighted else None

    @property
    def session(self) -> SessionSummary | None:
        """The session of what is highlighted."""
        return self._sessions.get(self.point.session_id) if self.point else None

    @property
    def snapshot(self) -> SnapshotSummary | None:
        """The highlighted snapshot, if it is one."""
        return self._snapshots.get(self.point.snapshot) if self.point else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A branch has no name and no pin of its own, and nothing of it can be deleted."""
        if action in ("rename", "pin", "delete") and self.point and self.point.message:
            return None
        return True

    def action_up(self) -> None:
        """One line up, and from the first one to what is above."""
        if self.above and self.is_at_top:
            self.above()
        else:
            self.move(-1)

    def action_choose(self) -> None:
        """Enter, or a click on the highlighted line."""
        if self.point:
            self._tell(self.Opened(self.point))

    def action_new(self) -> None:
        """Ask for a new session."""
        self._tell(self.NewWanted())

    def action_rename(self) -> None:
        """Ask for a line to type the title into."""
        if self.point and (named := self.snapshot or self.session):
            title = named.name if isinstance(named, SnapshotSummary) else named.title
            self._tell(self.TitleAsked(self.point, title))

    def action_pin(self) -> None:
        """Ask for the other state of the pin."""
        if self.point and (named := self.snapshot or self.session):
            self._tell(self.PinWanted(self.point, not named.pinned))

    def action_fork(self) -> None:
        """Ask for a copy."""
        if self.point:
            self._tell(self.ForkWanted(self.point))

    def action_delete(self) -> None:
        """Ask for it to go to the trash."""
        if self.point and self.snapshot:
            self._tell(self.DeleteWanted(self.point, snapshot_name(self.snapshot)))
        elif self.point and self.session:
            self._tell(self.DeleteWanted(self.point, self.session.title))

    def action_undo(self) -> None:
        """Ask for the way back."""
        self._tell(self.UndoWanted())

    def _highlight(self, line: int | None) -> None:
        self._has_moved = True
        super()._highlight(line)

    def _tell(self, message: Message) -> None:
        """What the user asks for may highlight a line, until they go to another one."""
        if not isinstance(message, self.NOT_ASKED):
            self._has_moved = False
        super()._tell(message)
