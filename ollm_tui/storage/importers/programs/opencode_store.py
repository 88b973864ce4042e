"""Sessions of opencode: a SQLite database whose messages and parts are JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ollm_tui.core.session.message import Part
from ollm_tui.storage.importers.programs.foreign_talk import (
    ForeignTalk,
    Tree,
    said,
    thought,
    tree_in,
)

NAME = "opencode"


def find(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the databases, those of other channels too."""
    if given := environ.get("OPENCODE_DB"):
        yield Path(given)
        return
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    yield from sorted((data / "opencode").glob("opencode*.db"))


def read_database(database: sqlite3.Connection) -> Iterator[ForeignTalk]:
    """Yield the sessions; those of subagents are no conversations with the user."""
    columns = {row[1] for row in database.execute("PRAGMA table_info(session)")}
    parent = "parent_id" if "parent_id" in columns else "NULL"
    where = "directory" if "directory" in columns else "NULL"
    rows = database.execute(f"SELECT id, title, {where}, {parent} FROM session ORDER BY id")
    for identifier, title, directory, parent_id in rows.fetchall():
        if parent_id:
            continue
        talk = ForeignTalk(NAME, str(identifier))
        talk.title, talk.project = str(title or ""), directory
        _read(database, talk)
        yield talk


def _read(database: sqlite3.Connection, talk: ForeignTalk) -> None:
    parts: dict[str, list[Tree]] = {}
    found = database.execute(
        "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY time_created, id",
        (talk.identifier,),
    )
    for message_id, data in found:
        parts.setdefault(str(message_id), []).append(_tree(data, talk))
    messages = database.execute(
        "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id",
        (talk.identifier,),
    )
    for message_id, created, data in messages:
        message = _tree(data, talk)
        _take(talk, message, parts.get(str(message_id), []), created)


def _take(talk: ForeignTalk, message: Tree, pieces: list[Tree], at: object) -> None:
    is_user = message.get("role") == "user"
    model = str(message.get("modelID") or "")
    parts: list[Part] = []
    answers: list[Tree] = []
    for piece in pieces:
        match piece.get("type"):
            case "text" if not (piece.get("synthetic") or piece.get("ignored")):
                parts.append(said(piece.get("text")))
            case "reasoning":
                parts.append(thought(piece.get("text")))
            case "tool":
                state = tree_in(piece, "state")
                parts.append(talk.call(piece.get("callID"), piece.get("tool"), state.get("input")))
                answers.append(piece)
            case _:
                pass
    talk.say("user" if is_user else "assistant", parts, at=at, model=model)
    for piece in answers:
        state = tree_in(piece, "state")
        failed = state.get("status") == "error"
        content = state.get("error") if failed else state.get("output")
        talk.answer(piece.get("callID"), content, is_error=failed, at=at)


def _tree(data: object, talk: ForeignTalk) -> Tree:
    try:
        tree: Any = json.loads(cast(str, data))
    except (ValueError, TypeError, RecursionError):
        talk.skipped += 1
        return {}
    return cast(Tree, tree) if isinstance(tree, dict) else {}
