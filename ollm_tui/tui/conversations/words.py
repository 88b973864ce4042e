"""The words about open conversations: notices, the row of tabs, questions before quitting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ollm_tui.core.counts import counted

if TYPE_CHECKING:
    from ollm_tui.tui.conversations.standing import Standing, State

ONLY_ONE = "Only this conversation is open"
HOW_TO_OPEN = "Ctrl+N starts another; both stay open while an answer runs"
NOBODY_WAITS = "No conversation is waiting for you"
NOT_WHILE_IT_RUNS = "Still running"
CLOSED = "Closed · F3 reopens it"
SHORT_TITLES = (16, 10, 6)
"""Characters of a title where several are named in one line, as many as there is room for."""

_NOTICES: dict[State, str] = {
    "done": "finished",
    "failed": "failed",
    "waits": "is waiting for you",
}


def notice(title: str, state: State) -> str:
    """Say what came to an end, or waits, in a conversation that is not shown; else nothing."""
    return f"{title} {_NOTICES[state]}" if state in _NOTICES else ""


def waiting_words(count: int, key: str) -> str:
    """Say how many conversations wait for the user, and the key that leads there."""
    return f"{count} waiting {key}" if count else ""


def what_ends(running: Sequence[Standing], jobs: str) -> list[str]:
    """Name what quitting would end, in many words and in few; nothing if that is nothing."""
    if not running:
        return [jobs] if jobs else []
    whole = [each.title for each in running]
    short = [[_short(title, longest) for title in whole] for longest in SHORT_TITLES]
    few = [counted(len(running), "answer")]
    return [", ".join(filter(None, (*names, jobs))) for names in (whole, *short, few)]


def _short(title: str, longest: int) -> str:
    return title if len(title) <= longest else f"{title[:longest].rstrip()}…"


def quit_words(running: Sequence[Standing], jobs: str) -> list[str]:
    """Say what quitting would stop, in many words and in few; nothing if that is nothing."""
    if not running:
        return [f"{jobs} running. Press again to quit and kill · F8 jobs"] if jobs else []
    ends = what_ends(running, jobs)
    *named, counts = [f"Still running: {what}. Press again to quit" for what in ends]
    return [
        f"{named[0]}; text so far is kept",
        *named,
        f"Running: {ends[-2]}. Press again to quit",
        counts,
    ]


def cache_words(title: str, tokens: int) -> str:
    """Say what it costs to go back and forth on a server with one slot."""
    read = f"{counted(tokens, 'token')} of {title}" if tokens else f"the prompt of {title}"
    return f"Shared engine: each switch rereads {read}"


# Said in commands

WHERE_QUESTIONS_ARE = "questions of this one are shown above the prompt"
