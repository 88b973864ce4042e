"""The sessions beside the chat: a list, the keys for it, and a line to find by when asked for."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult

from ollm_tui.tui.browser.session_pane import SessionPane
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys


class Sidebar(SessionPane):
    """A narrow `SessionPane`: it posts the messages of `SessionList` and changes nothing itself."""

    DEFAULT_CSS = """
    Sidebar {
        width: 30; height: 1fr; border-right: solid $panel;
        LiveKeys { padding: 1 1; display: none; }
        &.-active LiveKeys, &.-told LiveKeys { display: block; }
    }
    .-ascii Sidebar { border-right: ascii $panel; }
    """

    def compose(self) -> ComposeResult:
        """The keys stand at the bottom while they matter."""
        yield from super().compose()
        yield LiveKeys()

    def tell(self, text: str) -> None:
        """Say what was done, until the highlight moves."""
        self.query_one(LiveKeys).say(text, self._highlighted_key)
        self.add_class("-told")

    @on(ChoiceList.Highlighted)
    def show_keys_of_line(self) -> None:
        """What can be done with what is highlighted now."""
        keys = self.query_one(LiveKeys)
        keys.show(*self.keys, about=self._highlighted_key)
        self.set_class(bool(keys.told[0]), "-told")

    @on(SessionPane.Narrowed)
    def show_keys(self) -> None:
        """Other keys matter now."""
        self.query_one(LiveKeys).show(*self.keys)
        self.remove_class("-told")

    def on_descendant_focus(self) -> None:
        """Another line has the focus."""
        self.add_class("-active")
        self.show_keys()

    def on_descendant_blur(self) -> None:
        """Its keys matter only while it has the focus."""
        self.set_class(self.has_focus_within, "-active")

    @property
    def _highlighted_key(self) -> str:
        return self.session_list.highlighted.key if self.session_list.highlighted else ""
