"""Words that can be clicked: they run a command of the chat, or press a key."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style


def clickable(words: str, command_id: str, argument: str = "", style: str = "") -> Content:
    """Return words that run a command of the chat screen when they are clicked.

    A widget that shows them sets `auto_links = False`: else Textual draws them as links.
    """
    action = f"screen.command({command_id!r}, {argument!r})"
    return Content.styled(words, style).stylize(_clicked(action))


def pressing(key: str) -> Style:
    """Return a style for words that press a key when they are clicked."""
    return _clicked(f"app.simulate_key({key!r})")


def _clicked(action: str) -> Style:
    return Style.from_meta({"@click": action})
