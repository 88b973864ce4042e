"""The list of what a search found, by sessions: a line per message, with the words marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding

from ollm_tui.core import clock
from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible
from ollm_tui.core.search import Hit, HitPlace, Results, SessionHits, Snippet
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.search.words import ELSEWHERE, SPEAKERS, moment_words

HIT_KEYS = (
    Binding("f", "screen.do('fork')", "Fork", id="hits.fork", tooltip="Fork from there"),
    Binding(
        "r", "screen.do('restore')", "Restore", id="hits.restore", tooltip="Restore that point"
    ),
    Binding("q", "screen.do('quote')", "Quote", id="hits.quote", tooltip="Quote into the prompt"),
    Binding("y", "screen.do('copy')", "Copy", id="hits.copy", tooltip="Copy the message"),
    Binding("x", "screen.do('export')", "Export", id="hits.export", tooltip="Export to a file"),
    Binding(
        "a", "screen.do('ask')", "Ask", id="hits.ask", tooltip="Ask the model about these results"
    ),
    Binding("o", "screen.place", "Place", id="hits.place", tooltip="Next place of this message"),
)
"""Keys for a hit, in the list and in the preview."""
BEFORE_CELLS = 24
"""Cells before the first hit of a line at most, where there is more after it."""
MOMENT_CELLS, SPEAKER_CELLS = 12, 6
_BOLD = Style(bold=True)


class MarkedText(NamedTuple):
    """A text, and where in it the marks begin and end."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


class HitList(ChoiceList):
    """Hits to choose from; the screen carries out what the keys ask for."""

    COMPONENT_CLASSES = {"hit-list--hit", "hit-list--you"}
    DEFAULT_CSS = """
    HitList {
        & > .hit-list--hit { color: $warning; text-style: bold; }
        & > .hit-list--you { color: $accent; }
    }
    """
    BINDINGS = [
        *HIT_KEYS,
        Binding("enter", "choose", "Open", id="hits.open", tooltip="Open the session there"),
        Binding("up,k", "move(-1)", "Up", id="hits.up", tooltip="Previous match", show=False),
        Binding("down,j", "move(1)", "Down", id="hits.down", tooltip="Next match", show=False),
        Binding(
            "left", "session(-1)", "Previous", id="hits.session_before", tooltip="Previous session"
        ),
        Binding("right", "session(1)", "Next", id="hits.session_after", tooltip="Next session"),
    ]

    def __init__(self, *, unicode: bool = True, **options: Any) -> None:
        super().__init__(unicode=unicode, **options)
        self._hits: dict[str, Hit] = {}
        self._now = datetime.now().astimezone()

    def show_results(self, results: Results, *, is_new: bool) -> None:
        """Show what was found; for new words the first hit is highlighted."""
        self._now = datetime.now().astimezone()
        self._hits = {_key(hit): hit for hit in results.hits}
        lines = [line for session in results.sessions for line in _lines(session)]
        if results.total > len(self._hits):
            more = f"{results.total - len(self._hits):,}{'+' * results.at_least} more"
            lines.append(Choice("", f"{more} · add a word or a filter to narrow", heading=True))
        self.show(lines, next(iter(self._hits), None) if is_new else None)

    @property
    def hit(self) -> Hit | None:
        """The hit that is highlighted."""
        return self._hits.get(self.highlighted.key) if self.highlighted else None

    @property
    def hits(self) -> Sequence[Hit]:
        """All hits of the list."""
        return tuple(self._hits.values())

    def go_to(self, hit: Hit) -> None:
        """Highlight a hit."""
        self.show(self._choices, _key(hit))

    def next_place(self) -> None:
        """Show the highlighted message in the next of its places."""
        hit, highlighted = self.hit, self.highlighted
        if hit and highlighted and hit.places:
            here = HitPlace(hit.session_id, hit.message_id, hit.on_branch, "")
            place, *others = hit.places
            self._hits[highlighted.key] = hit._replace(
                session_id=place.session_id,
                message_id=place.message_id,
                on_branch=place.on_branch,
                places=(*others, here),
            )
            self.refresh()

    def action_session(self, step: int) -> None:
        """Move to the first hit of the session before or after."""
        here = self.hit
        names = list(dict.fromkeys(hit.session_id for hit in self._hits.values()))
        if here:
            at = min(max(names.index(here.session_id) + step, 0), len(names) - 1)
            self.go_to(next(hit for hit in self._hits.values() if hit.session_id == names[at]))

    def _segments(self, choice: Choice, ground: Style, highlighted: bool) -> list[Segment]:
        hit = self._hits.get(choice.key)
        if hit is None:
            return list(self._heading(choice))
        quiet = ground if highlighted else self._style("note")
        found = ground + _BOLD if highlighted else self._own_style("hit")
        who = quiet if hit.role != "user" or highlighted else self._own_style("you")
        tags = [tag for tag, is_so in self._tags(hit) if is_so]
        note = f"  {' · '.join(tags)}" if tags else ""
        width = self._room().width
        lead = MOMENT_CELLS + SPEAKER_CELLS + 3
        text, marks = one_line(hit.snippet, max(width - lead - cell_len(note) - 1, 8))
        moment = moment_words(hit.timestamp, self._now)
        return [
            Segment(f"  {moment:<{MOMENT_CELLS}} ", quiet),
            Segment(f"{SPEAKERS[hit.role]:<{SPEAKER_CELLS}}", who),
            *_marked(text, marks, ground, found),
            Segment(note, quiet),
        ]

    def _heading(self, choice: Choice) -> Iterator[Segment]:
        """Yield the title of a session, and at the right how many hits it has."""
        style = self._style("heading")
        room = self._room().width - cell_len(choice.note) - 3
        yield Segment(" ", style)
        title = choice.text
        if cell_len(title) > room:
            title = set_cell_size(title, max(room - 1, 0)).rstrip() + "…"
        yield Segment(set_cell_size(title, max(room, 0)), style)
        yield Segment(f" {choice.note}", self._style("note"))

    def _tags(self, hit: Hit) -> tuple[tuple[str, bool], ...]:
        return (
            (hit.why, hit.why != "words"),
            (f"{len(hit.places) + 1} places", bool(hit.places)),
            (ELSEWHERE, not hit.on_branch),
            ("★" if self._unicode else "*", hit.pinned),
        )

    def _own_style(self, part: str) -> Style:
        return self.get_component_rich_style(f"hit-list--{part}")


