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
        "breakdown.leave_out": "leave out",
        "breakdown.drop": "drop exchange",
        "breakdown.fold": "fold",
        "breakdown.compact_above": "compact above",
        "breakdown.undo": "undo",
        "choices.choose": "go there",
        "breakdown.order": "order",
        "breakdown.facts": "facts",
        "breakdown.prompt": "prompt",
        "breakdown.export": "export",
        "breakdown.close": "close",
    }
)
NOTHING_SAID = (
    "Nothing was said yet. Your messages and the answers will be listed here with what they "
    "take of the window; each can be pinned, left out or folded."
)
ALWAYS_SENT = "this is always sent: only messages can be pinned, left out or folded"
NO_GOAL = "none: /goal and a few words set one"
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
        "excluded": "left out",
        "folded": "folded",
        "covered": "in a checkpoint",
        "elided": "cut short",
    }
)

# The entries that are in every prompt

NO_ENTRIES = (
    "Nothing is added yet. /context add NAME and some words are in every prompt; "
    "@file in place of the words adds a file, /context add tree the project's files."
)
ENTRY_KEYS = "Enter to /context remove   Esc close"
HOW_TO_ADD = "/context add NAME words, add NAME @file, add tree, add git"

# The window

HOW_TO_RESIZE = "/window 16k changes it, /window auto chooses"
WHY_NOT_RESIZED = "the server does not say how large its window is"
RELOADS = "reloads the model"

# The prompt page

EMPTY_PROMPT = "Nothing would be sent: there is no system prompt, and nothing was said yet."
PROMPT_KEYS = "j k PgUp PgDn g G read   Esc close"


def about_item(item: ContextItem, usage: Usage | None = None) -> str:
    """Return what a line has no room for; of an answer also why it was slow."""
    facts: list[str] = []
    if item.whole.tokens != item.tokens.tokens:
        facts.append(f"{item.tokens} of {item.whole} tokens are sent")
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
    tokens = f"{about}{sent:,} tokens as before" if sent == left else f"{sent:,} → {left:,} tokens"
    return f"{word}{several}: {tokens}, {_filled(before)} → {_filled(after)}"


def _filled(view: ContextView) -> str:
    room = view.budget.room
    return f"{view.count.tokens:,} in all" if room is None else f"{room.percent} %"
