"""The words of the context screen, of the prompt page and of `/context`: texts and keys, and
functions that put a line of the context and a change to it into words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ollm_tui.core.session.message import Usage
from ollm_tui.engine.context.context_view import ContextItem, ContextView
from ollm_tui.services.tokens.prompt_count import Group
from ollm_tui.tui.stream.entries.message_entries import cached_words, why_slow

# The context screen

BREAKDOWN_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "breakdown.pin": "pin",
        "breakdown.leave_out": "exclude",
        "breakdown.drop": "exclude exchange",
        "breakdown.fold": "fold",
        "breakdown.compact_above": "compress above",
        "breakdown.undo": "undo",
        "choices.choose": "go to message",
        "breakdown.order": "sort",
        "breakdown.facts": "facts",
        "breakdown.prompt": "prompt",
        "breakdown.export": "export",
        "breakdown.close": "close",
    }
)
NOTHING_SAID = (
    "No messages yet. Each message will be listed here with its "
    "share of the window; you can pin, exclude or fold it."
)
ALWAYS_SENT = "Always sent. Only messages can be pinned, excluded or folded"
INSPECTED_CONTEXT, INSPECTED_GOAL, INSPECTED_JOBS = "Context", "Goal", "Jobs"
UNSET_GOAL = "No goal · /goal TEXT sets one"
NO_JOBS = "No jobs · ! runs a command"
RUNNING = "running"
NARROW_INSPECTOR = "The inspector needs {} columns · {} shows the context"
NO_GOAL = "none · /goal TEXT sets one"
WHOSE: Mapping[Group, str] = MappingProxyType(
    {
        "system": "always sent",
        "checkpoints": "checkpoint",
        "user": "yours",
        "assistant": "model",
        "tools": "tool",
    }
)
MARK_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "pinned": "pinned",
        "excluded": "excluded",
        "folded": "folded",
        "covered": "in a checkpoint",
        "elided": "shortened",
    }
)

# The entries that are in every prompt

NO_ENTRIES = (
    "Nothing added yet. /context add NAME TEXT adds a note to every prompt, "
    "/context add NAME @FILE a file, /context add tree the project's file list."
)
ENTRY_KEYS = "Enter remove …   Esc close"
HOW_TO_ADD = "/context add NAME TEXT, add NAME @FILE, add tree, add git"

# The window

WHY_NOT_RESIZED = "Window size unknown: the server does not report it"
RELOADS = "reloads the model"

# The prompt page

EMPTY_PROMPT = "Nothing to send: no system prompt and no messages yet."
PROMPT_KEYS = "↑↓ PgUp PgDn scroll   Esc close"


def about_item(item: ContextItem, usage: Usage | None = None) -> str:
    """Return what a line has no room for; of an answer also why it was slow."""
    facts: list[str] = []
    if item.whole.tokens != item.tokens.tokens:
        facts.append(f"{item.tokens} of {item.whole} tokens sent")
    if item.attachments:
        costs = ", ".join(f"{each.name} {each.tokens}" for each in item.attachments)
        facts.append(f"attached: {costs}")
    if usage:
        facts += filter(None, (cached_words(usage), why_slow(usage)))
    return "   ".join(facts)


def effect(word: str, before: ContextView, after: ContextView) -> str:
    """Return what a change makes of the context, in one line."""
    old = {item.key: item for item in before.items}
    changed = [
        (old[item.key], item)
        for item in after.items
        if item.key in old and item.mark != old[item.key].mark
    ]
    sent, left = (sum(pair[n].tokens.tokens for pair in changed) for n in (0, 1))
    about = "≈" if "estimated" in (before.count.source, after.count.source) else ""
    several = f" ({len(changed)} messages)" if len(changed) > 1 else ""
    tokens = f"{about}{sent:,} tokens unchanged" if sent == left else f"{sent:,} → {left:,} tokens"
    return f"{word}{several}: {tokens}, {_filled(before)} → {_filled(after)}"


def _filled(view: ContextView) -> str:
    room = view.budget.room
    return f"{view.count.tokens:,} in all" if room is None else f"{room.percent} %"


# Said in commands

NO_QUESTION_PENDING = "No question pending"
WHAT_ASKS = "new project instructions, settings and hooks ask here"
NO_MESSAGE_YET = "No message yet"
SEND_ONE_FIRST = "send one first"
UNDER_REVIEW = "Under review"

# Said in context_entries

NOTHING_TO_RELOAD = "Nothing to reload"
IN_EVERY_PROMPT = "In every prompt"
ATTACH_IT_INSTEAD = "attach it to a message with @"
NOTHING_IN_PROJECT = "Nothing to add from this project"
NOTHING_TO_ADD = "Nothing to add"

# Said in prompt_screen

NEXT_PROMPT = "Next prompt"

# Said in screen

SORTED_BY_POSITION = "Sorted by position"
SORTED_BY_SIZE = "Sorted by size"
NOT_IN_CHAT = "Not a message in the chat"
NOTHING_TO_CHANGE_HERE = "Nothing to change here"
WAIT_UNTIL_IT_IS_DONE = "wait until it is done"
SELECT_TO_COMPRESS = "Select a message to compress everything above it"
NOTHING_ABOVE_THIS_MESSAGE = "Nothing above this message"

# Said in window

THE_MODEL_HAS_CHANGED = "The model has changed"
WINDOW_AGAIN = "/window again"
WINDOW_UNCHANGED = "Window unchanged"
