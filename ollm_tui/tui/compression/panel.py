"""The panel that shows a compression as it goes, beside the stream, while the user types on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual.app import App
from textual.binding import Binding
from textual.content import Content, Span
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.style import Style
from textual.timer import Timer
from textual.visual import Visual
from textual.widget import Widget

from ollm_tui.core.compression_events import AnyCompressionEvent, CompressionStarted
from ollm_tui.tui.compression.compression_lines import CompressionLines, one_bar, two_bars
from ollm_tui.tui.compression.progress import Clock, CompressionProgress, reading_words
from ollm_tui.tui.compression.words import (
    CANCEL,
    CANCEL_SHORT,
    EDIT,
    EDIT_SHORT,
    LEDGER,
    SUMMARY_DONE,
    SUMMARY_WRITTEN,
)
from ollm_tui.tui.gauge.gauge_bar import Characters, characters_for
from ollm_tui.tui.keymap import key_name
from ollm_tui.tui.kit.side_by_side import SideChanged

COMPACT_HEIGHT, AIRY_HEIGHT = 9, 20
"""Lines below which the short forms are used, and from which parts stand apart."""
_MARKS_ABOVE = 6
"""Lines above which the short form shows the messages that are folded."""
_TITLES_FROM, _GAPS_FROM = 5, 12
"""Lines left for the texts from which these have titles, and empty lines between them."""
APPEARS_AFTER_SECONDS = 0.3
"""A compression that ends sooner leaves its record in the stream and needs no panel."""
FRAME_SECONDS = 1 / 8
"""Slow enough that keys are handled at once, fast enough to follow a text."""
WIDE = 100
"""Columns of the terminal from which the panel stands beside the stream, else below."""
SHORT, SHORT_LINES = 24, 6
"""Rows of the terminal below which the panel has only these lines."""


class CompressionPanel(Widget, can_focus=True):
    """Shown while a compression runs that takes a while; it never takes the focus by itself."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    CompressionPanel {
        display: none; width: 1fr; height: 1fr; padding: 0 1; border-left: solid $panel;
        &.-running { display: block; }
        &:focus { border-left: solid $primary; }
        &.-below {
            dock: bottom; width: 100%; height: 45%; border-left: none; border-top: solid $panel;
            &:focus { border-top: solid $primary; }
        }
        &.-compact { background: $surface; border: none; }
        &.-compact:focus { background: $panel; border: none; }
        &.-whole { display: block; border: none; padding: 0 2; }
    }
    .-ascii CompressionPanel {
        border-left: ascii $panel;
        &.-below { border-left: none; border-top: ascii $panel; }
        &.-compact, &.-whole { border: none; }
    }
    """
    BINDINGS = [
        Binding(
            "escape",
            "cancel",
            "Cancel",
            id="compression.cancel",
            tooltip="Cancel; nothing changes",
        ),
        Binding(
            "z",
            "whole",
            "Full screen",
            id="compression.whole",
            tooltip="Full screen, or beside the chat",
        ),
        Binding(
            "e",
            "edit",
            "Edit first",
            id="compression.edit",
            tooltip="Pause and edit the summary before applying",
        ),
        Binding(
            "tab,i",
            "leave",
            "Back",
            id="compression.leave",
            tooltip="Back to the prompt; compression continues",
        ),
    ]

    app: App[Any]

    @dataclass
    class CancelRequested(Message):
        """The user wants to cancel the compression."""

    @dataclass
    class WholeRequested(Message):
        """The user wants to see it on the whole screen, or no longer."""

    @dataclass
    class EditRequested(Message):
        """The user wants to edit the summary before it is applied."""

    @dataclass
    class Left(Message):
        """The user wants to go on writing."""

    def __init__(
        self,
        progress: CompressionProgress | None = None,
        *,
        whole: bool = False,
        unicode: bool = True,
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__(classes="-whole" if whole else None)
        self._clock = clock
        self._whole = whole
        self._unicode = unicode
        self.progress = progress or CompressionProgress(clock)
        """The compression that is shown."""
        self._lines: list[Content] = []
        self._strips: dict[tuple[str, tuple[Span, ...]], Strip] = {}
        """Drawn lines, by how they look: when a summary grows, most lines only move up."""
        self._drawn_for: tuple[int, Style] | None = None
        self._keys = ""
        self._keys_for: tuple[object, ...] = ()
        self._frame: Timer | None = None
        self._second: Timer | None = None
        self._appearance: Timer | None = None

    # What is shown

    def take(self, event: AnyCompressionEvent) -> None:
        """Show one event; those of one frame are drawn together."""
        if isinstance(event, CompressionStarted):
            self.progress = CompressionProgress(self._clock)
        self.progress.take(event)
        self.follow()

    def follow(self) -> None:
        """Draw again: more is known of the compression."""
        if not self.is_attached:
            return
        if self.progress.is_running:
            self._run()
        else:
            self._rest()

    def leave(self) -> None:
        """Hide the panel: the compression goes on in a conversation that is not shown."""
        self.progress = CompressionProgress(self._clock)
        self._rest()

    def on_mount(self) -> None:
        """Show a compression that may have begun before."""
        self._place()
        self.follow()

    def on_unmount(self) -> None:
        """Stop the timers."""
        self._stop()

    def on_resize(self) -> None:
        """Stand beside the stream or below it, as there is room."""
        self._place()
        self._draw()

    def on_focus(self) -> None:
        """Show other keys, as soon as Textual knows them."""
        self.call_after_refresh(self._draw)

    def on_blur(self) -> None:
        """Show other keys, as soon as Textual knows them."""
        self.call_after_refresh(self._draw)

    def lines(self) -> list[Content]:
        """Return the lines that there is room for."""
        width, height = self.content_size
        lines = CompressionLines(self.progress, width, self._characters, self._unicode)
        return picture(lines, height, self.keys)

    def render_line(self, y: int) -> Strip:
        """Draw one line; a line that looks the same is made once, wherever it stands."""
        line = self._lines[y] if y < len(self._lines) else Content("")
        drawn_for = self.content_size.width, self.visual_style
        if drawn_for != self._drawn_for:
            self._strips.clear()
            self._drawn_for = drawn_for
        strip = self._strips.get(_look(line))
        if strip is None:
            [strip] = Visual.to_strips(self, line, drawn_for[0], 1, drawn_for[1], pad=True)
            self._strips[_look(line)] = strip
        return strip

    @property
    def keys(self) -> str:
        """The keys that matter now, as the user has mapped them; they are looked up when that
        changes."""
        progress = self.progress
        focus = self.screen, self.screen.focused, self.has_focus
        now = (*focus, progress.stage, progress.is_running, self.content_size)
        if now != self._keys_for:
            self._keys, self._keys_for = self._live_keys(), now
        return self._keys

    def _live_keys(self) -> str:
        live = {
            active.binding.id: key_name(key)
            for key, active in reversed(self.screen.active_bindings.items())
            if active.enabled
        }
        lines = [
            "   ".join(f"{live[name]} {words}" for name, words in offered if name in live)
            for offered in (self._offered(CANCEL, EDIT), self._offered(CANCEL_SHORT, EDIT_SHORT))
        ]
        return next((line for line in lines if len(line) <= self.content_size.width), lines[-1])

    def _offered(self, cancel: str, edit: str) -> tuple[tuple[str, str], ...]:
        """Return the ids of bindings with a word for each."""
        if not self.progress.is_running:
            return (("compression.cancel", "close"),)
        if not self.has_focus:
            return (("chat.stop", cancel), ("compression.watch", "full screen"))
        size = "beside the chat" if self._whole else "full screen"
        return (
            ("compression.cancel", cancel),
            ("compression.edit", edit),
            ("compression.whole", size),
        )

    # What the user does

    def action_cancel(self) -> None:
        """Ask to cancel; once it has ended, leave the panel."""
        self.post_message(self.CancelRequested() if self.progress.is_running else self.Left())

    def action_whole(self) -> None:
        """Ask for the whole screen, or for the panel again."""
        self.post_message(self.WholeRequested())

    def action_edit(self) -> None:
        """Ask for the preview before it is applied."""
        self.post_message(self.EditRequested())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allow editing only while the compression can still be held."""
        return action != "edit" or self.progress.can_be_held

    def action_leave(self) -> None:
        """Leave the panel; the compression goes on."""
        self.post_message(self.Left())

    # Time

    def _run(self) -> None:
        if self._whole or self.has_class("-running"):
            self._draw_soon()
        elif self._appearance is None:
            self._appearance = self.set_timer(APPEARS_AFTER_SECONDS, self._appear)
        if self._second is None:
            self._second = self.set_interval(1, self._draw_soon)

    def _appear(self) -> None:
        self._appearance = None
        self.add_class("-running")
        self.post_message(SideChanged())

    def _rest(self) -> None:
        """Hide the panel at the end, and stop all timers."""
        self._stop()
        had_focus = self.has_focus
        self.remove_class("-running")
        self.post_message(SideChanged())
        if had_focus and not self._whole:
            self.post_message(self.Left())
        self._draw()

    def _stop(self) -> None:
        for timer in (self._frame, self._second, self._appearance):
            if timer:
                timer.stop()
        self._frame = self._second = self._appearance = None

    def _draw_soon(self) -> None:
        if self._frame is None:
            self._frame = self.set_timer(FRAME_SECONDS, self._draw)

    def _draw(self) -> None:
        """Draw the lines that have changed: in most frames only the end of the summary."""
        self._frame = None
        if not self.is_attached:
            return
        before, self._lines = self._lines, self.lines()
        there = set(map(_look, self._lines))
        self._strips = {look: strip for look, strip in self._strips.items() if look in there}
        if len(before) != len(self._lines):
            self.refresh()
            return
        for y, (old, new) in enumerate(zip(before, self._lines, strict=True)):
            if not old.is_same(new):
                self.refresh(Region(0, y, self.content_size.width, 1))

    # Place

    def _place(self) -> None:
        if self._whole:
            return
        size = self.screen.size
        below, compact = size.width < WIDE, size.height < SHORT
        self.set_class(below, "-below")
        self.set_class(below and compact, "-compact")
        height = SHORT_LINES if below and compact else None
        if height or self.styles.inline.has_rule("height"):
            self.styles.height = height

    @property
    def _characters(self) -> Characters:
        return characters_for(unicode=self._unicode, no_color=self.app.no_color)


