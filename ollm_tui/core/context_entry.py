"""Notes the user adds to the context: they stand in the system part of every prompt."""

from __future__ import annotations

from typing import Literal

from ollm_tui.core.message import Value

USUAL_PRIORITY = 50


class ContextEntry(Value, frozen=True):
    """One note; its key names it."""

    key: str
    content: str
    added_at: str
    priority: int = USUAL_PRIORITY
    """The higher, the earlier in the prompt."""
    source: Literal["user"] = "user"
    """Who wrote it. Only the user's words belong into the system part."""


Entries = tuple[ContextEntry, ...]


def with_entry(entries: Entries, entry: ContextEntry) -> Entries:
    """One more note; another one of the same key is replaced."""
    return (*without_entry(entries, entry.key), entry)


def without_entry(entries: Entries, key: str) -> Entries:
    """All notes but one."""
    return tuple(entry for entry in entries if entry.key != key)


def by_priority(entries: Entries) -> Entries:
    """As they stand in the prompt: the most important first, ties by age."""
    return tuple(sorted(entries, key=lambda entry: -entry.priority))
