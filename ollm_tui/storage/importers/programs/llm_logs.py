"""Conversations of `llm`: its SQLite database of logs, in the older and the newer shape."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ollm_tui.core.session.message import Part
from ollm_tui.storage.importers.programs.foreign_talk import (
    ForeignTalk,
    Tree,
    said,
    thought,
    trees_in,
)

NAME = "llm"
_FRAGMENTS = (
    "SELECT response_id, content FROM prompt_fragments "
    'JOIN fragments ON fragments.id = fragment_id ORDER BY "order"'
)
_CALL_ID = "coalesce(tool_call_id, name)"  # not every model gives its calls an id
_CALLS = f"SELECT response_id, {_CALL_ID}, name, arguments FROM tool_calls ORDER BY id"
_RESULTS = f"SELECT response_id, {_CALL_ID}, output FROM tool_results ORDER BY id"


def find(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the database."""
    usual = home / ".config" / "io.datasette.llm"
    if sys.platform == "darwin":
        usual = home / "Library" / "Application Support" / "io.datasette.llm"
    path = Path(environ.get("LLM_USER_PATH") or usual) / "logs.db"
    if path.exists():
        yield path


def read_database(database: sqlite3.Connection) -> Iterator[ForeignTalk]:
    """Yield the conversations of both shapes, which may be in one database."""
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if {"conversations", "responses"} <= tables:
        yield from _older(database, tables)
    if {"threads", "turns", "messages", "parts"} <= tables:
        yield from _newer(database, tables)


def _older(database: sqlite3.Connection, tables: set[str]) -> Iterator[ForeignTalk]:
    columns = {row[1] for row in database.execute("PRAGMA table_info(responses)")}
    thoughts = "reasoning" if "reasoning" in columns else "NULL"
    names = dict(database.execute("SELECT id, name FROM conversations").fetchall())
    fragments = _by_response(database, tables, "prompt_fragments", _FRAGMENTS)
    calls = _by_response(database, tables, "tool_calls", _CALLS)
    results = _by_response(database, tables, "tool_results", _RESULTS)
    talks: dict[str, ForeignTalk] = {}
    rows = database.execute(
        f"SELECT id, conversation_id, prompt, response, {thoughts}, model, datetime_utc "
        "FROM responses ORDER BY datetime_utc, id"
    )
    for identifier, conversation, prompt, response, reasoning, model, at in rows:
        key = str(conversation or identifier)
        talk = talks.setdefault(key, ForeignTalk(NAME, key))
        talk.title = str(names.get(key) or "")
        for _, call_id, output in results.get(identifier, ()):  # of calls one response earlier
            talk.answer(call_id, output, at=at)
        words = [text for _, text in fragments.get(identifier, ())]
        talk.say("user", [said([*words, prompt])], at=at)
        parts: list[Part] = [thought(reasoning)] if reasoning else []
        parts.append(said(response))
        asked = calls.get(identifier, ())
        parts += [talk.call(call_id, name, given) for _, call_id, name, given in asked]
        talk.say("assistant", parts, at=at, model=str(model or ""))
    yield from talks.values()


def _by_response(
    database: sqlite3.Connection, tables: set[str], table: str, query: str
) -> dict[object, list[tuple[Any, ...]]]:
    """What belongs to each response; nothing where the database is older than its table."""
    found: dict[object, list[tuple[Any, ...]]] = {}
    for row in database.execute(query) if table in tables else ():
        found.setdefault(row[0], []).append(row)
    return found


def _newer(database: sqlite3.Connection, tables: set[str]) -> Iterator[ForeignTalk]:
    fragments: dict[object, object] = {}
    if "fragments" in tables:
        fragments = dict(database.execute("SELECT id, content FROM fragments").fetchall())
    parents = {
        key: (parent, role)
        for key, parent, role in database.execute("SELECT hash, parent_hash, role FROM messages")
    }
    times: dict[str, tuple[str, str]] = {}
    for tip, model, at in database.execute(
        "SELECT tip_message_hash, model, datetime_utc FROM turns"
    ):
        times[str(tip)] = (str(model or ""), str(at or ""))
    threads = database.execute("SELECT id, name, tip_message_hash FROM threads ORDER BY id")
    for identifier, name, tip in threads.fetchall():
        talk = ForeignTalk(NAME, f"thread:{identifier}")
        talk.title = str(name or "")
        path: list[str] = []
        step = tip
        while step in parents and step not in path:
            path.append(str(step))
            step = parents[step][0]
        known = ("", "")
        for key in reversed(path):
            known = next((times[each] for each in _from(path, key) if each in times), known)
            pieces = list(_pieces(database, key, fragments))
            _take(talk, pieces, str(parents[key][1]), known)
        yield talk


def _from(path: list[str], key: str) -> list[str]:
    """The messages from one to the end of its thread: the first turn that ends there has it."""
    return path[path.index(key) :: -1]


def _pieces(
    database: sqlite3.Connection, key: str, fragments: Mapping[object, object]
) -> Iterator[Tree]:
    """The parts of a message: what is in them, with their `type` and `text`."""
    rows = database.execute(
        "SELECT type, text, payload FROM parts WHERE message_hash = ? ORDER BY position", (key,)
    )
    for kind, text, payload in rows.fetchall():
        given = _payload(payload)
        # Text that came from a file is stored once, as a fragment.
        borrowed = "".join(
            str(each.get("literal") or fragments.get(each.get("fragment")) or "")
            for each in trees_in(given, "text_ref")
        )
        yield {**given, "type": kind, "text": text or borrowed or given.get("text")}


def _take(talk: ForeignTalk, pieces: list[Tree], role: str, known: tuple[str, str]) -> None:
    model, at = known
    parts: list[Part] = []
    for piece in pieces:
        asked = piece.get("tool_call_id") or piece.get("id")
        match piece["type"]:
            case "text":
                parts.append(said(piece["text"]))
            case "reasoning":
                parts.append(thought(piece["text"]))
            case "tool_call":
                parts.append(talk.call(asked, piece.get("name"), piece.get("arguments")))
            case "tool_result":
                talk.answer(asked, piece["text"] or piece.get("output"), at=at)
            case "attachment":
                parts.append(said("[file]"))
            case _:
                talk.skipped += 1
    if role in ("user", "assistant"):
        talk.say("user" if role == "user" else "assistant", parts, at=at, model=model)


def _payload(data: object) -> Tree:
    try:
        tree: Any = json.loads(cast(str, data))
    except (ValueError, TypeError, RecursionError):
        return {}
    return cast(Tree, tree) if isinstance(tree, dict) else {}
