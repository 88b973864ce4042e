"""The tree of the browser: sessions that open to their branches and snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from textual.binding import Binding
from textual.message import Message

from ollm_tui.core.session import SessionSummary
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.engine.points import Point
from ollm_tui.tui.session_choices import PINNED, age_labels, session_choices
from ollm_tui.tui.snapshot_choices import CURRENT, Inside, choices_inside
from ollm_tui.tui.widgets.choice_list import Choice
from ollm_tui.tui.widgets.session_list import EMPTY, SessionList

CLOSED, OPEN = "▸", "▾"
Deed = Literal["compare", "mark", "export", "copy_id", "tag", "look"]


class SessionTree(SessionList):
    """What is below a session is shown once it was read: `InsideWanted` asks for it.

    While words are looked for, every line that has them is shown, also below closed sessions.
    """

    BINDINGS = [
        Binding("right", "expand", "Open up", id="sessions.expand", tooltip="Show its snapshots"),
        Binding("left", "collapse", "Close up", id="sessions.collapse", tooltip="Hide them"),
        Binding("d", "ask('compare')", "Diff", id="sessions.diff", tooltip="Compare it with now"),
        Binding("m", "ask('mark')", "Mark", id="sessions.mark", tooltip="To compare another with"),
        Binding("x", "ask('export')", "Export", id="sessions.export", tooltip="Into a file"),
        Binding("y", "ask('copy_id')", "Copy id", id="sessions.copy_id", tooltip="Copy its id"),
        Binding("t", "ask('tag')", "Tags", id="sessions.tags", tooltip="Give the session tags"),
        Binding("a", "archive", "Archive", id="sessions.archive", tooltip="To the end of the list"),
        Binding("tab", "ask('look')", "Look", id="sessions.look", tooltip="Read its messages"),
    ]

    @dataclass
    class InsideWanted(Message):
        """What is below a session should be read."""

        session_id: str

    @dataclass
    class Asked(Message):
        """Something else is wanted with a point."""

        deed: Deed
        point: Point

    @dataclass
    class ArchiveWanted(Message):
        """A session should be archived, or no longer be."""

        point: Point
        archived: bool

    def __init__(self, *, unicode: bool = True, **options: Any) -> None:
        super().__init__(unicode=unicode, **options)
        self._base: list[Choice] = []
        self._inside: dict[str, Inside] = {}
        self._expanded: set[str] = set()
        self._is_finding = False

    def show_sessions(
        self,
        summaries: Sequence[SessionSummary],
        current: str | None = None,
        highlight: str | None = None,
        snapshots: Sequence[SnapshotSummary] = (),
    ) -> None:
        """Show sessions, given the latest first; what is open below them stays."""
        self._sessions = {summary.session_id: summary for summary in summaries}
        self.empty = EMPTY
        lines = session_choices(summaries, current)
        self._base = [line if line.heading else self._session_line(line) for line in lines]
        first = None if self.highlighted else current
        self._rebuild(highlight or first)

    def learn(self, found: Mapping[str, Inside], highlight: str | None = None) -> None:
        """Know what is below sessions; of open ones it is shown."""
        self._inside |= found
        self._snapshots |= {each.id: each for one in found.values() for each in one.snapshots}
        self._rebuild(highlight)

    def open_up(self, session_id: str) -> None:
        """Open a session up; asks for what is below it if nobody read it yet."""
        self._expanded.add(session_id)
        known = self._inside.get(session_id)
        if known is None or not known.is_whole:
            self._tell(self.InsideWanted(session_id))
        self._rebuild(None)

    def knows(self, session_id: str) -> bool:
        """Whether at least the snapshots below a session were read."""
        return session_id in self._inside

    def filter(self, words: str) -> int:
        """As every list; what is known below closed sessions is looked at too."""
        if bool(words.split()) != self._is_finding:
            self._is_finding = not self._is_finding
            self._rebuild(None)
        return super().filter(words)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that mean nothing here are not offered."""
        if action in ("archive", "expand") or parameters == ("tag",):
            return True if self.point and not any(self.point[1:]) else None
        return super().check_action(action, parameters)

    def action_expand(self) -> None:
        """Open up; on an open session, go to the first line below it."""
        if self.point is None:
            return
        if self.point.session_id not in self._expanded:
            self.open_up(self.point.session_id)
        elif not any(self.point[1:]):
            self.move(1)

    def action_collapse(self) -> None:
        """From below to the session; there, close it."""
        if self.point is None:
            return
        session_id = self.point.session_id
        if not any(self.point[1:]):
            self._expanded.discard(session_id)
        self._rebuild(session_id)

    def action_ask(self, deed: Deed) -> None:
        """Ask for something that others do."""
        if self.point:
            self._tell(self.Asked(deed, self.point))

    def action_archive(self) -> None:
        """Ask for the other state."""
        if self.point and self.session:
            self._tell(self.ArchiveWanted(self.point, not self.session.archived))

    def _rebuild(self, highlight: str | None) -> None:
        """The lines of the sessions, with what is below some of them."""
        wanted = self._inside.keys() if self._is_finding else self._expanded & self._inside.keys()
        if not wanted and not self._expanded:
            self.show(self._base, highlight)
            return
        age = age_labels(datetime.now().astimezone())
        lines: list[Choice] = []
        for line in self._base:
            is_open = line.key in self._expanded
            lines.append(line._replace(mark=OPEN + line.mark[1:]) if is_open else line)
            if line.key in wanted and not line.heading:
                words = f"{line.text} {line.words}" if is_open else ""
                lines += choices_inside(line.key, self._inside[line.key], age, words)
        self.show(lines, highlight)

    def _session_line(self, line: Choice) -> Choice:
        """A mark that says that it opens, and how long the session is."""
        summary = self._sessions[line.key]
        other = {"▸": CURRENT, PINNED: PINNED, "!": "!"}.get(line.mark, " ")
        count = f"{summary.message_count:,} msg" if summary.message_count else ""
        note = " · ".join(filter(None, (count, line.note)))
        return line._replace(mark=f"{CLOSED}{other}", note=note)
