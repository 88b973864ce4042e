"""The pane around a list of sessions: a line above to find them by, one below to rename them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from ollm_tui.core.intake import clean
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.core.snapshot import SnapshotSummary
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.browser.words import LIST_KEYS, NEW_TITLE, TYPE_TO_FIND
from ollm_tui.tui.conversations.standing import Standing
from ollm_tui.tui.kit.line_input import LineInput

SCROLLING = ("scroll_up", "scroll_down", "page_up", "page_down")
"""Actions of a scrolling widget; an input inherits them and has no use for them."""


class FindLine(LineInput):
    """The line for the words that narrow the list."""

    BINDINGS = [
        Binding(
            "enter", "submit", "Open", id="sessions.open_found", tooltip="Open the selected one"
        ),
    ]

    def on_mount(self) -> None:
        """Select nothing on focus: a letter that came from the list must not be typed over."""
        self.select_on_focus = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys that scroll to the list."""
        return action not in SCROLLING


class RenameLine(LineInput):
    """The line for another title of a session, or another name of a snapshot."""

    BINDINGS = [
        Binding("enter", "submit", "Save", id="sessions.keep_title", tooltip="Save the title"),
    ]


class SessionPane(Vertical):
    """Shows the list with its lines; `RenameRequested` is posted when a title was typed.

    With `always_finding` the find line is always there, else `/` or a letter that is no key
    of the list shows it.
    """

    DEFAULT_CSS = """
    SessionPane {
        .find { height: 1; display: none; background: $surface; padding: 0 1; }
        &.-finding .find { display: block; }
        .count { width: auto; color: $text-muted; }
        LineInput {
            width: 1fr; background: $surface;
            &:focus { background-tint: transparent; }
            & > .input--placeholder { color: $text-muted; }
        }
        SessionList {
            height: 1fr;
            scrollbar-background: $background; scrollbar-background-hover: $background;
            scrollbar-background-active: $background; scrollbar-color: $panel;
            scrollbar-color-hover: $panel-lighten-1; scrollbar-color-active: $primary;
        }
        .title { height: 1; display: none; background: $panel; padding: 0 1; }
        .title Static { width: auto; padding: 0 1 0 0; color: $primary; text-style: bold; }
        RenameLine { background: $panel; }
        &.-naming .title { display: block; }
    }
    """
    BINDINGS = [
        Binding("down", "enter(0)", "List", id="sessions.list", tooltip="Go to the list"),
        Binding("up", "enter(-1)", id="sessions.list_up", tooltip="Previous line", show=False),
        Binding("pagedown", "page(1)", id="sessions.page_down", tooltip="A page down", show=False),
        Binding("pageup", "page(-1)", id="sessions.page_up", tooltip="A page up", show=False),
        Binding("slash", "find", "Find", id="sessions.find", tooltip="Filter sessions"),
        Binding("escape", "leave_line", "Back", id="sessions.back", tooltip="Leave the field"),
    ]

    @dataclass
    class Narrowed(Message):
        """The list was narrowed by other words."""

    def __init__(
        self, *, always_finding: bool = False, unicode: bool = True, **options: Any
    ) -> None:
        super().__init__(**options)
        self._always_finding = always_finding
        self._unicode = unicode
        self._total = ""
        self._named: SessionList.TitleAsked | None = None
        self.set_class(always_finding, "-finding")

    def compose(self) -> ComposeResult:
        """Lay out the find line, the list and the rename line."""
        with Horizontal(classes="find"):
            yield FindLine(placeholder=TYPE_TO_FIND)
            yield Static(classes="count", markup=False)
        sessions = self.make_list(unicode=self._unicode)
        sessions.above = self.action_find if self._always_finding else None
        yield sessions
        with Horizontal(classes="title"):
            yield Static("Title", markup=False)
            yield RenameLine(placeholder=NEW_TITLE)

    def make_list(self, *, unicode: bool) -> SessionList:
        """Return the list of this pane; a subclass may have another one."""
        return SessionList(unicode=unicode)

    @property
    def session_list(self) -> SessionList:
        """The list of this pane."""
        return self.query_one(SessionList)

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """What may be done with the highlighted line, by the ids of bindings."""
        if not self.session_list.snapshot:
            return LIST_KEYS
        back = ("sessions.open", "restore here")
        return tuple(back if key[0] == back[0] else key for key in LIST_KEYS)

    def show_sessions(
        self,
        summaries: Sequence[SessionSummary],
        current: str | None = None,
        highlight: str | None = None,
        snapshots: Sequence[SnapshotSummary] = (),
        standings: Sequence[Standing] = (),
    ) -> None:
        """Show sessions, given the latest first; words to find by and the highlight stay.

        The snapshots are those of the current one; `standings` tell of those that are open.
        """
        self.session_list.show_sessions(summaries, current, highlight, snapshots, standings)
        self.show_total(f"{len(summaries):,}")

    def show_total(self, total: str) -> None:
        """Show how many there are in all, for as long as no words are typed."""
        self._total = total
        self._narrow(self.query_one(FindLine).value)

    def begin(self) -> None:
        """Focus the find line if it is always there, else the list."""
        (self.query_one(FindLine) if self._always_finding else self.session_list).focus()

    # Finding

    @on(Input.Changed, "FindLine")
    def narrow(self, event: Input.Changed) -> None:
        """Narrow the list with every letter."""
        event.stop()
        self._narrow(event.value)
        self.post_message(self.Narrowed())

    @on(Input.Submitted, "FindLine")
    def open_found(self, event: Input.Submitted) -> None:
        """Open what is highlighted."""
        event.stop()
        # Keys may come in one burst: the list has not yet been narrowed by the last of them.
        self._narrow(event.value)
        self.session_list.action_choose()

    def on_key(self, event: events.Key) -> None:
        """Put letters that are no key of the list into the find line.

        Letters that come in one burst are all sent to the list, though the first of them
        moves the focus.
        """
        letter = event.character if event.is_printable else None
        focused, line = self.screen.focused, self.query_one(FindLine)
        is_free = focused is self.session_list and event.key not in self.screen.active_bindings
        if letter and (focused is line or (is_free and letter.strip())):
            self.action_find()
            line.insert_text_at_cursor(letter)
            event.stop()

    def action_find(self) -> None:
        """Show the line to find by, ready to type."""
        self.add_class("-finding")
        self.screen.set_focus(self.query_one(FindLine))  # at once, unlike `focus`

    def action_enter(self, step: int) -> None:
        """Go from the find line to the highlighted line, or to the line above it (`step` -1)."""
        self._narrow(self.query_one(FindLine).value)
        if step and self.session_list.is_at_top:
            return
        self.screen.set_focus(self.session_list)
        self.session_list.move(step)

    def action_page(self, direction: int) -> None:
        """Go from the find line to the list, a page further."""
        self.action_enter(0)
        self.session_list.action_page(direction)

    def _narrow(self, words: str) -> None:
        left = self.session_list.filter(words)
        self.query_one(".count", Static).update(
            Content(f"{left:,} found" if words.strip() else self._total)
        )

    # Naming

    @on(SessionList.TitleAsked)
    def ask_for_title(self, event: SessionList.TitleAsked) -> None:
        """Show the line for the title, with the one there is."""
        event.stop()
        self._named = event
        line = self.query_one(RenameLine)
        line.value = " ".join(clean(event.title).split())
        self.query_one(".title Static", Static).update("Name" if event.point.snapshot else "Title")
        self.add_class("-naming")
        line.focus()
        line.action_select_all()

    @on(Input.Submitted, "RenameLine")
    def give_title(self, event: Input.Submitted) -> None:
        """Ask for the title that was typed, unless it is empty or as before."""
        event.stop()
        named = self._named
        if named and event.value.strip() and event.value != named.title:
            wanted = SessionList.RenameRequested(named.point, event.value, named.title)
            self.post_message(wanted)
        self._end_naming()

    @on(Input.Changed, "RenameLine")
    def keep_to_itself(self, event: Input.Changed) -> None:
        """Stop the event: a title that is being typed concerns nobody else."""
        event.stop()

    def _end_naming(self) -> None:
        self.remove_class("-naming")
        self._named = None
        self.session_list.focus()

    # Leaving

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Take keys that other widgets need only where they mean something here."""
        focused = self.screen.focused
        if action == "find":
            return focused is self.session_list
        if action in ("enter", "page"):
            return isinstance(focused, FindLine)
        if action == "leave_line":
            finding = isinstance(focused, FindLine)
            words = bool(self.query_one(FindLine).value)
            return (
                isinstance(focused, RenameLine) or words or (finding and not self._always_finding)
            )
        return True

    def action_leave_line(self) -> None:
        """End renaming and change nothing; else clear the find line."""
        if isinstance(self.screen.focused, RenameLine):
            self._end_naming()
            return
        self.query_one(FindLine).value = ""
        if not self._always_finding:
            self.remove_class("-finding")
            self.session_list.focus()
