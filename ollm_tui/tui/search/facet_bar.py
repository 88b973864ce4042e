"""The facets of a search: each adds a filter word to the search or takes it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ollm_tui.core.intake import visible
from ollm_tui.core.search import Results
from ollm_tui.services.search.query import filter_word, has_filter
from ollm_tui.tui.search.words import FLAG_FACETS, ROLE_FACETS

ON, OFF = "●", "○"
MOST_NAMES = 4
"""How many models, and how many projects, are offered: those with the most hits."""


class Facet(NamedTuple):
    """One filter: the word that stands for it, what it is called, and whether it is in use."""

    word: str
    title: str
    group: str = ""
    """The title before the first of several facets that belong together."""
    is_on: bool = False


class Place(NamedTuple):
    """Where a facet stands: its row, and the cells from which and to which it reaches."""

    row: int
    start: int
    end: int


class FacetBar(Widget, can_focus=True):
    """Facets in as many lines as they need: Left and Right move, Space toggles."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {"facet-bar--on", "facet-bar--at", "facet-bar--group"}
    DEFAULT_CSS = """
    FacetBar {
        height: auto; padding: 0 1;
        & > .facet-bar--on { color: $accent; text-style: bold; }
        & > .facet-bar--at {
            color: $block-cursor-foreground; background: $block-cursor-background;
        }
        & > .facet-bar--group { color: $text-muted; }
        &:nocolor > .facet-bar--at { text-style: reverse; }
    }
    """
    BINDINGS = [
        Binding("left,h", "step(-1)", "Left", id="hits.facet_left", tooltip="Previous filter"),
        Binding("right,l", "step(1)", "Right", id="hits.facet_right", tooltip="Next filter"),
        Binding("space,enter", "use", "Use", id="hits.toggle", tooltip="Toggle the filter"),
    ]

    @dataclass
    class Toggled(Message):
        """A filter should be used, or no longer."""

        word: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._facets: tuple[Facet, ...] = ()
        self._at = 0

    def show(self, facets: Sequence[Facet]) -> None:
        """Show other facets; the cursor stays on its facet if that is still there."""
        here = self._facets[self._at].word if self._facets else ""
        self._facets = tuple(facets)
        words = [facet.word for facet in facets]
        self._at = words.index(here) if here in words else min(self._at, max(len(words) - 1, 0))
        rows = self._rows(self.size.width)
        self.refresh(layout=rows != self.size.height)

    def action_step(self, step: int) -> None:
        """Move to the facet beside, from the last one to the first."""
        if self._facets:
            self._at = (self._at + step) % len(self._facets)
            self.refresh()

    def action_use(self) -> None:
        """Toggle the facet of the cursor."""
        if self._facets:
            self.post_message(self.Toggled(self._facets[self._at].word))

    def on_click(self, event: events.Click) -> None:
        """Toggle the clicked facet."""
        at = event.get_content_offset_capture(self)
        for number, place in enumerate(self._places(self.size.width)):
            if place.row == at.y and place.start <= at.x < place.end:
                self._at = number
                self.action_use()

    def on_focus(self, _event: events.Focus) -> None:
        """Show the cursor."""
        self.refresh()

    def on_blur(self, _event: events.Blur) -> None:
        """Hide the cursor."""
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many lines the facets take."""
        return self._rows(width)

    def render_line(self, y: int) -> Strip:
        """Draw the facets of a line, each in one piece with the title of its group."""
        segments: list[Segment] = []
        width = self.size.width
        for at, place in enumerate(self._places(width)):
            if place.row != y:
                continue
            facet = self._facets[at]
            if self._begins_group(at):
                segments.append(Segment(f"{facet.group} ", self._style("group")))
            is_here = self.has_focus and at == self._at
            style = self._style("at") if is_here else self._style("on") if facet.is_on else None
            segments += [Segment(self._label(facet), style), Segment("  ")]
        strip = Strip(segments).crop(0, width).adjust_cell_length(width, self.rich_style)
        return strip.apply_style(self.rich_style)

    def _label(self, facet: Facet) -> str:
        return f"{ON if facet.is_on else OFF} {facet.title}"

    def _begins_group(self, at: int) -> bool:
        group = self._facets[at].group
        return bool(group) and (at == 0 or self._facets[at - 1].group != group)

    def _rows(self, width: int) -> int:
        places = self._places(width)
        return places[-1].row + 1 if places else 1

    def _places(self, width: int) -> list[Place]:
        """Return where each facet stands; a group that does not fit begins a line, and so does a
        facet of one that is longer than a line."""
        places: list[Place] = []
        row = at = 0
        for number, facet in enumerate(self._facets):
            title = cell_len(facet.group) + 1 if self._begins_group(number) else 0
            label = cell_len(self._label(facet))
            group = self._group_width(number) if title else 0
            needed = group if group <= width else title + label
            if at and at + max(needed, title + label) > width:
                row, at = row + 1, 0
            places.append(Place(row, at + title, at + title + label))
            at = places[-1].end + 2
        return places

    def _group_width(self, first: int) -> int:
        name = self._facets[first].group
        group = takewhile(lambda facet: facet.group == name, self._facets[first:])
        return cell_len(name) - 1 + sum(cell_len(self._label(facet)) + 2 for facet in group)

    def _style(self, part: str) -> Style:
        return self.get_component_rich_style(f"facet-bar--{part}")


class SearchFacets:
    """Makes the facets of a search; remembers models and projects, so that a facet in use does not
    make the others go away."""

    def __init__(self) -> None:
        self._models: Counter[str] = Counter()
        self._projects: Counter[str] = Counter()

    def of(self, text: str, results: Results) -> list[Facet]:
        """Return the facets for what was found with these words."""
        self._models |= Counter(visible(hit.model) for hit in results.hits)
        self._projects |= Counter(
            PurePath(visible(session.project)).name
            for session in results.sessions
            for _ in session.hits
            if session.project
        )
        return [
            facet._replace(is_on=has_filter(text, facet.word))
            for facet in (*self._roles(), *self._names(), *self._flags())
        ]

    def _roles(self) -> Iterator[Facet]:
        for role, title in ROLE_FACETS:
            yield Facet(filter_word("role", role), title, "from")

    def _names(self) -> Iterator[Facet]:
        for key, title, names in (
            ("model", "model", self._models),
            ("project", "in", self._projects),
        ):
            for name, _ in names.most_common(MOST_NAMES):
                if name:
                    yield Facet(filter_word(key, name), name, title)

    def _flags(self) -> Iterator[Facet]:
        for word, title in FLAG_FACETS:
            yield Facet(word, title, "only")
