"""Sessions with a line above to find them by, and one below to give them another name."""

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
from ollm_tui.tui.browser.words import LIST_KEYS
from ollm_tui.tui.kit.line_input import LineInput

SCROLLING = ("scroll_up", "scroll_down", "page_up", "page_down")


class FindLine(LineInput):
    """Words that narrow the list."""

    BINDINGS = [
        Binding(
            "enter", "submit", "Open", id="sessions.open_found", tooltip="Open what is highlighted"
        ),
    ]

    def on_mount(self) -> None:
        """A letter that came from the list is gone on from, not typed over."""
        self.select_on_focus = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is nothing to scroll in one line: these keys are for the list."""
        return action not in SCROLLING


class RenameLine(LineInput):
    """Another title for a session."""

    BINDINGS = [
        Binding("enter", "submit", "Keep", id="sessions.keep_title", tooltip="Take this title"),
    ]


class SessionPane(Vertical):
    """Passes on what the list wants done; `RenameRequested` comes when a title was typed.

    With `always_finding` the upper line is always there, else `/` or a letter that is no key
    of the list brings it.
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
        Binding("down", "enter(0)", "List", id="sessions.list", tooltip="Down to the list"),
        Binding("up", "enter(-1)", id="sessions.list_up", tooltip="The line above", show=False),
        Binding("pagedown", "page(1)", id="sessions.page_down", tooltip="A page down", show=False),
        Binding("pageup", "page(-1)", id="sessions.page_up", tooltip="A page up", show=False),
        Binding("slash", "find", "Find", id="sessions.find", tooltip="Find a session by words"),
        Binding("escape", "leave_line", "Back", id="sessions.back", tooltip="Leave this line"),
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
        """From top to bottom."""
        with Horizontal(classes="find"):
            yield FindLine(placeholder="Type to find")
            yield Static(classes="count", markup=False)
        sessions = self.make_list(unicode=self._unicode)
        sessions.above = self.action_find if self._always_finding else None
        yield sessions
        with Horizontal(classes="title"):
            yield Static("Title", markup=False)
            yield RenameLine(placeholder="Another title")

    def make_list(self, *, unicode: bool) -> SessionList:
        """The list this pane is about."""
        return SessionList(unicode=unicode)

    @property
    def session_list(self) -> SessionList:
        """The list itself."""
        return self.query_one(SessionList)

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """What may be done with what is highlighted."""
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
    ) -> None:
        """Show sessions, given the latest first; words to find by and the highlight stay.

        The snapshots are those of the current one.
        """
        self.session_list.show_sessions(summaries, current, highlight, snapshots)
        self.show_total(f"{len(summaries):,}")

    def show_total(self, total: str) -> None:
        """Say how many there are of what."""
        self._total = total
        self._narrow(self.query_one(FindLine).value)

    def begin(self) -> None:
        """Take the focus, where typing begins."""
        (self.query_one(FindLine) if self._always_finding else self.session_list).focus()

    # Finding

    @on(Input.Changed, "FindLine")
    def narrow(self, event: Input.Changed) -> None:
        """Every key finds anew."""
        event.stop()
        self._narrow(event.value)
        self.post_message(self.Narrowed())

    @on(Input.Submitted, "FindLine")
    def open_found(self, event: Input.Submitted) -> None:
        """Enter opens what is highlighted below."""
        event.stop()
        self._narrow(event.value)
        self.session_list.action_choose()

    def on_key(self, event: events.Key) -> None:
        """Letters that are no key of the list are words to find.

        All that come in one go were sent to the list; the first of them moved the focus.
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
        """From the words down to what they found, or to the line above it."""
        self._narrow(self.query_one(FindLine).value)
        if step and self.session_list.is_at_top:
            return
        self.screen.set_focus(self.session_list)
        self.session_list.move(step)

    def action_page(self, direction: int) -> None:
        """From the words to a page further on."""
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
        """Enter gives the title."""
        event.stop()
        named = self._named
        if named and event.value.strip() and event.value != named.title:
            wanted = SessionList.RenameRequested(named.point, event.value, named.title)
            self.post_message(wanted)
        self._end_naming()

    @on(Input.Changed, "RenameLine")
    def keep_to_itself(self, event: Input.Changed) -> None:
        """A title that is being typed concerns nobody yet."""
        event.stop()

    def _end_naming(self) -> None:
        self.remove_class("-naming")
        self._named = None
        self.session_list.focus()

    # Leaving

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that other places need are only taken where they mean something here."""
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
        """Leave the title as it is; else find no more."""
        if isinstance(self.screen.focused, RenameLine):
            self._end_naming()
            return
        self.query_one(FindLine).value = ""
        if not self._always_finding:
            self.remove_class("-finding")
            self.session_list.focus()
