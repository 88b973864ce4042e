"""The list of completions above the prompt. It only shows: the keys stay with the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ollm_tui.tui.prompt.completion import Option
from ollm_tui.tui.prompt.words import COMPLETION_KEYS

MOST_LINES = 8
"""Options shown at a time, but no more than a third of the screen."""
WIDEST_LABEL = 36
"""The widest column of labels; what is longer is cut, but shown whole where it is chosen."""


class CompletionList(Static):
    """Shows up to eight options around the chosen one, and the keys that matter."""

    DEFAULT_CSS = """
    CompletionList {
        display: none; height: auto; padding: 0 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    @dataclass
    class Picked(Message):
        """An option was clicked."""

        index: int

    def __init__(self) -> None:
        super().__init__(id="completions")
        self._first = 0
        self._shown = 0

    def show(self, options: Sequence[Option], chosen: int) -> None:
        """Show options, or nothing if there are none."""
        self.display = bool(options)
        most = min(MOST_LINES, max(self.screen.size.height // 3, 1))
        if chosen < self._first or chosen >= self._first + most:
            self._first = max(chosen - most + 1, 0) if chosen >= self._first else chosen
        self._first = min(self._first, max(len(options) - most, 0))
        shown = options[self._first : self._first + most]
        self._shown = len(shown)
        width = min(max((len(_head(option)) for option in shown), default=0), WIDEST_LABEL)
        lines = [
            _line(option, width, is_chosen=self._first + at == chosen)
            for at, option in enumerate(shown)
        ]
        more = f"{chosen + 1} of {len(options)}   " if len(options) > most else ""
        self.update(
            Content("\n").join((*lines, Content.styled(more + COMPLETION_KEYS, "$text-muted")))
        )

    def on_click(self, event: events.Click) -> None:
        """Tell which option was clicked."""
        if event.y < self._shown:
            self.post_message(self.Picked(self._first + event.y))


def _head(option: Option) -> str:
    return f"{option.label} {option.argument}".rstrip()


def _line(option: Option, width: int, *, is_chosen: bool) -> Content:
    name = "bold $primary" if is_chosen else "$foreground"
    argument = f" {option.argument}" if option.argument else ""
    room = max(width - len(option.label), 0)
    if not is_chosen and room < len(argument):
        argument = f"{argument[: room - 1]}…" if room > 1 else ""
    gap = " " * max(room - len(argument), 0)
    return Content.assemble(
        ("▌ " if is_chosen else "  ", "$primary"),
        (option.label, name),
        (argument, "$text-muted"),
        (f"{gap}   {option.description}", "$foreground" if is_chosen else "$text-muted"),
    )
