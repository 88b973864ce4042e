"""What the prompt can complete: commands, their arguments where these are known at once, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ollm_tui.tui.commands import COMMANDS
from ollm_tui.tui.prompt.completion import Completion
from ollm_tui.tui.terminal.abilities import AUTOMATIC
from ollm_tui.tui.themes import theme_names

if TYPE_CHECKING:
    from ollm_tui.tui.chat.port import ChatPort
    from ollm_tui.tui.prompt.completion_files import FileSource

Front = Callable[[], "ChatPort"]
"""Returns the chat that is shown now: the prompt outlives a conversation."""
FREE = frozenset({"compare", "context", "decide", "goal", "model", "task"})
"""Commands that take other words as well as the values offered."""

LISTS = frozenset({"compare"})
"""Commands that take several values."""

COMMON = (
    *("model", "new", "sessions", "search", "compact", "undo", "context", "snapshot", "restore"),
    *("goal", "tools", "jobs", "export", "help", "theme", "config", "quit"),
)
"""Commands that come first where nothing better tells them apart."""


def completions(front: Front) -> list[Completion]:
    """Return every command with a slash name; its values are asked for when they are needed."""
    values: Mapping[str, Callable[[], Sequence[str]]] = {
        "context": lambda: (
            "show",
            "export",
            "list",
            "project",
            "refresh",
            "clear",
            *_entries(front),
        ),
        "compare": lambda: (*_models(front), "next", "off"),
        "trust": lambda: ("once", "always", "never", "view", "later"),
        "decide": lambda: _decisions(front),
        "goal": lambda: _goal_words(front),
        "mode": lambda: _modes(front),
        "model": lambda: _models(front),
        "provider": lambda: front().app.workspace.models.names,
        "task": lambda: ("list", "off"),
        "theme": lambda: (AUTOMATIC, *theme_names(), *front().app.further_themes),
    }
    names = {command.slash: command for command in COMMANDS if command.slash}
    order = dict.fromkeys((*COMMON, *names))
    return [
        Completion(
            name,
            names[name].argument,
            names[name].title,
            values.get(name),
            is_free=name in FREE,
            is_list=name in LISTS,
        )
        for name in order
    ]


def further_completions(front: Front) -> list[Completion]:
    """Return your own commands and those of extensions and MCP servers; none before a session is
    open."""
    if front().opened is None:
        return []
    workspace = front().app.workspace
    if not (workspace.additions.has_commands or workspace.project.commands.all):
        return []
    from ollm_tui.tui.extensions.commands import further_commands

    return [Completion(*each) for each in further_commands(front())]


def file_source(front: Front) -> Callable[[], FileSource]:
    """Return what makes the source of files. It is loaded when the first file is named: the first
    paint needs none."""

    def source() -> FileSource:
        from ollm_tui.tui.prompt.mentions import Mentions

        return Mentions(front())

    return source


def _entries(front: Front) -> list[str]:
    """Return what can be added to the context without more words, and what can be removed."""
    conversation = front().opened
    keys = [entry.key for entry in conversation.notes.all] if conversation else []
    return [
        *(f"add {name}" for name in ("tree", "git", "tasks", "errors")),
        *(f"remove {key}" for key in keys),
    ]


def _goal_words(front: Front) -> list[str]:
    """Return what can be done with goals; words follow where one ends with a blank."""
    conversation = front().opened
    goal = conversation.goals.active if conversation else None
    begun = ["step ", "blocker ", "milestone ", "milestone --ahead ", "artifact "] if goal else []
    ticks = [f"tick {number + 1}" for number in range(len(goal.subtasks) if goal else 0)]
    ways = [f"unblock {number + 1}" for number in range(len(goal.blockers) if goal else 0)]
    return [*(("done", "pause") if goal else ()), "list", *begun, *ticks, *ways, "set "]


def _decisions(front: Front) -> list[str]:
    """Return the ways to decide something open, and to take back what is decided."""
    conversation = front().opened
    count = len(conversation.goals.decisions) if conversation else 0
    return ["--open ", *(["undo"] if count else []), *(f"undo {n + 1}" for n in range(count))]


def _modes(front: Front) -> list[str]:
    conversation = front().opened
    return [mode.name for mode in conversation.modes] if conversation else []


def _models(front: Front) -> list[str]:
    """Return the model that answers now, then those known without asking a provider."""
    conversation = front().opened
    now = [conversation.choice.model] if conversation else []
    return list(dict.fromkeys((*now, *front().app.workspace.models.known_models)))
