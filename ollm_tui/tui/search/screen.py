"""The search screen: finds what was said in any session while typing, and shows it in place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from ollm_tui.core.errors import OllmError
from ollm_tui.core.search import Hit, Overview, Results
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.services.search.query import toggled, within
from ollm_tui.services.sessions.saved_lines import SavedLines
from ollm_tui.tui.frame import Frame
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.kit.question import Confirmation
from ollm_tui.tui.search.facet_bar import FacetBar, SearchFacets
from ollm_tui.tui.search.hit_actions import HitAction, HitActions
from ollm_tui.tui.search.hit_list import HitList, day_of
from ollm_tui.tui.search.hit_preview import HitPreview, HitStream
from ollm_tui.tui.search.hit_timeline import HitTimeline
from ollm_tui.tui.search.port import HitsPort
from ollm_tui.tui.search.saved_search_picker import SavedSearchPicker
from ollm_tui.tui.search.search_reading import SearchReading
from ollm_tui.tui.search.words import (
    NOTHING,
    SEARCH_ALL_SESSIONS,
    SEARCH_SAVED,
    SENT_WHAT,
    TEACHES,
    keys_for,
    send_question,
    totals,
)

BINDINGS = (
    Binding(
        "escape", "back", "Back", id="hits.back", tooltip="Back to the search field, then the chat"
    ),
    Binding("f4", "whole", "Full screen", id="hits.whole", tooltip="Preview full screen"),
    Binding("tab", "part(1)", "Filters", id="hits.next_part", tooltip="Next pane"),
    Binding("shift+tab", "part(-1)", "Previous", id="hits.part_before", tooltip="Previous pane"),
    Binding("ctrl+o", "order", "Sort", id="hits.order", tooltip="Sort by relevance or by time"),
    Binding("ctrl+s", "saved", "Saved", id="hits.saved", tooltip="Saved searches"),
)
WIDE = 90
"""Columns from which the preview stands beside the list."""


class SearchLine(LineInput):
    """The line for the words; Down goes to the list."""

    BINDINGS = [
        Binding("enter", "submit", "Open", id="hits.open_found", tooltip="Open the selected one"),
        Binding("down", "leave(0)", "List", id="hits.list", tooltip="Go to the results"),
        Binding("pagedown", "leave(1)", id="hits.page_down", tooltip="A page down", show=False),
    ]

    @dataclass
    class Left(Message):
        """The user goes to the list, this many pages further down."""

        pages: int

    def on_mount(self) -> None:
        """Select nothing on focus: a letter that came from the list must not be typed over."""
        self.select_on_focus = False

    def action_leave(self, pages: int) -> None:
        """Go to the list."""
        self.post_message(self.Left(pages))


class SearchScreen(Screen[None]):
    """Shows what is found; goes to a message through the chat, and closes when that worked."""

    CSS_PATH = "screen.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
    BINDINGS = [*BINDINGS]

    app: Frame

    def __init__(
        self, workspace: Workspace, chat: HitsPort, searches: SavedLines, words: str = ""
    ) -> None:
        super().__init__()
        self.workspace = workspace
        self._searches = searches
        self._first = words or searches.last
        self.reading = SearchReading(self)
        self._actions = HitActions(self, self.reading, chat)
        self._facets = SearchFacets()

    def compose(self) -> ComposeResult:
        """Lay out words, facets and timeline on top, the hits beside the preview, and the keys."""
        with Horizontal(id="head"):
            yield Static("Search", id="label", markup=False)
            yield SearchLine(self._first, placeholder=SEARCH_ALL_SESSIONS)
            yield Static(id="count", markup=False)
        yield Static(id="notes", markup=False)
        yield FacetBar()
        yield HitTimeline()
        with Horizontal():
            yield HitList(empty=TEACHES, unicode=not self.app.has_class("-ascii"))
            yield HitPreview(self.app.transcript_styles)
        yield LiveKeys()

    def on_mount(self) -> None:
        """Begin with the last words selected; what is not in the index yet is read meanwhile."""
        line = self.query_one(SearchLine)
        line.focus()
        line.action_select_all()
        self.reading.look_for(self.text)
        self.reading.begin()

    def on_unmount(self) -> None:
        """End what still runs."""
        self.reading.end()

    # What is shown

    @property
    def text(self) -> str:
        """The words that are searched for."""
        return self.query_one(SearchLine).value

    @property
    def hit_list(self) -> HitList:
        """The list of hits."""
        return self.query_one(HitList)

    @property
    def preview(self) -> HitPreview:
        """The conversation around the highlighted hit."""
        return self.query_one(HitPreview)

    def show_results(self, results: Results, *, is_new: bool) -> None:
        """Show what was found. The first hit is highlighted while words are typed: better ones
        may come after the first, and another is highlighted only by moving to it."""
        found = self.hit_list
        is_new = is_new or (isinstance(self.focused, SearchLine) and found.is_at_top)
        found.empty = TEACHES if self.reading.query.asks_nothing else NOTHING
        found.show_results(results, is_new=is_new)
        self.query_one(FacetBar).show(self._facets.of(self.text, results))
        self._look()

    def show_overview(self, overview: Overview | None, took: str) -> None:
        """Show how the hits lie in time, and how many there are; None shows nothing."""
        self.set_class(not (overview and overview.days), "-empty")
        self.query_one(HitTimeline).show(overview.days if overview else ())
        self.show_count(totals(overview, took) if overview else "")

    def show_count(self, text: str) -> None:
        """Show a text at the right of the words."""
        self.query_one("#count", Static).update(Content(text))

    def show_notes(self, notes: Iterable[str]) -> None:
        """Show what of the words is not understood."""
        line = self.query_one("#notes", Static)
        text = " · ".join(notes)
        line.update(Content(text))
        line.display = bool(text)

    def ask_to_send(self, host: str) -> None:
        """Ask whether another machine may get what was said, to find by meaning."""

        def answer(may: bool | None) -> None:
            if may:
                self.workspace.history.meaning.allow(host)
                self.reading.look_for(self.text, is_new=False)

        self.app.push_screen(Confirmation(send_question(host), SENT_WHAT), answer)

    def say(self, text: str) -> None:
        """Show a text in place of the keys, until something else is highlighted."""
        self.query_one(LiveKeys).say(text, self.hit_list.highlighted_key)

    def complain(self, error: OllmError) -> None:
        """Show what did not work, and what to do."""
        self.say(error.line)

    # Looking for

    @on(Input.Changed, "SearchLine")
    def _look_for(self, event: Input.Changed) -> None:
        self._searches.last = event.value
        self.reading.look_for(event.value)

    @on(FacetBar.Toggled)
    def _use_facet(self, event: FacetBar.Toggled) -> None:
        self._put(toggled(self.text, event.word))

    @on(HitTimeline.Narrowed)
    def _narrow(self, event: HitTimeline.Narrowed) -> None:
        self._put(within(self.text, *(event.span.words if event.span else ())))

    @on(HitTimeline.Moved)
    def _show_first_of(self, event: HitTimeline.Moved) -> None:
        """Highlight the first hit of the span, if the list has one."""
        for hit in self.hit_list.hits:
            day = day_of(hit.timestamp)
            if day and event.span.holds(day):
                self.hit_list.go_to(hit)
                return

    def _put(self, text: str) -> None:
        line = self.query_one(SearchLine)
        line.value = text
        line.cursor_position = len(text)

    def action_order(self) -> None:
        """Sort by time, the latest first, or by relevance again."""
        self.reading.order = "time" if self.reading.order == "relevance" else "relevance"
        self.reading.look_for(self.text)
        self._show_keys()

    def action_saved(self) -> None:
        """Open the saved searches: one is taken, or this one is kept."""

        def take(text: str | None) -> None:
            if text == self.text.strip():
                self.say(SEARCH_SAVED)
            elif text is not None:
                self._put(text)

        self.app.push_screen(SavedSearchPicker(self._searches, self.text), take)

    # Moving about

    @on(SearchLine.Left)
    def _enter_list(self, event: SearchLine.Left) -> None:
        self.hit_list.focus()
        if event.pages:
            self.hit_list.action_page(event.pages)

    def on_key(self, event: events.Key) -> None:
        """Put letters that are no key of the list into the search line; Up from the first line goes
        there too."""
        if self.focused is not self.hit_list:
            return
        line = self.query_one(SearchLine)
        letter = (event.character or "").strip() if event.is_printable else ""
        if letter and event.key not in self.active_bindings:
            line.focus()
            line.insert_text_at_cursor(letter)
            event.stop()
        elif event.key == "up" and self.hit_list.is_at_top:
            line.focus()
            event.stop()

    def action_part(self, step: int) -> None:
        """Focus the next part of the screen, or the one before."""
        parts = self._parts()
        here = next((at for at, part in enumerate(parts) if part is self.focused), 0)
        parts[(here + step) % len(parts)].focus()

    def action_whole(self) -> None:
        """Show the conversation on the whole screen, or the list again."""
        is_whole = not self.has_class("-whole")
        self.set_class(is_whole, "-whole")
        (self.preview.stream if is_whole else self.hit_list).focus()
        self._look()

    def action_back(self) -> None:
        """Go one step back; from the words and the list, to the chat."""
        if self.has_class("-whole"):
            self.action_whole()
        elif self.focused in (self.query_one(SearchLine), self.hit_list):
            self.dismiss(None)
        else:
            (self.hit_list if self.focused is self.preview.stream else self._parts()[0]).focus()

    def _parts(self) -> list[Widget]:
        """Return what can have the focus, in the order of Tab."""
        if self.has_class("-whole"):
            return [self.preview.stream, self.query_one(SearchLine)]
        parts: list[Widget] = [self.query_one(SearchLine), self.query_one(FacetBar)]
        if not self.has_class("-empty"):
            parts += [self.query_one(HitTimeline), self.hit_list]
            parts += [self.preview.stream] if self.preview.display else []
        return parts

    # Doing

    @on(Input.Submitted, "SearchLine")
    @on(ChoiceList.Chosen)
    def _open(self) -> None:
        self.action_do("open")

    def action_place(self) -> None:
        """Show the next place of a message that is in several: a fork, a branch, a copy."""
        self.hit_list.next_place()
        self._look()

    def action_do(self, action: HitAction) -> None:
        """Carry out an action on the chosen message."""
        if hit := self._meant():
            self._actions.do(action, hit)

    @on(HitStream.OtherRequested)
    def _go_to_other(self, event: HitStream.OtherRequested) -> None:
        self.hit_list.move(event.step)

    def _meant(self) -> Hit | None:
        """Return the highlighted hit, or the message under the cursor of the preview."""
        hit, stream = self.hit_list.hit, self.preview.stream
        if hit and self.focused is stream and stream.cursor.key:
            return hit._replace(message_id=stream.cursor.key)
        return hit

    # What follows

    @on(ChoiceList.Highlighted)
    def _look(self) -> None:
        """Show the highlighted hit in the preview, if that is seen."""
        if self.preview.display:
            self.reading.look_at(self.hit_list.hit)
        self._show_keys()

    @on(events.Resize)
    def _look_again(self) -> None:
        """Show the preview again: a wider screen may have room for it."""
        self.call_after_refresh(self._look)

    @on(events.DescendantFocus)
    def _show_focus(self) -> None:
        """Show the keys of the part that has the focus now."""
        self.set_class(isinstance(self.focused, FacetBar), "-faceting")
        self._show_keys()

    def _show_keys(self) -> None:
        """Show the keys for what has the focus, and what Tab goes to."""
        parts = self._parts()
        here = next((at for at, part in enumerate(parts) if part is self.focused), 0)
        part = _NAMES.get(type(parts[(here + 1) % len(parts)]), "")
        words = keys_for(self.reading.order, is_whole=self.has_class("-whole"), part=part)
        self.query_one(LiveKeys).show(*words, about=self.hit_list.highlighted_key)


_NAMES: dict[type[Widget], str] = {
    SearchLine: "words",
    FacetBar: "filters",
    HitTimeline: "timeline",
    HitList: "list",
    HitStream: "messages",
}
