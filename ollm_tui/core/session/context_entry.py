"""What stands in every prompt besides the conversation: the user's notes, and data from
files, hooks and the project. Only the user's own words are told to the model as such."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Literal

from ollm_tui.core import clock
from ollm_tui.core.session.message import Value

USUAL_PRIORITY = 50
LEAST_PRIORITY, HIGHEST_PRIORITY = 0, 100
LONGEST_KEY = 50

EntrySource = Literal["hook", "extension", "user", "system"]
"""Who added it; `system` is this program."""

_PLAIN_KEY = re.compile(r"[\w .:/@+-]+")
"""Keys of data stand outside of its fence: they are names and no sentences."""


class ContextEntry(Value, frozen=True):
    """One entry; its key names it."""

    key: str
    content: str
    added_at: str
    priority: int = USUAL_PRIORITY
    """The higher, the earlier in the prompt."""
    source: EntrySource = "user"
    origin: str = ""
    """What the content was taken from, such as `file:docs/api.md`, `tree` or `instructions`;
    empty for words that were typed."""
    expires_at: str | None = None
    """From then on it is not sent any more."""

    @property
    def is_users_own(self) -> bool:
        """Whether these are the user's own words. Everything else is data."""
        return self.source == "user" and not self.origin

    @property
    def problem(self) -> str:
        """Why it cannot be used, in words; empty for a good one."""
        key = " ".join(self.key.split())
        if not key or len(key) > LONGEST_KEY:
            return f"its name must have 1 to {LONGEST_KEY} characters"
        if not (self.is_users_own or _PLAIN_KEY.fullmatch(self.key)):
            return "its name has characters that do not belong into a name"
        if not self.content.strip():
            return "it has no content"
        if not LEAST_PRIORITY <= self.priority <= HIGHEST_PRIORITY:
            return f"its priority is not between {LEAST_PRIORITY} and {HIGHEST_PRIORITY}"
        return ""

    def is_over(self, moment: str) -> bool:
        """Whether its time has run out. A time that cannot be read never comes."""
        try:
            return self.expires_at is not None and clock.parse(self.expires_at) <= clock.parse(
                moment
            )
        except ValueError:
            return False


Entries = tuple[ContextEntry, ...]


def with_entry(entries: Entries, entry: ContextEntry) -> Entries:
    """One more entry; another one of the same key is replaced."""
    return (*without_entry(entries, entry.key), entry)


def without_entry(entries: Entries, key: str) -> Entries:
    """All entries but one."""
    return tuple(entry for entry in entries if entry.key != key)


def without_expired(entries: Entries, moment: str) -> Entries:
    """The entries whose time has not run out."""
    return tuple(entry for entry in entries if not entry.is_over(moment))


def by_priority(entries: Entries) -> Entries:
    """As they stand in the prompt: the most important first, ties by age."""
    return tuple(sorted(entries, key=lambda entry: -entry.priority))


def expiry(moment: str, seconds: float | None) -> str | None:
    """When something added at a moment ends that lives for so long."""
    if seconds is None:
        return None
    return clock.iso(clock.parse(moment) + timedelta(seconds=seconds))
