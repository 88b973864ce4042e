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
    "Type words or a question to find what was said in any session. Exact words come first, then "
    'other forms of them. "quotes" find a phrase, -word leaves messages out. '
    f"These narrow a search: {FILTER_EXAMPLES}. Tab goes to them, Ctrl+S to searches you keep."
)
NOTHING = (
    "No message is like that. Fewer letters or fewer words find more; Backspace on the timeline "
    "and Space on a facet take a filter out."
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
    "Every message is sent there once, and each search. Without it, words are searched here."
)
ROLE_FACETS = (("user", "you"), ("assistant", "model"), ("tool", "tools"))
FLAG_FACETS = (
    ("has:tool", "with tools"),
    ("is:pinned", "pinned"),
    ("branch:other", "other branches"),
)

# What is done with a hit, and what comes of it

BUSY = "another window has that session open: f forks it from there instead"
EXPORT = "Export the conversation with this message to\nThe ending says the form: .md, .html, .json"
GONE = "that message is no longer in its session"

# Pickers

RECALL_TITLE = "Recall from earlier sessions"
FILES_TITLE = "Recall from the files of this project"
RECALL_KEYS = "Tab mark several   Enter take   Up Down move   Esc close"
NO_SAVED_SEARCHES = (
    "No saved searches yet. Type words in the search, then Ctrl+S and Enter keep them."
)
SAVED_SEARCH_KEYS = "Enter take it, or keep the new one   Ctrl+D delete   Esc close"

# Answers from the history

ASKED = (
    "{words}\n\nAnswer only from the numbered passages below, and name those you use like [1]. "
    "If they do not answer it, say so."
)
SOURCES_TITLE = "Where the passages are from"
SOURCES_KEYS = "Enter open there   Up Down move   Esc close"
NO_SOURCES = "no passages were sent in this session"

# The activity screen

NO_ACTIVITY = "Nothing was said yet. Every message you send is a mark in this calendar."
CACHES = "Caches of the servers"
ACTIVITY_KEYS = (
    ("activity.open", "what was said that day"),
    ("activity.day_before", "Down day"),
    ("activity.week_before", "Right week"),
    ("activity.back", "PgDn four weeks"),
    ("activity.first", "first day"),
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
        ("hits.open_found", "open there"),
        ("hits.open", "open there"),
        ("hits.open_here", "open there"),
        ("hits.fork", "fork"),
        ("hits.restore", "restore"),
        ("hits.quote", "quote into prompt"),
        ("hits.copy", "copy"),
        ("hits.export", "export"),
        ("hits.ask", "ask the model"),
        ("hits.place", "next place"),
        ("hits.narrow", "narrow to this"),
        ("hits.widen", "all times"),
        ("hits.toggle", "use or not"),
        ("hits.earlier", "Right move"),
        ("hits.facet_left", "Right move"),
        ("hits.list", "list: fork, restore, quote, copy"),
        ("hits.next", "next hit"),
        ("hits.next_part", part),
        ("hits.order", other),
        ("hits.saved", "saved searches"),
        ("hits.whole", "back to the list" if is_whole else "whole screen"),
        ("hits.back", "back"),
    )


def send_question(host: str) -> str:
    """Return the question whether a machine may get what was said."""
    return f"Send everything that was said to {visible(host)} to find by meaning?"


def leave_question(host: str, count: int) -> str:
    """Return the question whether a machine may get passages of earlier sessions."""
    return f"Send {counted(count, 'passage')} of earlier sessions to {visible(host)}?"


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
    found = f"{counted(overview.total, 'hit')} in {counted(overview.sessions, 'session')}"
    return " · ".join(_said((found, took)))


def count_so_far(results: Results, took: str) -> str:
    """Return how many hits there are, with + if that is not all, and how fast they came."""
    more = "+" * results.at_least
    return " · ".join(_said((f"{results.total:,}{more} hits", took)))


def _said(words: Iterable[str]) -> list[str]:
    return [word for word in words if word]
