"""The words of the search, of recall and of the activity screen: texts, keys and facets, and
functions that put times and counts into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ollm_tui.core import clock
from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible
from ollm_tui.core.search import HitPlace, Order, Overview, Results, Why
from ollm_tui.core.session.message import Role
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.services.search.query import FILTER_EXAMPLES

# The search screen

TEACHES = (
    "Type words or a question to search all sessions. Exact words rank first, then "
    'other forms of them. "Quotes" match a phrase, -word excludes. '
    f"Filters: {FILTER_EXAMPLES}. Tab goes to the filters, Ctrl+S to saved searches."
)
NOTHING = (
    "No matches. Use fewer words or remove a filter: Backspace on the timeline, Space on a filter."
)
SPEAKERS: dict[Role, str] = {
    "user": "you",
    "assistant": "model",
    "tool": "tool",
    "system": "system",
}
ELSEWHERE = "other branch"
REASONS: dict[Why, str] = {"words": "words", "meaning": "meaning", "both": "words and meaning"}
SENT_WHAT = (
    "Each message is sent there once, and so is every search. If not, only words are searched."
)
ROLE_FACETS = (("user", "you"), ("assistant", "model"), ("tool", "tools"))
FLAG_FACETS = (
    ("has:tool", "with tools"),
    ("is:pinned", "pinned"),
    ("branch:other", "other branches"),
)

# What is done with a hit, and what comes of it

BUSY = "Open in another window · f forks it from there"
EXPORT = "Export this conversation to\nThe extension sets the format: .md, .html or .json"
GONE = "That message no longer exists"

# Pickers

RECALL_TITLE = "Recall from earlier sessions"
FILES_TITLE = "Recall from this project's files"
RECALL_KEYS = "Enter attach   Tab mark   ↑↓ move   Esc close"
NO_SAVED_SEARCHES = "No saved searches yet. Type a search, then Ctrl+S and Enter save it."
SAVED_SEARCH_KEYS = "Enter use or save   Ctrl+D delete   Esc close"

# Answers from the history

ASKED = (
    "{words}\n\nAnswer only from the numbered passages below, and name those you use like [1]. "
    "If they do not answer it, say so."
)
SOURCES_TITLE = "Sources"
SOURCES_KEYS = "Enter open   ↑↓ move   Esc close"
NO_SOURCES = "No sources in this session"

# The activity screen

NO_ACTIVITY = "No messages yet. Every message you send shows here."
CACHES = "Prompt caches"
WINS = "won {} of {}"
"""How often the user voted for a model, and how often it was compared."""
ACTIVITY_KEYS = (
    ("activity.open", "open day"),
    ("activity.day_before activity.day_after", "day"),
    ("activity.week_before activity.week_after", "week"),
    ("activity.back activity.on", "4 weeks"),
    ("activity.today", "today"),
    ("activity.close", "close"),
)
WEEKDAYS = ("Mon", "", "Wed", "", "Fri", "", "Sun")


def keys_for(order: Order, *, is_whole: bool, part: str) -> tuple[tuple[str, str], ...]:
    """Return what can be done, by the ids of bindings; the active ones are shown.

    `part` is what Tab goes to.
    """
    other = "by time" if order == "relevance" else "by relevance"
    return (
        ("hits.open_found", "open"),
        ("hits.open", "open"),
        ("hits.open_here", "open"),
        ("hits.fork", "fork"),
        ("hits.restore", "restore"),
        ("hits.quote", "quote into prompt"),
        ("hits.copy", "copy"),
        ("hits.export", "export"),
        ("hits.ask", "ask the model"),
        ("hits.place", "next place"),
        ("hits.narrow", "only this range"),
        ("hits.widen", "all times"),
        ("hits.toggle", "toggle"),
        ("hits.earlier hits.later", "move"),
        ("hits.facet_left hits.facet_right", "move"),
        ("hits.list", "more actions"),
        ("hits.next", "next match"),
        ("hits.next_part", part),
        ("hits.order", other),
        ("hits.saved", "saved searches"),
        ("hits.whole", "back to the list" if is_whole else "full screen"),
        ("hits.back", "back"),
    )


def send_question(host: str) -> str:
    """Return the question whether a machine may get what was said."""
    return f"Send all messages to {visible(host)} to search by meaning?"


def leave_question(host: str, count: int) -> str:
    """Return the question whether a machine may get passages of earlier sessions."""
    return f"Send {counted(count, 'passage')} from earlier sessions to {visible(host)}?"


def numbered(number: int, title: str, timestamp: str, text: str) -> str:
    """Return a passage as the model and the user see it: with its number, session and time."""
    return f"[{number}] {title}, {timestamp[:10]}\n{text}"


def also_in(places: Sequence[HitPlace]) -> str:
    """Return where else a message is: the titles of other sessions, each once."""
    titles = dict.fromkeys(" ".join(visible(place.title).split()) or UNTITLED for place in places)
    return f"also in {', '.join(titles)}"


def moment_words(timestamp: str, now: datetime) -> str:
    """Return when something was said in at most twelve cells: today the time, else the day too."""
    try:
        moment = clock.parse(timestamp).astimezone()
    except (ValueError, OverflowError):
        return ""
    if moment.date() == now.date():
        return f"today {moment:%H:%M}"
    if moment.year == now.year:
        return f"{moment:%d %b %H:%M}"
    return f"{moment:%d %b %Y}"


def totals(overview: Overview, took: str) -> str:
    """Return how much was found, in how many sessions, and how fast."""
    found = (
        f"{counted(overview.total, 'match', 'matches')} in {counted(overview.sessions, 'session')}"
    )
    return " · ".join(_said((found, took)))


def count_so_far(results: Results, took: str) -> str:
    """Return how many hits there are, with + if that is not all, and how fast they came."""
    more = "+" * results.at_least
    return " · ".join(_said((f"{results.total:,}{more} matches", took)))


def _said(words: Iterable[str]) -> list[str]:
    return [word for word in words if word]


# Said in commands

RECALL_WHAT = "Recall what?"
RECALL_USAGE = "/recall WORDS searches earlier sessions"
NO_MATCHES_ELSEWHERE = "No matches in other sessions"
TRY_OTHER_WORDS = "try other words"
RECALL_FILES_USAGE = "/recall --files WORDS searches this project's files"
NO_MATCHES_IN_FILES = "No matches in this project's files"

# Said in history_answers

ASK_WHAT = "Ask what?"
ASK_USAGE = "/ask QUESTION answers from earlier sessions"

# Said in hit_actions

ATTACHED = "Attached to your next message"
NOTHING_BEFORE_THAT_MESSAGE = "Nothing before that message"
OPEN_INSTEAD = "Enter opens the session there"

# Said in screen

SEARCH_ALL_SESSIONS = "Search all sessions"
SEARCH_SAVED = "Saved · Ctrl+S lists saved searches"

# Said in search_reading

SEARCH_AGAIN = "search again"
