"""The list of sessions in sections, with their ages, and the messages that ask for actions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any

from textual.binding import Binding
from textual.message import Message

from ollm_tui.core import clock
from ollm_tui.core.intake import clean
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.browser.snapshot_choices import Inside, choices_inside, point_of
from ollm_tui.tui.browser.words import (
    DAMAGED,
    MONTHS,
    NO_SESSIONS,
    OPENED,
    PINNED,
    snapshot_name,
    went_on,
)
from ollm_tui.tui.conversations.standing import LOOKS, Standing
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList

RELATIVE = ("This week", "Yesterday", "Today")
"""The headings that are no months."""
SHORT_ID = 8
"""Characters of an id that are shown, and found by words."""


class SessionList(ChoiceList):
    """Sessions to choose from, and snapshots of the open one below it.

    It changes nothing by itself: its messages say what is wanted.
    """

    BINDINGS = [
        Binding("up", "up", "Up", id="sessions.up", tooltip="Previous line", show=False),
        Binding("enter", "choose", "Open", id="sessions.open", tooltip="Open or restore"),
        Binding("n", "new", "New", id="sessions.new", tooltip="New session"),
        Binding("r", "rename", "Rename", id="sessions.rename", tooltip="Rename"),
        Binding("p", "pin", "Pin", id="sessions.pin", tooltip="Pin or unpin"),
        Binding("f", "fork", "Fork", id="sessions.fork", tooltip="Fork into a new session"),
        Binding(
            "delete,backspace",
            "delete",
            "Delete",
            id="sessions.delete",
            tooltip="Move to the trash",
        ),
        Binding("u", "undo", "Undo", id="sessions.undo", tooltip="Undo the last change"),
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
    class RenameRequested(Message):
        """A session or a snapshot should get this title, in the place of another."""

        point: Point
        title: str
        before: str = ""

    @dataclass
    class PinRequested(Message):
        """A session or a snapshot should be pinned, or no longer be."""

        point: Point
        pinned: bool

    @dataclass
    class DeleteRequested(Message):
        """A session or a snapshot should go to the trash."""

        point: Point
        title: str

    @dataclass
    class ForkRequested(Message):
        """A point should be copied into a new session."""

        point: Point

    @dataclass
    class NewRequested(Message):
        """A new session should begin."""

    @dataclass
    class UndoRequested(Message):
        """What was done last should be taken back."""

    NOT_ASKED: tuple[type[Message], ...] = (ChoiceList.Highlighted,)
    """Messages that the list posts by itself, not because the user asked for something."""

    def __init__(self, *, unicode: bool = True, **options: Any) -> None:
        super().__init__(unicode=unicode, **options)
        self._sessions: dict[str, SessionSummary] = {}
        self._snapshots: dict[str, SnapshotSummary] = {}
        self._has_moved = False
        """Whether the user went to another line since they asked for something."""
        self._is_fresh = False
        """Whether the current session is to be highlighted."""
        self.above: Callable[[], None] | None = None
        """What going up from the first line does, if anything."""

    def forget_highlight(self) -> None:
        """Highlight the current session when the list is shown next: another one is open now."""
        self._has_moved = False
        self._is_fresh = True

    def show(self, choices: Sequence[Choice], highlight: str | None = None) -> None:
        """Replace the choices. `highlight` does not count if the user has moved meanwhile: what is
        read late must not take the highlight away from them."""
        super().show(choices, None if self._has_moved else highlight)

    def show_sessions(
        self,
        summaries: Sequence[SessionSummary],
        current: str | None = None,
        highlight: str | None = None,
        snapshots: Sequence[SnapshotSummary] = (),
        standings: Sequence[Standing] = (),
    ) -> None:
        """Show sessions, given the latest first; the filter and the highlight stay.

        The first time the current one is highlighted. The snapshots are those of the current
        one, the newest first; `standings` tell of those that are open.
        """
        self._sessions = {summary.session_id: summary for summary in summaries}
        self.empty = NO_SESSIONS
        first = current if self._is_fresh or not self.highlighted else None
        self._is_fresh = False
        lines = session_choices(summaries, current)
        self._show_lines(self._with_states(lines, standings), snapshots, highlight or first)

    def _with_states(self, lines: Sequence[Choice], standings: Sequence[Standing]) -> list[Choice]:
        """Return the lines with what goes on in those that are open, in the place of the age."""
        looks = {each.session_id: LOOKS[each.state] for each in standings}
        return [
            line._replace(note=look.word, mark=look.glyph if self._unicode else look.ascii)
            if (look := looks.get(line.key)) and look.word
            else line
            for line in lines
        ]

    @property
    def point(self) -> Point | None:
        """The point that is highlighted."""
        return point_of(self.highlighted.key) if self.highlighted else None

    @property
    def session(self) -> SessionSummary | None:
        """The session that the highlighted line belongs to."""
        return self._sessions.get(self.point.session_id) if self.point else None

    @property
    def snapshot(self) -> SnapshotSummary | None:
        """The highlighted snapshot; None if the line is no snapshot."""
        return self._snapshots.get(self.point.snapshot) if self.point else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Refuse to rename, pin or delete a branch: it has no name, pin or file of its own."""
        if action in ("rename", "pin", "delete") and self.point and self.point.message:
            return None
        return True

    def action_up(self) -> None:
        """Move one line up, and from the first line to what is above the list."""
        if self.above and self.is_at_top:
            self.above()
        else:
            self.move(-1)

    def action_choose(self) -> None:
        """Ask for the highlighted point to be opened."""
        if self.point:
            self._tell(self.Opened(self.point))

    def action_new(self) -> None:
        """Ask for a new session."""
        self._tell(self.NewRequested())

    def action_rename(self) -> None:
        """Ask for a line to type the title into."""
        if self.point and (named := self.snapshot or self.session):
            title = named.name if isinstance(named, SnapshotSummary) else named.title
            self._tell(self.TitleAsked(self.point, title))

    def action_pin(self) -> None:
        """Ask for the session or snapshot to be pinned, or no longer."""
        if self.point and (named := self.snapshot or self.session):
            self._tell(self.PinRequested(self.point, not named.pinned))

    def action_fork(self) -> None:
        """Ask for a copy of the point in a new session."""
        if self.point:
            self._tell(self.ForkRequested(self.point))

    def action_delete(self) -> None:
        """Ask for the session or snapshot to go to the trash."""
        if self.point and self.snapshot:
            self._tell(self.DeleteRequested(self.point, snapshot_name(self.snapshot)))
        elif self.point and self.session:
            self._tell(self.DeleteRequested(self.point, self.session.title))

    def action_undo(self) -> None:
        """Ask for the last action to be undone."""
        self._tell(self.UndoRequested())

    def _show_lines(
        self, lines: list[Choice], snapshots: Sequence[SnapshotSummary], highlight: str | None
    ) -> None:
        """Show the lines of the sessions, with the snapshots below the session they belong to."""
        self._snapshots = {snapshot.id: snapshot for snapshot in snapshots}
        if snapshots and snapshots[0].session_id in self._sessions:
            at = [line.key for line in lines].index(snapshots[0].session_id) + 1
            age = age_labels(datetime.now().astimezone())
            lines[at:at] = choices_inside("", Inside(snapshots), age)
        self.show(lines, highlight)

    def _highlight(self, line: int | None) -> None:
        self._has_moved = True
        super()._highlight(line)

    def _tell(self, message: Message) -> None:
        """Post a message. What the user asked for may highlight a line until they move again."""
        if not isinstance(message, self.NOT_ASKED):
            self._has_moved = False
        super()._tell(message)


