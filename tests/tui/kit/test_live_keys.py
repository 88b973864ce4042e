"""The line of keys: what can be done now, as the user has mapped it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from ollm_tui.tui.kit.live_keys import LiveKeys


class Keys(App[None]):
    """A line of keys above some bindings that do nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k,up", "nothing", id="test.up"),
        Binding("j,down", "nothing", id="test.down"),
        Binding("K", "nothing", id="test.extend_up"),
        Binding("J", "nothing", id="test.extend_down"),
        Binding("x", "nothing", id="test.cut"),
    ]

    def compose(self) -> ComposeResult:
        yield LiveKeys()

    def action_nothing(self) -> None:
        """Do nothing."""


async def test_two_keys_for_one_word_stand_together_as_arrows_where_there_are_some() -> None:
    app = Keys()
    async with app.run_test():
        line = app.query_one(LiveKeys)
        line.show(
            ("test.up test.down", "move"),
            ("test.extend_up test.extend_down", "select"),
            ("test.cut test.gone", "cut"),
            ("test.gone", "go"),
        )
        assert line.hints == ("↑↓ move", "K J select", "x cut")
