"""A dialog to choose from a list: type to filter, arrows move, Enter chooses, Esc closes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ollm_tui.core.intake import visible
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.line_input import LineInput

KEYS = "Enter choose   ↑↓ move   Esc close"
FIND = "Type to find"
FRAME_LINES = 11
"""Lines of the dialog that are not the list."""

Result = TypeVar("Result")
Watcher = Callable[[Choice | None], None]


class PickerOf(ModalScreen[Result | None]):
    """What all pickers share; `result` turns a chosen line into what the dialog returns."""

    # Whole: Textual looks for a relative path beside the subclass, in the folder of its feature.
    CSS_PATH = Path(__file__).with_name("dialog.tcss")
    BINDINGS = [
        Binding("escape", "close", "Close", id="picker.close", tooltip="Close"),
        Binding("up,ctrl+p", "move(-1)", "Up", id="picker.up", tooltip="Previous line"),
        Binding("down,ctrl+n", "move(1)", "Down", id="picker.down", tooltip="Next line"),
        Binding("pageup", "page(-1)", "Page up", id="picker.page_up", tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", id="picker.page_down", tooltip="A page down"),
    ]

    RANKS: ClassVar[bool] = True
    """Whether what fits best comes first; else the order stays, as that of times."""
    FILTER: ClassVar[type[LineInput]] = LineInput
    """What the words of the filter are typed into."""

    app: App[Any]

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice] = (),
        *,
        highlight: str | None = None,
        empty: str = "Nothing to choose from.",
        keys: str = KEYS,
    ) -> None:
        super().__init__()
        self._heading = title
        self._choices = choices
        self._first = highlight
        self._empty = empty
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Show the title, the filter, the list, a line about the highlighted one, and the keys."""
        with Vertical(id="dialog"):
            with Horizontal(id="head"):
                yield Static(Content(self._heading), id="title")
                yield Static(id="count")
            yield self.FILTER(placeholder=FIND)
            yield ChoiceList(empty=self._empty, unicode=self._has_unicode, ranks=self.RANKS)
            yield Static(id="about")
            yield Static(Content(self._drawn(self._keys)), id="keys")

    def on_mount(self) -> None:
        """Show the choices; the filter keeps the focus and passes keys on to the list."""
        self.choice_list.can_focus = False
        self.show(self._choices, self._first)

    @property
    def choice_list(self) -> ChoiceList:
        """The list of choices."""
        return self.query_one(ChoiceList)

    def show(self, choices: Sequence[Choice], highlight: str | None = None) -> None:
        """Replace the choices."""
        self.query_one("#dialog").styles.height = max(len(choices), 3) + FRAME_LINES
        self.choice_list.show(choices, highlight)
        self._count(self.choice_list.filter(self.query_one(LineInput).value))

    def say(self, text: str) -> None:
        """Show a line about the highlighted choice; an empty text hides the line."""
        if self not in self.app.screen_stack:
            return  # it is being closed, and the line may be gone already
        about = self.query_one("#about", Static)
        about.update(Content(visible(text)))
        about.display = bool(text)

    def say_keys(self, keys: str) -> None:
        """Show what the keys do with the highlighted choice."""
        if self in self.app.screen_stack:
            self.query_one("#keys", Static).update(Content(self._drawn(keys)))

    def result(self, choice: Choice) -> Result | None:
        """Return what choosing a line gives; None if it cannot be chosen."""
        raise NotImplementedError

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Filter the lines by the words typed."""
        self._count(self.choice_list.filter(event.value))

    @on(Input.Submitted)
    def take_highlighted(self) -> None:
        """Choose the highlighted line when Enter is pressed in the filter."""
        self.choice_list.action_choose()

    @on(ChoiceList.Chosen)
    def take(self, event: ChoiceList.Chosen) -> None:
        """Close with what was chosen."""
        result = self.result(event.choice)
        if result is not None:
            self.dismiss(result)

    def action_close(self) -> None:
        """Close without a choice."""
        self.dismiss(None)

    def action_move(self, step: int) -> None:
        """Move the highlight."""
        self.choice_list.move(step)

    def action_page(self, direction: int) -> None:
        """Move the highlight by a page."""
        self.choice_list.action_page(direction)

    @property
    def _has_unicode(self) -> bool:
        return not self.app.has_class("-ascii")

    def _drawn(self, keys: str) -> str:
        return keys if self._has_unicode else keys.replace("↑↓", "Up Down")

    def _count(self, left: int) -> None:
        self.query_one("#count", Static).update(Content(str(left) if left else ""))


class Picker(PickerOf[str]):
    """Returns the key of the chosen line; `watcher` is called with every highlighted line."""

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        highlight: str | None = None,
        empty: str = "Nothing to choose from.",
        keys: str = KEYS,
        watcher: Watcher | None = None,
    ) -> None:
        super().__init__(title, choices, highlight=highlight, empty=empty, keys=keys)
        self._watcher = watcher

    def result(self, choice: Choice) -> str:
        """Return the key of the line."""
        return choice.key

    @on(ChoiceList.Highlighted)
    def tell(self, event: ChoiceList.Highlighted) -> None:
        """Pass the highlighted line on to the watcher."""
        if self._watcher:
            self._watcher(event.choice)
