"""A question a turn waits for: a block above the prompt with keys and a line for words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from ollm_tui.tui.keymap import key_names
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.live_keys import LiveKeys

WRITING = ("Enter send", "Esc back")
AS_USUAL: Mapping[str, str] = MappingProxyType({})


class QuestionBlock(Vertical, can_focus=True):
    """Stays until it is answered. Its letters are keys only while it has the focus; until then
    its hints begin with the key that leads there."""

    NAME = "question"
    DEFAULT_CSS = """
    QuestionBlock {
        height: auto; padding: 0 1; margin: 0 0 0 1;
        border-left: heavy $accent; background: $surface;
        &:focus, &:focus-within { border-left: heavy $primary; background: $panel; }
        & LiveKeys { color: $text-muted; }
        &:focus LiveKeys, &:focus-within LiveKeys { color: $primary; }
        & LineInput { display: none; width: 1fr; background: $panel; }
        &.-writing LineInput { display: block; }
    }
    .-ascii QuestionBlock { border-left: ascii $accent; }
    """

    @dataclass
    class WordsGiven(Message):
        """The user wrote something along with an answer."""

        answer: str

    def __init__(self, reach: str, keymap: Mapping[str, str] = AS_USUAL) -> None:
        super().__init__(id=self.NAME)
        self.reach = reach
        """The key that moves the focus here."""
        self._keymap = keymap
        self._with_words = ""
        """The answer that the words go along with."""
        self.display = False

    def compose(self) -> ComposeResult:
        """Show the hints and the line for words; subclasses put their text above."""
        yield LiveKeys()
        yield LineInput()

    def answers(self) -> tuple[str, ...]:
        """Return hints for the answers that can be given now."""
        return ()

    def key(self, name: str) -> str:
        """Return the key of an answer, as the user has mapped it."""
        binding_id = f"{self.NAME}.{name}"
        usual = (
            each.key
            for each in self.BINDINGS
            if isinstance(each, Binding) and each.id == binding_id
        )
        return key_names(self._keymap.get(binding_id) or next(usual))[0]

    def show_keys(self) -> None:
        """Show the keys that can be used now."""
        if self.has_class("-writing"):
            hints = WRITING
        elif self.has_focus:
            hints = (*self.answers(), "Esc stop")
        else:
            hints = (f"{self.reach}, then", *self.answers())
        self.query_one(LiveKeys).hints = hints

    def ask_for_words(self, answer: str, prefilled: str, placeholder: str = "") -> None:
        """Open the line for words that go along with an answer."""
        self._with_words = answer
        line = self.query_one(LineInput)
        line.placeholder = placeholder
        line.value = prefilled
        self.add_class("-writing")
        line.focus()
        self.show_keys()

    def close(self) -> bool:
        """Hide the block, which is answered or outdated; returns whether it had the focus."""
        had_focus = self.has_focus or self.query_one(LineInput).has_focus
        self.remove_class("-writing")
        self.display = False
        return had_focus

    def action_leave_words(self) -> None:
        """Close the line for words and go back to the other answers."""
        self.remove_class("-writing")
        self.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Esc to the screen while the line for words is closed."""
        return action != "leave_words" or self.has_class("-writing")

    @on(Input.Submitted)
    def _send(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.WordsGiven(f"{self._with_words} {event.value}".rstrip()))

    def _on_focus(self, event: events.Focus) -> None:
        super()._on_focus(event)
        self.show_keys()

    def _on_blur(self, event: events.Blur) -> None:
        super()._on_blur(event)
        self.show_keys()

    def on_click(self) -> None:
        """Focus the block when it is clicked."""
        if not self.has_class("-writing"):
            self.focus()


def answer_key(area: str, key: str, answer: str, title: str, tooltip: str) -> Binding:
    """Return a binding that gives an answer while the block has the focus."""
    action = f"screen.command('tools.answer', '{answer}')"
    return Binding(key, action, title, id=f"{area}.{answer}", tooltip=tooltip, show=False)


def leave_words(area: str) -> Binding:
    """Return the binding of Esc while the line for words is open."""
    return Binding(
        "escape",
        "leave_words",
        "Back",
        id=f"{area}.leave_words",
        tooltip="Back to the other answers",
        show=False,
    )
