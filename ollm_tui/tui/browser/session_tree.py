"""The tree of the browser: sessions that unfold to their branches and snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import Any, Literal, NamedTuple

from textual.binding import Binding
from textual.message import Message

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import clean
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.browser.session_list import (
    SHORT_ID,
    SessionList,
    age_labels,
)
from ollm_tui.tui.browser.snapshot_choices import Inside, choices_inside
from ollm_tui.tui.browser.words import (
    CURRENT,
    DAMAGED,
    FOLDED,
    GONE_HEADING,
    OPENED,
    PINNED,
    UNFOLDED,
)
from ollm_tui.tui.kit.choice_list import Choice

OF_SESSIONS = ("rename", "pin", "delete", "fork", "archive", "ask")
"""Actions that need a session that still exists."""
MACHINE_CHARACTERS = 12
"""Of the name of a machine, in the line of a session."""
BrowserAction = Literal["compare", "mark", "export", "copy_id", "tag"]


class Parts(NamedTuple):
    """The sessions that a session is linked to: the one it continues, the one it goes on in."""

    before: str | None = None
    after: str | None = None


class SessionTree(SessionList):
    """Shows what is below a session once that was read; `InsideRequested` asks for it.

    While words are searched for, every line that has them is shown, also below folded sessions.
    """

    BINDINGS = [
        Binding("right", "expand", "Expand", id="sessions.expand", tooltip="Show snapshots"),
        Binding("left", "collapse", "Collapse", id="sessions.collapse", tooltip="Hide snapshots"),
        Binding("d", "ask('compare')", "Diff", id="sessions.diff", tooltip="Compare with now"),
        Binding("m", "ask('mark')", "Mark", id="sessions.mark", tooltip="Mark for comparison"),
        Binding("x", "ask('export')", "Export", id="sessions.export", tooltip="Export to a file"),
        Binding("y", "ask('copy_id')", "Copy id", id="sessions.copy_id", tooltip="Copy the id"),
        Binding("t", "ask('tag')", "Tags", id="sessions.tags", tooltip="Edit tags"),
        Binding("a", "archive", "Archive", id="sessions.archive", tooltip="Archive or unarchive"),
        Binding(
            "less_than_sign",
            "go_to_part(0)",
            "Previous part",
            id="sessions.part_before",
            tooltip="Previous part",
        ),
        Binding(
            "greater_than_sign",
            "go_to_part(1)",
            "Next part",
            id="sessions.part_after",
            tooltip="Next part",
        ),
        Binding("tab", "screen.look", "Preview", id="sessions.look", tooltip="Preview messages"),
    ]

    @dataclass
    class InsideRequested(Message):
        """What is below a session should be read."""

        session_id: str

    @dataclass
    class Asked(Message):
        """An action on a point was chosen."""

        action: BrowserAction
        point: Point

    @dataclass
    class ArchiveRequested(Message):
        """A session should be archived, or no longer be."""

        point: Point
        archived: bool

    NOT_ASKED = (*SessionList.NOT_ASKED, InsideRequested)

    def __init__(self, *, unicode: bool = True, **options: Any) -> None:
        super().__init__(unicode=unicode, **options)
        self._base: list[Choice] = []
        """The lines of the sessions, without what is below them."""
        self._gone: Mapping[str, int] = {}
        """How many snapshots are left of each session that is gone."""
        self._inside: dict[str, Inside] = {}
        self._parts: dict[str, Parts] = {}
        self._expanded: set[str] = set()
        self._is_finding = False

    def show_gone(self, counts: Mapping[str, int]) -> None:
        """Show sessions of which only snapshots are left, and how many of them, at the end."""
        if counts != self._gone:
            self._gone = dict(counts)
            self._rebuild(None)

    @property
    def is_gone(self) -> bool:
        """Whether only snapshots are left of the highlighted session."""
        return self.point is not None and self.point.session_id in self._gone

    def learn(self, found: Mapping[str, Inside], highlight: str | None = None) -> None:
        """Take in what is below sessions; below unfolded ones it is shown."""
        self._inside |= found
        self._snapshots |= {each.id: each for one in found.values() for each in one.snapshots}
        self._rebuild(highlight)

    def learn_parts(self, session_id: str, parts: Parts) -> None:
        """Take in which sessions are linked to one."""
        self._parts[session_id] = parts

    def open_up(self, session_id: str) -> None:
        """Unfold a session; asks for what is below it unless that was read."""
        self._expanded.add(session_id)
        known = self._inside.get(session_id)
        if known is None or not known.is_whole:
            self._tell(self.InsideRequested(session_id))
        self._rebuild(None)

    def knows(self, session_id: str) -> bool:
        """Whether at least the snapshots below a session were read."""
        return session_id in self._inside

    def filter(self, words: str) -> int:
        """Narrow the list; lines that are known below folded sessions are found too."""
        if bool(words.split()) != self._is_finding:
            self._is_finding = not self._is_finding
            self._rebuild(None)
        return super().filter(words)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Refuse what the highlighted line cannot do: its keys are not offered then."""
        if self._is_gone_session and action in OF_SESSIONS:
            return None
        if action == "go_to_part":
            return True if self._part(int(str(parameters[0]))) else None
        if action in ("archive", "expand") or parameters == ("tag",):
            return True if self.point and not any(self.point[1:]) else None
        return super().check_action(action, parameters)

    def action_choose(self) -> None:
        """Ask for the point to be opened. A session that is gone unfolds: its snapshots can be."""
        if self._is_gone_session:
            self.action_expand()
        else:
            super().action_choose()

    def action_expand(self) -> None:
        """Unfold the session; if it is unfolded, go to the first line below it."""
        if self.point is None:
            return
        if self.point.session_id not in self._expanded:
            self.open_up(self.point.session_id)
        elif not any(self.point[1:]):
            self.move(1)

    def action_collapse(self) -> None:
        """Go from below to the session; on the session itself, fold it."""
        if self.point is None:
            return
        session_id = self.point.session_id
        if not any(self.point[1:]):
            self._expanded.discard(session_id)
        self._move_to(session_id)

    def action_go_to_part(self, which: int) -> None:
        """Go to the session that this one continues, or to that in which it goes on."""
        if part := self._part(which):
            self._move_to(part)

    def action_ask(self, action: BrowserAction) -> None:
        """Ask for an action on the highlighted point."""
        if self.point:
            self._tell(self.Asked(action, self.point))

    def action_archive(self) -> None:
        """Ask for the session to be archived, or no longer."""
        if self.point and self.session:
            self._tell(self.ArchiveRequested(self.point, not self.session.archived))

    def _move_to(self, session_id: str) -> None:
        # `show` leaves the highlight alone once the user has moved; this move is their own.
        self._has_moved = False
        self._rebuild(session_id)
        self._has_moved = True

    def _part(self, which: int) -> str | None:
        """Return the linked session that is listed, of the highlighted one."""
        linked = self._parts.get(self.point.session_id, Parts()) if self.point else Parts()
        return linked[which] if linked[which] in self._sessions else None

    @property
    def _is_gone_session(self) -> bool:
        """Whether the line of a session that is gone is highlighted, and none of its snapshots."""
        return self.is_gone and self.point is not None and not self.point.snapshot

    def _show_lines(
        self, lines: list[Choice], snapshots: Sequence[SnapshotSummary], highlight: str | None
    ) -> None:
        """Show the lines of the sessions; what is unfolded below them stays.

        The snapshots come with `learn` instead.
        """
        self._base = [line if line.heading else self._session_line(line) for line in lines]
        self._rebuild(highlight)

    def _rebuild(self, highlight: str | None) -> None:
        """Show the sessions with what is below the unfolded ones; while finding, below all."""
        shown = self._inside.keys() if self._is_finding else self._expanded & self._inside.keys()
        base = [*self._base, *self._gone_lines()] if self._gone else self._base
        if not shown and not self._expanded:
            self.show(base, highlight)
            return
        age = age_labels(datetime.now().astimezone())
        lines: list[Choice] = []
        for line in base:
            is_open = line.key in self._expanded
            lines.append(line._replace(mark=UNFOLDED + line.mark[1:]) if is_open else line)
            if line.key in shown and not line.heading:
                lines += choices_inside(line.key, self._inside[line.key], age)
        self.show(lines, highlight)

    def _narrow(self) -> int:
        """Keep the lines that have the words; below an unfolded session that is found, all stay."""
        count = super()._narrow()
        if not self._is_finding:
            return count
        kept = set(self._lines)
        for at in self._lines:
            if self._choices[at].key in self._expanded:
                below = takewhile(lambda line: self._choices[line].indent, self._after(at))
                kept.update(below)
        self._lines = sorted(kept)
        return count

    def _after(self, at: int) -> range:
        return range(at + 1, len(self._choices))

    def _gone_lines(self) -> Iterator[Choice]:
        """Yield the lines of gone sessions, named by what was said last if that was read."""
        yield Choice("", GONE_HEADING, heading=True)
        for session_id, count in self._gone.items():
            known = self._inside.get(session_id)
            said = clean(known.snapshots[0].summary) if known and known.snapshots else ""
            text, note = said or f"session {session_id[:SHORT_ID]}", counted(count, "snapshot")
            yield Choice(session_id, text, note, f"{FOLDED} ", words=session_id[:SHORT_ID])

    def _session_line(self, line: Choice) -> Choice:
        """Return the line of a session with a mark for folding and its number of messages."""
        summary = self._sessions[line.key]
        other = {OPENED: CURRENT, PINNED: PINNED, DAMAGED: DAMAGED}.get(line.mark, " ")
        what = f"{summary.message_count:,} msg" if summary.message_count else ""
        if summary.went_on:  # seen also where the words after a long title are cut off
            what = f"on {clean(summary.went_on)[:MACHINE_CHARACTERS]}"
        note = " · ".join(filter(None, (what, line.note)))
        return line._replace(mark=f"{FOLDED}{other}", note=note)
