"""A line or more that say which keys matter now: the live ones, as the user has mapped them."""

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
    """Keys for what can be done now, or for a while what has just been done instead."""

    DEFAULT_CSS = """
    LiveKeys { height: auto; color: $text-muted; }
    """

    hints: reactive[tuple[str, ...]] = reactive((), layout=True)
    """Each stays in one piece when lines are broken."""

    told: tuple[str, str] = ("", "")
    """What was said last instead of the keys, and what it was about."""

    def show(self, *wanted: tuple[str, str], about: str | None = None) -> None:
        """Bindings by their id, with a word for each; those that are not live are left out.

        What was said about the same thing stays.
        """
        text, subject = self.told
        if text and about == subject:
            return
        self.told = ("", "")
        keys: dict[str, str] = {}
        for key, active in self.screen.active_bindings.items():
            if active.enabled and active.binding.id:
                keys.setdefault(active.binding.id, key_name(key))
        self.hints = tuple(f"{keys[name]} {word}" for name, word in wanted if name in keys)

    def say(self, text: str, about: str = "") -> None:
        """Say something else in this place, until keys for something else are shown."""
        self.told = (visible(text), about)
        self.hints = (visible(text),)

    def render(self) -> Content:
        """The hints, broken into lines."""
        return Content("\n".join(self._lines(self.size.width)))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the hints take."""
        return max(len(self._lines(width)), 1)

    def _lines(self, width: int) -> list[str]:
        if len(self.hints) == 1:
            return wrap(self.hints[0], max(width, 1))
        lines: list[str] = []
        for hint in self.hints:
            if lines and len(lines[-1]) + len(GAP) + len(hint) <= width:
                lines[-1] += GAP + hint
            else:
                lines.append(hint)
        return lines
