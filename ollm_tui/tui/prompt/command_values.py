"""What the prompt can complete: commands, what may follow them where that is known at once, and
files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from ollm_tui.tui.commands import COMMANDS
from ollm_tui.tui.prompt.completion import Completion
from ollm_tui.tui.terminal.abilities import AUTOMATIC
from ollm_tui.tui.themes import theme_names

if TYPE_CHECKING:
    from ollm_tui.tui.chat.screen import ChatScreen
    from ollm_tui.tui.prompt.completion_files import FileSource

FREE = frozenset({"context", "decide", "goal", "model"})
"""Commands after which other words may stand as well."""


def completions(chat: ChatScreen) -> list[Completion]:
    """Every command with a slash name; nobody is asked for values before they are wanted."""
    values: Mapping[str, Callable[[], Sequence[str]]] = {
        "context": lambda: ("show", "export", "list", "refresh", "clear", *_entries(chat)),
        "trust": lambda: ("once", "always", "never", "view", "later"),
        "decide": lambda: _decisions(chat),
        "goal": lambda: _goal_words(chat),
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


def file_source(chat: ChatScreen) -> Callable[[], FileSource]:
    """Where files are looked for once one is named; loaded then, the first picture needs none."""
    return lambda: import_module("ollm_tui.tui.prompt.mentions").Mentions(chat)


def _entries(chat: ChatScreen) -> list[str]:
    """What can be added without more words, and what can be removed."""
    conversation = chat.app.conversation
    keys = [entry.key for entry in conversation.notes.all] if conversation else []
    return ["add tree", "add git", *(f"remove {key}" for key in keys)]


def _goal_words(chat: ChatScreen) -> list[str]:
    """What can be done with goals; words follow where there is a blank."""
    conversation = chat.app.conversation
    goal = conversation.goals.active if conversation else None
    begun = ["step ", "blocker ", "milestone ", "milestone --ahead ", "artifact "] if goal else []
    ticks = [f"tick {number + 1}" for number in range(len(goal.subtasks) if goal else 0)]
    ways = [f"unblock {number + 1}" for number in range(len(goal.blockers) if goal else 0)]
    return [*(("done", "pause") if goal else ()), "list", *begun, *ticks, *ways, "set "]


def _decisions(chat: ChatScreen) -> list[str]:
    """Decisions that are not locked, and those that can be taken back."""
    conversation = chat.app.conversation
    count = len(conversation.goals.decisions) if conversation else 0
    return ["--open ", *(["undo"] if count else []), *(f"undo {n + 1}" for n in range(count))]


def _modes(chat: ChatScreen) -> list[str]:
    conversation = chat.app.conversation
    return [mode.name for mode in conversation.modes] if conversation else []


def _models(chat: ChatScreen) -> list[str]:
    """The one that answers now, then those that were offered before."""
    conversation = chat.app.conversation
    now = [conversation.choice.model] if conversation else []
    return list(dict.fromkeys((*now, *chat.app.workspace.models.known_models)))
