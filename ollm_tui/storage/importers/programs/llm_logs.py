"""Conversations of `llm`: its SQLite database of logs, in the older and the newer shape."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ollm_tui.core.session.message import Part
from ollm_tui.storage.importers.programs.foreign_talk import ForeignTalk, Tree, said, thought

NAME = "llm"


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
        yield from _older(database)
    if {"threads", "turns", "messages", "parts"} <= tables:
        yield from _newer(database)


def _older(database: sqlite3.Connection) -> Iterator[ForeignTalk]:
    columns = {row[1] for row in database.execute("PRAGMA table_info(responses)")}
    thoughts = "reasoning" if "reasoning" in columns else "NULL"
    names = dict(database.execute("SELECT id, name FROM conversations").fetchall())
    talks: dict[str, ForeignTalk] = {}
    rows = database.execute(
        f"SELECT id, conversation_id, prompt, response, {thoughts}, model, datetime_utc "
        "FROM responses ORDER BY datetime_utc, id"
    )
    for identifier, conversation, prompt, response, reasoning, model, at in rows:
        key = str(conversation or identifier)
        talk = talks.setdefault(key, ForeignTalk(NAME, key))
        talk.title = str(names.get(key) or "")
        talk.say("user", [said(prompt)], at=at)
        parts: list[Part] = [thought(reasoning)] if reasoning else []
        talk.say("assistant", [*parts, said(response)], at=at, model=str(model or ""))
    yield from talks.values()


def _newer(database: sqlite3.Connection) -> Iterator[ForeignTalk]:
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
            _take(talk, database, key, str(parents[key][1]), known)
        yield talk


def _from(path: list[str], key: str) -> list[str]:
    """The messages from one to the end of its thread: the first turn that ends there has it."""
    return path[path.index(key) :: -1]


def _take(
    talk: ForeignTalk, database: sqlite3.Connection, key: str, role: str, known: tuple[str, str]
) -> None:
    model, at = known
    parts: list[Part] = []
    rows = database.execute(
        "SELECT type, text, payload FROM parts WHERE message_hash = ? ORDER BY position", (key,)
    )
    for kind, text, payload in rows.fetchall():
        given = _payload(payload)
        match kind:
            case "text":
                parts.append(said(text or given.get("text")))
            case "reasoning":
                parts.append(thought(text or given.get("text")))
            case "tool_call":
                asked = given.get("tool_call_id") or given.get("id")
                parts.append(talk.call(asked, given.get("name"), given.get("arguments")))
            case "tool_result":
                asked = given.get("tool_call_id") or given.get("id")
                talk.answer(asked, text or given.get("output"), at=at)
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