def picture(lines: CompressionLines, height: int, keys: str) -> list[Content]:
    """Return exactly `height` lines; the last one has the keys."""
    head = _short_head(lines, height) if height < COMPACT_HEIGHT else _head(lines, height)
    room = height - len(head) - 1
    body = _body(lines, room) if room > 0 else []
    shown = [*head, *body][: max(height - 1, 0)]
    free = [Content("")] * (height - 1 - len(shown))
    return [*shown, *free, lines.cut(Content.styled(keys, "$text-muted"))][:height]


def _short_head(lines: CompressionLines, height: int) -> list[Content]:
    if not lines.progress.started:
        return [lines.short_heading()]
    bar = one_bar(lines.progress, lines.width, lines.characters)
    marks = [lines.marks()] if height > _MARKS_ABOVE and lines.progress.outcomes("fold") else []
    return [lines.short_heading(), bar, lines.cut(lines.short_outcomes()), *marks]


def _head(lines: CompressionLines, height: int) -> list[Content]:
    if not lines.progress.started:
        return lines.heading()
    gap = [Content("")] if height >= AIRY_HEIGHT else []
    bars = two_bars(lines.progress, lines.width, lines.characters)
    freed = Content.styled(lines.freed(), "$text-muted")
    return [*lines.heading(), *gap, *bars, *gap, *lines.outcomes(), freed]


