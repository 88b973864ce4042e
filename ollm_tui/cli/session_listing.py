"""Listing sessions: which ones, and what is shown of each."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_tui.cli.output import print_json, print_table, short_time, today
from ollm_tui.cli.store import open_catalogue, open_library
from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import clean
from ollm_tui.core.session.session import SessionSummary

if TYPE_CHECKING:
    from ollm_tui.core.costs import Bill

SHORT_ID = 8
"""How many characters of an id are shown, unless more are needed to tell ids apart."""


def list_sessions(arguments: Namespace) -> int:
    """Print the sessions the options ask for, the latest first."""
    summaries = open_catalogue().summaries(_show_progress if sys.stderr.isatty() else None)
    listed = [summary for summary in summaries if _is_listed(summary, arguments)]
    listed = listed[: getattr(arguments, "limit", None)]
    bills = _bills_of(listed) if getattr(arguments, "cost", False) else None
    if arguments.json:
        print_json([_tree(summary, bills) for summary in listed])
    elif listed:
        print_summaries(listed, bills)
    else:
        print(_nothing(summaries))
    return 0


def _bills_of(summaries: Sequence[SessionSummary]) -> dict[str, Bill]:
    """Return what each session has cost; each is read for it."""
    from ollm_tui.core.costs import bill_of

    library = open_library()
    bills: dict[str, Bill] = {}
    for summary in summaries:
        if not summary.damage:
            state = library.load(summary.session_id).state
            bills[summary.session_id] = bill_of(each.usage for each in state.messages())
    return bills


def print_summaries(
    summaries: Sequence[SessionSummary], bills: Mapping[str, Bill] | None = None
) -> None:
    """Print one line per session, with what it has cost if that is given."""
    length = distinct_length([summary.session_id for summary in summaries])
    day = today()
    models = {model: clean(model) for model in {summary.model for summary in summaries}}
    rows = [
        (
            summary.session_id[:length],
            short_time(summary.last_activity, day),
            f"{summary.message_count} msg",
            f"{short_count(summary.token_count)} tok" if summary.token_count else "",
            *(() if bills is None else (str(bills.get(summary.session_id, "")),)),
            models[summary.model],
            shown_title(summary),
        )
        for summary in summaries
    ]
    print_table(rows, right=frozenset({2, 3} if bills is None else {2, 3, 4}))


def shown_title(summary: SessionSummary) -> str:
    """Return a session's title with its star, tags and archive mark, safe to print."""
    tags = "".join(f"  #{tag}" for tag in summary.tags)
    archived = "  (archived)" if summary.archived else ""
    star = "★ " if summary.pinned else ""
    return star + clean((summary.damage or summary.title) + tags + archived)


def distinct_length(names: Sequence[str]) -> int:
    """Return how many characters of each id must be shown so that it can be typed back."""
    longest = max(map(len, names), default=SHORT_ID)
    for length in range(SHORT_ID, longest):
        if len({name[:length] for name in names}) == len(names):
            return length
    return longest


def _is_listed(summary: SessionSummary, arguments: Namespace) -> bool:
    options = vars(arguments)  # `ollm chat --list` has fewer
    if summary.archived and not (options.get("all") or options.get("archived")):
        return False
    if options.get("archived") and not summary.archived:
        return False
    tag, project = options.get("tag"), options.get("project")
    if tag and tag.lstrip("#").lower() not in map(str.lower, summary.tags):
        return False
    return not project or _is_in(summary.project or "", project)


def _is_in(folder: str, project: str) -> bool:
    """Return whether a folder is the project, by path or name, or lies in it."""
    path = os.path.realpath(project)
    return folder == path or folder.startswith(f"{path}/") or Path(folder).name == project


def _nothing(summaries: Sequence[SessionSummary]) -> str:
    if not summaries:
        return 'No sessions yet. Start one with: ollm -p "Hello"'
    there = counted(len(summaries), "session")
    return f"No matches among {there}. List all: ollm sessions list --all"


def _tree(summary: SessionSummary, bills: Mapping[str, Bill] | None) -> object:
    from msgspec import to_builtins

    bill = bills.get(summary.session_id) if bills else None
    cost = {} if bill is None else {"cost": bill._asdict()}
    return to_builtins(summary) | cost


def _show_progress(number: int, total: int) -> None:
    if total > 200 and (number % 100 == 0 or number == total):
        sys.stderr.write(f"\r\x1b[Kreading sessions {number:,} of {total:,}")
        if number == total:
            sys.stderr.write("\r\x1b[K")
