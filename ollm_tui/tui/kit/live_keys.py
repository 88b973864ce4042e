"""Hints for the keys that can be used now, as the user has mapped them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from ollm_tui.core.intake import visible
from ollm_tui.tui.keymap import key_name
from ollm_tui.tui.kit.clickable import pressing

GAP = "  "
ARROWS = frozenset(("up", "down", "left", "right"))


class LiveKeys(Widget):
    """Shows keys for what can be done now, or for a while what has just been done."""

    DEFAULT_CSS = """
    LiveKeys { height: auto; color: $text-muted; }
    """

    hints: reactive[tuple[str, ...]] = reactive((), layout=True)
    """The hints; each stays in one piece when lines are wrapped."""

    told: tuple[str, str] = ("", "")
    """The text shown instead of the keys, and what it is about; both empty if there is none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.auto_links = False
        self._pressed: Mapping[str, str] = {}
        """The key of each hint."""

    def show(self, *bindings: tuple[str, str], about: str | None = None) -> None:
        """Show bindings by their id, with a word for each; those that are not active are left out.

        Two ids with a blank between them share a word: "↑↓ move". A text about the same subject
        stays.
        """
        text, subject = self.told
        if text and about == subject:
            return
        self.told = ("", "")
        keys: dict[str, list[str]] = {}
        for key, bound in self.screen.active_bindings.items():
            if bound.enabled and bound.binding.id:
                keys.setdefault(bound.binding.id, []).append(key)
        self._pressed = {}
        for names, word in bindings:
            active = [keys[name] for name in names.split() if name in keys]
            if active:
                shown = _pair(active) if len(active) > 1 else active[0][:1]
                gap = "" if ARROWS.issuperset(shown) else " "
                self._pressed[f"{gap.join(map(key_name, shown))} {word}"] = shown[-1]
        self.hints = tuple(self._pressed)

    def say(self, text: str, about: str = "") -> None:
        """Show a text instead, until keys for another subject are shown."""
        self.told = (visible(text), about)
        self.hints = (visible(text),)

    def render(self) -> Content:
        """Draw the hints, wrapped into lines."""
        lines = [line.split(GAP) for line in self._lines(self.size.width)]
        return Content("\n").join(Content(GAP).join(map(self._hint, line)) for line in lines)

    def _hint(self, hint: str) -> Content:
        """Return a hint that presses its key when it is clicked."""
        key = "" if self.told[0] else self._pressed.get(hint, "")
        return Content(hint).stylize(pressing(key)) if key else Content(hint)

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


def _pair(keys: Sequence[Sequence[str]]) -> list[str]:
    """Return a key of each binding: the arrows where every one has an arrow."""
    arrows = [next((key for key in several if key in ARROWS), "") for several in keys]
    return arrows if all(arrows) else [several[0] for several in keys]
