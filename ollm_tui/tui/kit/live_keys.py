"""Hints for the keys that can be used now, as the user has mapped them."""

from __future__ import annotations

from textwrap import wrap

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from ollm_tui.core.intake import visible
from ollm_tui.tui.keymap import key_name

GAP = "  "


class LiveKeys(Widget):
    """Shows keys for what can be done now, or for a while what has just been done."""

    DEFAULT_CSS = """
    LiveKeys { height: auto; color: $text-muted; }
    """

    hints: reactive[tuple[str, ...]] = reactive((), layout=True)
    """The hints; each stays in one piece when lines are wrapped."""

    told: tuple[str, str] = ("", "")
    """The text shown instead of the keys, and what it is about; both empty if there is none."""

    def show(self, *bindings: tuple[str, str], about: str | None = None) -> None:
        """Show bindings by their id, with a word for each; those that are not active are left out.

        A text about the same subject stays.
        """
        text, subject = self.told
        if text and about == subject:
            return
        self.told = ("", "")
        keys: dict[str, str] = {}
        for key, active in self.screen.active_bindings.items():
            if active.enabled and active.binding.id:
                keys.setdefault(active.binding.id, key_name(key))
        self.hints = tuple(f"{keys[name]} {word}" for name, word in bindings if name in keys)

    def say(self, text: str, about: str = "") -> None:
        """Show a text instead, until keys for another subject are shown."""
        self.told = (visible(text), about)
        self.hints = (visible(text),)

    def render(self) -> Content:
        """Draw the hints, wrapped into lines."""
        return Content("\n".join(self._lines(self.size.width)))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many lines the hints take."""
        return max(len(self._lines(width)), 1)

    def _lines(self, width: int) -> list[str]:
        # A single hint may be a sentence: it is wrapped between its words.
        if len(self.hints) == 1:
            return wrap(self.hints[0], max(width, 1))
        lines: list[str] = []
        for hint in self.hints:
            if lines and len(lines[-1]) + len(GAP) + len(hint) <= width:
                lines[-1] += GAP + hint
            else:
                lines.append(hint)
        return lines
