"""The browser of sessions, branches and snapshots: find a point, look at it, and go there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen

from ollm_tui.core.errors import OllmError, SessionBusy
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.browser.browser_actions import BrowserActions
from ollm_tui.tui.browser.browser_reading import BrowserReading
from ollm_tui.tui.browser.port import PointsPort
from ollm_tui.tui.browser.session_actions import SessionActions, SessionRequest
from ollm_tui.tui.browser.session_list import SessionList
from ollm_tui.tui.browser.session_pane import FindLine, RenameLine, SessionPane
from ollm_tui.tui.browser.session_preview import PreviewStream, SessionPreview
from ollm_tui.tui.browser.session_tree import SessionTree
from ollm_tui.tui.browser.snapshot_choices import key_of
from ollm_tui.tui.browser.timeline_strip import TimelineStrip
from ollm_tui.tui.browser.words import BUSY, keys_for
from ollm_tui.tui.frame import Frame
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys

WIDE = 90
"""Columns from which the preview stands beside the tree, not in its place."""


class BrowserPane(SessionPane):
    """The pane of the browser: it has a tree in place of a list."""

    BINDINGS = [
        Binding(
            "tab", "screen.look", "Preview", id="sessions.look_found", tooltip="Preview messages"
        ),
    ]

    def make_list(self, *, unicode: bool) -> SessionList:
        """Return the tree."""
        return SessionTree(unicode=unicode)


class SessionBrowser(Screen[None]):
    """Shows all sessions; goes to a point through the chat, and closes when that worked."""

    CSS_PATH = "screen.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
    BINDINGS = [
        Binding(
            "escape,f3,ctrl+s", "close", "Close", id="sessions.close", tooltip="Back to the chat"
        ),
    ]

    app: Frame

    def __init__(
        self,
        actions: SessionActions,
        beside: PointsPort,
        current: str | None = None,
        *,
        at_snapshots: bool = False,
    ) -> None:
        """`at_snapshots`: stand on the newest snapshot of the current session, if it has one."""
        super().__init__()
        self.actions = actions
        self.beside = beside
        self.current = current
        self.marked: Point | None = None
        """The point that another one is to be compared with."""
        self._at_snapshots = at_snapshots
        self._reading = BrowserReading(self)
        self._actions = BrowserActions(self)

    def compose(self) -> ComposeResult:
        """Show the tree, beside it the highlighted point, below the timeline and the keys."""
        unicode = not self.app.has_class("-ascii")
        with Horizontal():
            yield BrowserPane(always_finding=True, unicode=unicode)
            yield SessionPreview(self.app.transcript_styles, unicode=unicode)
        yield TimelineStrip()
        yield LiveKeys()

    def on_mount(self) -> None:
        """Focus the find line, or the tree for its snapshots, and begin to read the list."""
        if self._at_snapshots:
            self.session_tree.focus()
        else:
            self.pane.begin()
        self._load()

    def action_close(self) -> None:
        """Close; the chat stays where it is."""
        self.dismiss(None)

    @property
    def pane(self) -> BrowserPane:
        """The tree with the lines to find and to rename."""
        return self.query_one(BrowserPane)

    @property
    def session_tree(self) -> SessionTree:
        """The tree itself."""
        return self.query_one(SessionTree)

    @property
    def preview(self) -> SessionPreview:
        """The preview of the highlighted point."""
        return self.query_one(SessionPreview)

    @property
    def timeline(self) -> TimelineStrip:
        """The timeline of the highlighted session."""
        return self.query_one(TimelineStrip)

    @property
    def is_open(self) -> bool:
        """Whether it can still be seen: while it closes, messages go on coming from its parts."""
        return self in self.app.screen_stack

    def say(self, text: str) -> None:
        """Show a text in place of the keys, until something else is highlighted."""
        if self.is_open:
            self.query_one(LiveKeys).say(text, self.session_tree.highlighted_key)

    # Going

    @on(SessionList.Opened)
    def _open(self, event: SessionList.Opened) -> None:
        self.leave(lambda: self.beside.go_to(event.point))

    @on(SessionList.NewRequested)
    def _begin_new(self) -> None:
        self.leave(self.beside.begin_new)

    @work(group="actions")
    async def leave(self, go: Callable[[], Awaitable[None]]) -> None:
        """Go somewhere and close; if that fails, say why and stay."""
        try:
            await go()
        except SessionBusy:
            self.say(BUSY)
        except OllmError as error:
            self.complain(error)
        else:
            self.dismiss(None)

    # Changing

    @on(SessionList.RenameRequested)
    @on(SessionList.PinRequested)
    @on(SessionList.DeleteRequested)
    @on(SessionList.ForkRequested)
    @on(SessionList.UndoRequested)
    @on(SessionTree.ArchiveRequested)
    def _carry_out(self, wanted: SessionRequest) -> None:
        self.carry_out(lambda: self.actions.carry_out(wanted))

    @work(group="actions")
    async def carry_out(self, action: Callable[[], Awaitable[tuple[str, Point | None]]]) -> None:
        """Do something, show everything as it is now, and say what was done."""
        try:
            words, point = await action()
            await self._reading.show_again(key_of(point) if point else None)
        except OllmError as error:
            self.complain(error)
        else:
            self.say(words)

    @on(SessionTree.Asked)
    def _do_asked(self, event: SessionTree.Asked) -> None:
        self._actions.do(event.action, event.point)

    @on(PreviewStream.Chosen)
    def _do_with_messages(self, event: PreviewStream.Chosen) -> None:
        point = self.session_tree.point
        said = self._reading.said_at(point)
        chosen = [message for message in said if message.id in event.keys]
        if point and chosen:
            self._actions.do_with(event.action, point.session_id, said, chosen)

    # Looking

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allow looking only where a line is highlighted and none is being renamed."""
        if action == "look":
            is_free = not isinstance(self.focused, RenameLine)
            return is_free and self.session_tree.point is not None
        return True

    def action_look(self) -> None:
        """Go to the messages of what is highlighted."""
        self.add_class("-looking")
        if not self._reading.said_at(self.session_tree.point):
            self.preview.show_messages(())  # not those of another point until its own are read
        self.set_focus(self.preview.stream)  # at once, unlike `focus`: the next key is meant for it
        self.preview.stream.stand()

    @on(PreviewStream.Left)
    def _look_away(self) -> None:
        self.remove_class("-looking")
        self.set_focus(self.session_tree)

    @work(group="actions")
    async def _load(self) -> None:
        try:
            await self._reading.begin(at_snapshots=self._at_snapshots)
        except OllmError as error:
            self.complain(error)

    @on(SessionTree.InsideRequested)
    def _read_inside(self, event: SessionTree.InsideRequested) -> None:
        self._reading.read_inside(event.session_id)

    @on(ChoiceList.Highlighted)
    def _show_point(self) -> None:
        if not self.is_open:
            return
        self._reading.look_at(self.session_tree.point)
        self.show_keys(about=self.session_tree.highlighted_key)

    @on(SessionPane.Narrowed)
    def _show_found(self) -> None:
        if not self.is_open:
            return
        self._reading.find_names(self.query_one(FindLine).value)
        self.show_keys()

    def on_descendant_focus(self) -> None:
        """Show the keys of the part that has the focus now."""
        self.show_keys()

    def show_keys(self, about: str | None = None) -> None:
        """Show the keys for what is highlighted; a text about `about` stays in their place."""
        if not self.is_open:
            return
        tree, is_marked = self.session_tree, self.marked is not None
        words = keys_for(tree.point, self.current, is_marked=is_marked, is_gone=tree.is_gone)
        self.query_one(LiveKeys).show(*words, about=about)

    def complain(self, error: OllmError) -> None:
        """Say what did not work, and what to do."""
        self.say(error.line)
