"""Context entries: what stands in every prompt besides the conversation.

They are the user's notes, and data from files, hooks and the project. Only the user's own words
are presented to the model as such.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Literal

from ollm_tui.core import clock
from ollm_tui.core.session.message import Value

USUAL_PRIORITY = 50
LEAST_PRIORITY, HIGHEST_PRIORITY = 0, 100
LONGEST_KEY = 50
"""Characters."""

EntrySource = Literal["hook", "extension", "user", "system"]
"""Who added it; `system` is this program."""

TASK = "task"
"""The key of the entry about the task of a session."""
_PLAIN_KEY = re.compile(r"[\w .:/@+-]+")
"""The key of foreign data stands outside the fence around it, so it must be no sentence."""


class ContextEntry(Value, frozen=True):
    """One entry of the context; its key is unique in a session."""

    key: str
    content: str
    added_at: str
    priority: int = USUAL_PRIORITY
    """Entries with a higher priority come earlier in the prompt."""
    source: EntrySource = "user"
    origin: str = ""
    """Where the content comes from, such as `file:docs/api.md`, `tree` or `instructions`;
    empty for text that was typed."""
    expires_at: str | None = None
    """The time from which it is no longer sent."""

    @property
    def is_users_own(self) -> bool:
        """Whether these are the user's own words. Everything else is data."""
        return self.source == "user" and not self.origin

    @property
    def problem(self) -> str:
        """Why it cannot be used, in words; empty if it can."""
        key = " ".join(self.key.split())
        if not key or len(key) > LONGEST_KEY:
            return f"its name must have 1 to {LONGEST_KEY} characters"
        if not (self.is_users_own or _PLAIN_KEY.fullmatch(self.key)):
            return "its name has invalid characters"
        if not self.content.strip():
            return "it is empty"
        if not LEAST_PRIORITY <= self.priority <= HIGHEST_PRIORITY:
            return f"its priority must be between {LEAST_PRIORITY} and {HIGHEST_PRIORITY}"
        return ""

    def is_over(self, moment: str) -> bool:
        """Whether it has expired. A time that cannot be read counts as never."""
        try:
            return self.expires_at is not None and clock.parse(self.expires_at) <= clock.parse(
                moment
            )
        except ValueError:
            return False


Entries = tuple[ContextEntry, ...]


def with_entry(entries: Entries, entry: ContextEntry) -> Entries:
    """Add an entry; another one with the same key is replaced."""
    return (*without_entry(entries, entry.key), entry)


def without_entry(entries: Entries, key: str) -> Entries:
    """Return all entries but the one with this key."""
    return tuple(entry for entry in entries if entry.key != key)


def without_expired(entries: Entries, moment: str) -> Entries:
    """Return the entries that have not expired."""
    return tuple(entry for entry in entries if not entry.is_over(moment))


def by_priority(entries: Entries) -> Entries:
    """Sort entries as in the prompt: the most important first, ties by age."""
    # New entries are appended and sorting is stable, so equal priorities stay in order of age.
    return tuple(sorted(entries, key=lambda entry: -entry.priority))


def expiry(moment: str, seconds: float | None) -> str | None:
    """Return when an entry added at a moment expires; None if it never does."""
    if seconds is None:
        return None
    return clock.iso(clock.parse(moment) + timedelta(seconds=seconds))


def pinned_task(entries: Entries) -> str:
    """The id of the task that is pinned; empty if none is."""
    origins = (entry.origin for entry in entries if entry.key == TASK)
    return next((each.partition(":")[2] for each in origins if each.startswith(f"{TASK}:")), "")