def _body(lines: CompressionLines, room: int) -> list[Content]:
    """Return what went wrong, the end of the summary, and the ledger."""
    gap = [Content("")] if room >= _GAPS_FROM else []
    problems = lines.problems()
    if lines.progress.is_running:
        # Half of the room is for the summary that is being written.
        problems = problems[: max(room // 2, 1)]
    if problems:
        problems = [*gap, *problems][:room]
    room -= len(problems)
    if room < _TITLES_FROM or not lines.progress.started:
        return [*problems, *(lines.summary()[-room:] if room > 0 else [])]
    return [*problems, *_words(lines, room, gap)]


def _words(lines: CompressionLines, room: int, gap: list[Content]) -> list[Content]:
    """Return the end of the summary and the beginning of the ledger, with their titles."""
    summary, ledger = lines.summary(), lines.progress.facts
    free = room - (1 + len(gap)) * (2 if ledger else 1)
    # The ledger is short: it gets what the summary leaves, and at least half of the room.
    facts = min(len(ledger), max(free - len(summary), free // 2))
    title = SUMMARY_WRITTEN if lines.progress.is_running else SUMMARY_DONE
    title = reading_words(lines.progress) or title
    parts = [*gap, _title(title), *summary[-(free - facts) :]]
    if ledger:
        parts += [*gap, _title(LEDGER), *_first(lines, ledger, facts)]
    return parts


def _title(text: str) -> Content:
    return Content.styled(text, "bold $secondary")


def _first(lines: CompressionLines, facts: Sequence[str], room: int) -> list[Content]:
    """Return the first facts, and how many more there are; thousands are not even laid out."""
    if len(facts) <= room or room < 1:
        return lines.ledger(facts[:room])
    more = Content.styled(f"  and {len(facts) - room + 1} more", "$text-muted")
    return [*lines.ledger(facts[: room - 1]), lines.cut(more)]


def _look(line: Content) -> tuple[str, tuple[Span, ...]]:
    """Return what is equal for two lines that look the same."""
    return line.plain, tuple(line.spans)
