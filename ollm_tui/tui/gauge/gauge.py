"""The gauge widget: how full the model's window is, with what, and what happens next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ollm_tui.core.intake import visible
from ollm_tui.services.tokens.prompt_count import GROUPS
from ollm_tui.tui.gauge.gauge_bar import EIGHTHS, MARKS, PARTIAL, Cell, Characters, characters_for
from ollm_tui.tui.gauge.gauge_line import COLOURS, Line, Reading, Text, gauge_line

if TYPE_CHECKING:
    from ollm_tui.engine.context.context_view import ContextView
    from ollm_tui.services.tokens.prompt_count import Count


QUIET = "55%"
"""How strong the colours of the bar are while there is plenty of room."""


class Gauge(Widget, can_focus=False):
    """One line with a bar, numbers and words; numbers that are only estimated carry ≈."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Gauge { height: 1; }
    """

    app: App[Any]

    @dataclass
    class Clicked(Message):
        """The gauge was clicked: the user wants to see what the context is made of."""

    def __init__(self, *, unicode: bool = True) -> None:
        super().__init__(id="gauge")
        self._unicode = unicode
        self._shown: Reading | None = None
        """The context as last shown, without the reply that is being written."""
        self._reading: Reading | None = None
        self._draft = 0
        self._line = Line((), ())
        """The line as it was last drawn."""
        self._styles: dict[tuple[str, bool], Style] = {}

    def show(self, view: ContextView, note: str = "", *, caption: str = "") -> None:
        """Show a context, and a note where there is room: the speed, what was cached. A caption
        says what kind of context it is, and is there in every state."""
        alarm = self._shown.alarm if self._shown else ""
        self._shown = Reading.of(view, visible(note), alarm)._replace(caption=caption)
        self._draw(self._shown)

    def show_words(self, text: str) -> None:
        """Show a text instead of the bar, until a context is shown."""
        self._shown = self._reading = None
        self._line = Line((), (Text("words", visible(text)),))
        self.refresh()

    def show_live(self, count: Count) -> None:
        """Show the context with what has come of its reply; costs the same at any length."""
        if self._shown:
            self._draw(self._shown.grown(count))

    def show_draft(self, tokens: int) -> None:
        """Show about how many tokens the draft in the prompt would add."""
        self._draft = tokens
        if self._reading:
            self._draw(self._reading)

    def alarm(self, text: str) -> None:
        """Show that something is wrong with what the model read; an empty text ends it."""
        if self._shown and self._reading:
            self._shown = self._shown._replace(alarm=visible(text))
            self._draw(self._reading._replace(alarm=visible(text)))

    @property
    def line(self) -> Line:
        """The line for the present reading and width; empty without a reading."""
        return gauge_line(self._reading, self.size.width) if self._reading else Line((), ())

    @property
    def characters(self) -> Characters:
        """The characters of the bar; without colours every segment has its own."""
        return characters_for(unicode=self._unicode, no_color=self.app.no_color)

    def on_click(self) -> None:
        """Post `Clicked`; the screen shows more."""
        self.post_message(self.Clicked())

    def render_line(self, y: int) -> Strip:
        """Draw the bar, the numbers, and what happens next."""
        if self._reading:
            self._line = self.line
        segments = [self._segment(cell) for cell in self._line.bar]
        if segments:
            segments.append(Segment(" ", self.rich_style))
        segments += [Segment(text, self.style_of(look)) for look, text in self._line.texts]
        strip = Strip(segments)
        width = self.size.width
        if strip.cell_length > width:
            more = Segment("…" if self._unicode else "~", segments[-1].style)
            strip = Strip([*strip.crop(0, width - 1), more])
        return strip.crop_extend(0, width, self.rich_style).apply_style(self.rich_style)

    def _segment(self, cell: Cell) -> Segment:
        """Draw one cell: a whole one, a mark on what is behind it, or a part of two kinds."""
        characters, quiet = self.characters, self._line.is_quiet
        style = self.style_of(cell.kind, quiet=quiet)
        if cell.rest is None:
            return Segment(characters[cell.kind], style)
        is_coloured = self._unicode and not self.app.no_color
        behind = self.style_of(cell.rest, quiet=quiet).color if cell.rest in GROUPS else None
        if cell.kind in MARKS:
            return Segment(characters[cell.kind], style + Style(bgcolor=behind))
        if not is_coloured and not (self._unicode and behind is None):
            kind = cell.kind if cell.eighths * 2 >= EIGHTHS else cell.rest
            return Segment(characters[kind], self.style_of(kind, quiet=quiet))
        return Segment(PARTIAL[cell.eighths - 1], style + Style(bgcolor=behind))

    def style_of(self, part: str, *, quiet: bool = False) -> Style:
        """Return the colour of a part in the theme of now. The parts are no component classes of
        the widget: twice as many as it has would be styled anew with every change on the screen."""
        if (part, quiet) not in self._styles:
            colour = COLOURS[part]
            if quiet and " " not in colour:
                colour = f"{colour} {QUIET}"
            look = f"bold {colour}" if part == "over" and not quiet else colour
            own = self.app.stylesheet.parse_style(look)
            self._styles[part, quiet] = (self.visual_style + own).rich_style
        return self._styles[part, quiet]

    def notify_style_update(self) -> None:
        """Forget the colours; the theme may be another one."""
        self._styles.clear()
        super().notify_style_update()

    def _draw(self, reading: Reading) -> None:
        """Show a reading; redraws only if the line is different, as most words change nothing."""
        self._reading = reading._replace(draft=self._draft)
        if self.line != self._line:
            self.refresh()
