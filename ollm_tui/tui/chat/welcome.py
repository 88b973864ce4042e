"""The welcome of an empty conversation: a few lines above the prompt, gone with the first word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from ollm_tui.tui.chat.trust_question import TrustQuestion
from ollm_tui.tui.chat.words import (
    BETTER_MODEL,
    DEMONSTRATION_MODEL,
    KEPT,
    KEPT_LATER,
    NOT_KEPT,
    SMALL_MODEL,
    WELCOME,
)
from ollm_tui.tui.keymap import Hints

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation

DEMONSTRATION = ("embedded", DEMONSTRATION_MODEL)
"""The provider and the model that answer where nothing else was set up."""
LEAST_HEIGHT = 18
"""Rows of the terminal below which the welcome is left out: the prompt needs the room."""


class Welcome(Static):
    """Shows what can be typed; takes no room once something was said."""

    DEFAULT_CSS = """
    Welcome { display: none; height: auto; margin-bottom: 1; padding: 0 1; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__(id="welcome", markup=False)
        self._taught = ""

    def teach(
        self, conversation: Conversation | None, hints: Hints, *, is_blank: bool = True
    ) -> None:
        """Show what to type while the conversation is empty and nothing else is shown above."""
        asked = sum(bar.rows for bar in self.screen.query(TrustQuestion))
        size = self.screen.size
        has_room = size.height - asked >= LEAST_HEIGHT and size.width >= 50
        self.display = (
            is_blank and has_room and conversation is not None and not len(conversation.state)
        )
        if conversation is None or not self.display:
            return
        choice = conversation.choice
        is_demonstration = (choice.provider.name, choice.model) == DEMONSTRATION
        text = _lines(hints, _welcome(conversation), is_demonstration)
        if text.plain != self._taught:
            self._taught = text.plain
            self.update(text)


def _welcome(conversation: Conversation) -> str:
    """Return what to do, and what becomes of it."""
    if not conversation.is_kept:
        return f"{WELCOME} {NOT_KEPT}"
    return f"{WELCOME} {KEPT if conversation.is_saved_at_once else KEPT_LATER}"


def _lines(hints: Hints, welcome: str, is_demonstration: bool) -> Content:
    names = ("screen.keys", "session.picker", "session.sidebar", "model.choose", "jobs.panel")
    # The last of several: Ctrl+S and Ctrl+B, which come first, are taken by some terminals.
    keys = {name: hints.keys(name)[-1] for name in names}
    rows = [
        ("/", "commands, with what each of them does"),
        ("@", "a file of this folder, as part of the message"),
        ("!", f"a command in a shell, as !ls; {keys['jobs.panel']} shows what ran"),
        (keys["screen.keys"], "all keys"),
        (keys["session.picker"], f"sessions; {keys['session.sidebar']} keeps them beside the chat"),
        (keys["model.choose"], "another model"),
    ]
    if is_demonstration:
        better = [("", "Better ones: start Ollama, or in a shell"), ("", BETTER_MODEL)]
        rows[-1:] = [(keys["model.choose"], SMALL_MODEL), *better]
    width = max(len(key) for key, _ in rows) + 2
    lines = [Content.assemble((key.ljust(width), "$accent"), words) for key, words in rows]
    return Content("\n").join((Content.styled(welcome, "$foreground"), *lines))