def one_line(snippet: Snippet, width: int) -> MarkedText:
    """Return as much of a snippet as this many cells hold, with its first hit in it."""
    text, marks = _joined(snippet)
    if cell_len(text) <= width:
        return MarkedText(text, marks)
    start = _start(text, marks[0][0] if marks else 0, width)
    front = "…" if start else ""
    end = _fitting(text, start, width - len(front), marks[0][1] if marks else start)
    shift = len(front) - start
    shown = tuple(
        (max(first, start) + shift, min(last, end) + shift)
        for first, last in marks
        if first < end and last > start
    )
    return MarkedText(front + text[start:end] + ("…" if end < len(text) else ""), shown)


def day_of(timestamp: str) -> date | None:
    """Return the day of a recorded time in the user's zone; None if it is no time."""
    try:
        return clock.parse(timestamp).astimezone().date()
    except (ValueError, OverflowError):
        return None


def _joined(snippet: Snippet) -> MarkedText:
    """Return the text in one line, with single blanks; the marks are moved along."""
    places: list[int] = []
    text = ""
    for mark in snippet.text:
        places.append(len(text))
        if not mark.isspace():
            text += mark
        elif text and not text.endswith(" "):
            text += " "
    places.append(len(text))
    marks = tuple((places[first], places[last]) for first, last in snippet.marks)
    return MarkedText(text.rstrip(), marks)


def _start(text: str, hit: int, width: int) -> int:
    """Return where to begin so that the hit is seen, at the border of a word if one is near."""
    before = min(BEFORE_CELLS, width // 3)
    if cell_len(text[:hit]) <= before:
        return 0
    start = hit
    while start and cell_len(text[start - 1 : hit]) <= before:
        start -= 1
    border = text.find(" ", start, hit)
    return border + 1 if border >= 0 else start


def _fitting(text: str, start: int, width: int, least: int) -> int:
    """Return the end of what fits, with a cell to spare for the sign that there is more; after
    `least`, the end of the hit, no word is cut."""
    if cell_len(text[start:]) <= width:
        return len(text)
    end, room = start, width - 1
    while end < len(text) and (room := room - cell_len(text[end])) >= 0:
        end += 1
    border = text.rfind(" ", max(start + 1, least), end + 1)
    return border if border > start else end


def _key(hit: Hit) -> str:
    return f"{hit.session_id}/{hit.message_id}"


def _lines(session: SessionHits) -> Iterator[Choice]:
    title = " ".join(visible(session.title).split()) or UNTITLED
    facts = ["archived"] if session.archived else []
    facts.append(counted(len(session.hits), "match", "matches"))
    yield Choice("", title, " · ".join(facts), heading=True)
    for hit in session.hits:
        yield Choice(_key(hit), hit.snippet.text)


def _marked(
    text: str, marks: Sequence[tuple[int, int]], plain: Style, found: Style
) -> Iterator[Segment]:
    at = 0
    for start, end in marks:
        yield Segment(text[at:start], plain)
        yield Segment(text[start:end], found)
        at = end
    yield Segment(text[at:], plain)
