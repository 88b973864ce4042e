"""`ollm sessions search`: finds messages in all sessions and shows the lines around a match."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ollm_tui.cli.output import print_json, short_time
from ollm_tui.cli.session_listing import distinct_length
from ollm_tui.cli.store import load, open_library
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.search import Hit, Query, Results, SessionHits, Snippet
from ollm_tui.services.search.passages import asked_text, means_something
from ollm_tui.services.search.query import EXAMPLES, FILTER_EXAMPLES, narrowed, parse_query
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.settings.loaded import Loaded

EXIT_NOTHING = 1
EMBED_SECONDS = 10.0
"""How long a search waits for the model that compares meanings; its words are found anyway."""
_BOLD, _PLAIN = "\x1b[1m", "\x1b[22m"
_SPEAKERS = {"user": "you", "assistant": "model", "tool": "tool", "system": "system"}


def run(arguments: Namespace) -> int:
    """Search and print the matches; returns 1 if nothing is found."""
    query = _query(arguments)
    loaded = load()
    library = open_library(loaded)
    history = HistorySearch(library.store)
    limit = arguments.limit or loaded.settings.search.max_results
    try:
        history.refresh(_show_progress if sys.stderr.isatty() else None)
        # Earlier results are for a screen that shows them as they come; the last one is complete.
        *_, results = history.search(query, limit=limit)
        # Only where words do not find it: a model takes a second to be loaded.
        if all(hit.covered < 1 for hit in results.ranked):
            vector = _vector(loaded, query, history.vectors_model())
            if vector:
                *_, results = history.search(query, limit=limit, vector=vector)
    finally:
        history.close()
        library.close()
    for note in query.notes:
        sys.stderr.write(f"ollm: {visible(note)}\n")
    if arguments.json:
        print_json(_tree(results))
    elif results.total:
        _print(results)
    else:
        print(f"No matches. Use fewer words or remove a filter: {FILTER_EXAMPLES}")
    return 0 if results.total else EXIT_NOTHING


def _vector(loaded: Loaded, query: Query, model: str) -> Sequence[float]:
    """Return what a query means, if this model has compared the messages and is on this machine;
    else nothing."""
    text = asked_text(query)
    if not (model and means_something(text)):
        return ()
    return asyncio.run(_embedded(loaded, text, model))


async def _embedded(loaded: Loaded, text: str, model: str) -> Sequence[float]:
    # Imported late: most searches need no provider.
    from ollm_tui.bootstrap import open_providers
    from ollm_tui.engine.project.search_model import SearchModels

    providers = open_providers(loaded, os.environ)
    try:
        models = SearchModels(providers, loaded.settings.search.embedding_model)
        found = await models.find(asks_servers=True)
        if found is None or found.remote_host or found.name != model:
            return ()
        async with asyncio.timeout(EMBED_SECONDS):
            [vector] = await found.embed([text])
            return vector
    except (OllmError, TimeoutError, ValueError):
        return ()
    finally:
        await providers.close()


def _query(arguments: Namespace) -> Query:
    """Make a query of the words and options. UsageError if one cannot be understood."""
    query = parse_query(" ".join(arguments.words))
    project = arguments.project
    if project and Path(project).is_dir():
        project = os.path.realpath(project)
    options = {
        "role": arguments.role,
        "model": arguments.model,
        "project": project,
        "before": arguments.before,
        "after": arguments.after,
    }
    for key, value in options.items():
        if value is not None:
            narrower = narrowed(query, key, value)
            if narrower is None:
                raise UsageError(f"cannot parse --{key} {value!r}", f"for example {EXAMPLES}")
            query = narrower
    if query.asks_nothing:
        raise UsageError("nothing to search for", "give a word or a filter")
    return query


def _print(results: Results) -> None:
    length = distinct_length([session.session_id for session in results.sessions])
    bold = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    for session in results.sessions:
        title = visible(session.title) or "(no title)"
        count = counted(len(session.hits), "match", "matches")
        print(f"{session.session_id[:length]}  {title}  ({count})")
        for hit in session.hits:
            _print_hit(hit, bold)
        print()
    shown, total = len(results.hits), f"{results.total:,}{'+' * results.at_least}"
    sessions = counted(len(results.sessions), "session")
    print(f"{shown:,} of {total} messages, in {sessions}. Read one: ollm sessions view ID")


def _print_hit(hit: Hit, bold: bool) -> None:
    notes = [
        *(["by meaning"] if hit.why == "meaning" else []),
        *([] if hit.on_branch else ["on another branch"]),
    ]
    note = f"  ({', '.join(notes)})" if notes else ""
    print(f"  {short_time(hit.timestamp)}  {_SPEAKERS[hit.role]}{note}")
    for line in _marked(hit.snippet, bold).splitlines():
        if line.strip():
            print(f"    {line}")


def _marked(snippet: Snippet, bold: bool) -> str:
    """Return the text with the matches in bold. Snippets are already safe for a terminal."""
    if not bold:
        return snippet.text
    text, at = "", 0
    for start, end in snippet.marks:
        text += f"{snippet.text[at:start]}{_BOLD}{snippet.text[start:end]}{_PLAIN}"
        at = end
    return text + snippet.text[at:]


def _tree(results: Results) -> dict[str, Any]:
    return {
        "total": results.total,
        "atLeast": results.at_least,
        "sessions": [_session_tree(session) for session in results.sessions],
    }


def _session_tree(session: SessionHits) -> dict[str, Any]:
    return {
        "sessionId": session.session_id,
        "title": session.title,
        "project": session.project,
        "pinned": session.pinned,
        "archived": session.archived,
        "hits": [_hit_tree(hit) for hit in session.hits],
    }


def _hit_tree(hit: Hit) -> dict[str, Any]:
    return {
        "messageId": hit.message_id,
        "role": hit.role,
        "timestamp": hit.timestamp,
        "model": hit.model,
        "onBranch": hit.on_branch,
        "hasTool": hit.has_tool,
        "pinned": hit.pinned,
        "why": hit.why,
        "places": [
            {"sessionId": place.session_id, "messageId": place.message_id} for place in hit.places
        ],
        "text": hit.snippet.text,
        "marks": hit.snippet.marks,
    }


def _show_progress(number: int, total: int) -> None:
    if total > 200:
        end = "\r\x1b[K" if number == total else ""
        sys.stderr.write(f"\r\x1b[Kindexing sessions {number:,} of {total:,}{end}")
