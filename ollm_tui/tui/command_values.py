"""What the prompt can complete: commands, and what may follow them where that is known at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ollm_tui.tui.command_table import COMMANDS
from ollm_tui.tui.terminal import AUTOMATIC
from ollm_tui.tui.themes import theme_names
from ollm_tui.tui.widgets.completion import Completion

if TYPE_CHECKING:
    from ollm_tui.tui.screens.chat import ChatScreen

FREE = frozenset({"goal", "model"})
"""Commands after which other words may stand as well."""


def completions(chat: ChatScreen) -> list[Completion]:
    """Every command with a slash name; nobody is asked for values before they are wanted."""
    values: Mapping[str, Callable[[], Sequence[str]]] = {
        "context": lambda: ("show", "export"),
        "goal": lambda: ("done", "pause"),
        "mode": lambda: _modes(chat),
        "model": lambda: _models(chat),
        "provider": lambda: chat.app.workspace.models.names,
        "theme": lambda: (AUTOMATIC, *theme_names()),
    }
    return [
        Completion(
            command.slash,
            command.argument,
            command.title,
            values.get(command.slash),
            is_free=command.slash in FREE,
        )
        for command in COMMANDS
        if command.slash
    ]


def _modes(chat: ChatScreen) -> list[str]:
    conversation = chat.app.conversation
    return [mode.name for mode in conversation.modes] if conversation else []


def _models(chat: ChatScreen) -> list[str]:
    """The one that answers now, then those that were offered before."""
    conversation = chat.app.conversation
    now = [conversation.choice.model] if conversation else []
    return list(dict.fromkeys((*now, *chat.app.workspace.models.known_models)))