def session_choices(
    summaries: Sequence[SessionSummary], current: str | None = None, now: datetime | None = None
) -> list[Choice]:
    """Return the lines of sessions, given the latest first; `current` is the one that is open."""
    moment = (now or datetime.now()).astimezone()
    age, section = age_labels(moment), _section_labels(moment)
    pinned = [each for each in summaries if each.pinned and not each.archived]
    archived = [each for each in summaries if each.archived]
    lines = [_heading("Pinned")] if pinned else []
    lines += [_line(summary, current, age) for summary in pinned]
    before = ""
    for summary in summaries:
        if summary.pinned or summary.archived:
            continue
        if (name := section(summary.last_activity)) != before:
            lines.append(_heading(name))
            before = name
        # Under a heading with the month and the year, the day is what is not known yet.
        lines.append(_line(summary, current, age if name in RELATIVE else _day))
    lines += [_heading("Archived")] if archived else []
    return lines + [_line(summary, current, age) for summary in archived]


def age_labels(now: datetime) -> Callable[[str], str]:
    """Return a function that names the age of a recorded time: now, 12m, 3h, 2d, 14 Oct."""
    # Recorded times have a fixed width in UTC, so they are compared as texts: there may be
    # thousands of sessions, and none of their times is parsed.
    steps = [("now", timedelta(minutes=1))]
    steps += [(f"{count}m", timedelta(minutes=count + 1)) for count in range(1, 60)]
    steps += [(f"{count}h", timedelta(hours=count + 1)) for count in range(1, 24)]
    steps += [(f"{count}d", timedelta(days=count + 1)) for count in range(1, 7)]
    steps.reverse()
    limits = [clock.iso(now - length) for _, length in steps]
    labels = [label for label, _ in steps]
    date = cache(partial(_date, year=f"{now:%Y}"))

    def label(time: str) -> str:
        place = bisect_left(limits, time)
        return labels[place - 1] if place else date(time[:10])

    return label


def _section_labels(now: datetime) -> Callable[[str], str]:
    """Return a function that names the section of a recorded time: Today, This week, a month."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    limits = [clock.iso(today - timedelta(days=days)) for days in (6, 1, 0)]
    month = cache(partial(_month, year=f"{now:%Y}"))

    def label(time: str) -> str:
        place = bisect_right(limits, time)
        return RELATIVE[place - 1] if place else month(time[:7])

    return label


def _date(day: str, year: str) -> str:
    month = _month_name(day)[:3]
    if not month:
        return ""
    return _day(day) if day[:4] == year else f"{month} {day[:4]}"


def _day(time: str) -> str:
    """Return the day and the month of a recorded time: 14 Oct."""
    month = _month_name(time)[:3]
    return f"{time[8:10].lstrip('0')} {month}" if month else ""


def _month(month: str, year: str) -> str:
    name = _month_name(month)
    if not name:
        return "Earlier"
    return name if month[:4] == year else f"{name} {month[:4]}"


def _month_name(day: str) -> str:
    """Return the name of a month; empty for what is no date, as older data may have."""
    number = day[5:7]
    return MONTHS[int(number) - 1] if number.isdecimal() and 1 <= int(number) <= 12 else ""


def _heading(name: str) -> Choice:
    return Choice("", name, heading=True)


def _line(summary: SessionSummary, current: str | None, age: Callable[[str], str]) -> Choice:
    mark = ""
    if summary.session_id == current:
        mark = OPENED
    elif summary.damage:
        mark = DAMAGED
    elif summary.pinned:
        mark = PINNED
    project = (summary.project or "").rpartition("/")[2]
    title = clean(summary.title) or UNTITLED
    return Choice(
        summary.session_id,
        f"{title} · {went_on(summary)}" if summary.went_on else title,
        age(summary.last_activity),
        mark,
        words=" ".join((summary.session_id[:SHORT_ID], summary.model, project, *summary.tags)),
    )
