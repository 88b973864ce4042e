"""Sessions of opencode: a SQLite database whose messages and parts are JSON, one file for each of
them in its older shape, or one that `opencode export` wrote."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.message import Part
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.importers.programs.foreign_talk import (
    ForeignTalk,
    Tree,
    said,
    thought,
    tree_in,
    trees_in,
)

NAME = "opencode"


def find(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the databases, those of other channels too, then the files of older sessions."""
    if given := environ.get("OPENCODE_DB"):
        yield Path(given)
        return
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    yield from sorted(data.glob("opencode*.db"))
    yield from sorted((data / "storage" / "session").glob("*/*.json"))


def read(path: Path, data: bytes) -> Iterator[ForeignTalk]:
    """Yield the session of an export, or of the files that an older version wrote."""
    try:
        tree: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CannotDecode("not JSON") from error
    whole: Tree = cast(Tree, tree) if isinstance(tree, dict) else {}
    info = tree_in(whole, "info") or whole
    talk = ForeignTalk(NAME, str(info.get("id") or ""))
    talk.title = str(info.get("title") or "")
    talk.project = str(info.get("directory") or "") or None
    if not talk.identifier:
        raise CannotDecode("not a session of opencode")
    if info.get("parentID"):
        return
    if "messages" in whole:
        said_here = [
            (tree_in(each, "info"), trees_in(each, "parts")) for each in trees_in(whole, "messages")
        ]
    else:
        said_here = _beside(path, talk)
    for message, pieces in said_here:
        _take(talk, message, pieces, tree_in(message, "time").get("created"))
    yield talk


def _beside(path: Path, talk: ForeignTalk) -> list[tuple[Tree, list[Tree]]]:
    """The messages of a session in the folder `storage`, each with its parts."""
    root, name = path.parents[2], _plain(talk.identifier)
    messages = [_file(each, talk) for each in sorted((root / "message" / name).glob("*.json"))]
    return [
        (message, [_file(each, talk) for each in sorted((root / "part" / part).glob("*.json"))])
        for message in messages
        if (part := _plain(str(message.get("id") or "")))
    ]


def _plain(identifier: str) -> str:
    """An id as the name of a folder; one that would lead elsewhere names none."""
    return identifier if re.fullmatch(r"\w+", identifier) else "-"


def _file(path: Path, talk: ForeignTalk) -> Tree:
    try:
        return _tree(read_regular(path).decode("utf-8", "replace"), talk)
    except OSError:
        talk.skipped += 1
        return {}


def read_database(database: sqlite3.Connection) -> Iterator[ForeignTalk]:
    """Yield the sessions; those of subagents are no conversations with the user."""
    columns = {row[1] for row in database.execute("PRAGMA table_info(session)")}
    parent = "parent_id" if "parent_id" in columns else "NULL"
    where = "directory" if "directory" in columns else "NULL"
    taken_back = "revert" if "revert" in columns else "NULL"
    rows = database.execute(
        f"SELECT id, title, {where}, {parent}, {taken_back} FROM session ORDER BY id"
    )
    for identifier, title, directory, parent_id, revert in rows.fetchall():
        if parent_id:
            continue
        talk = ForeignTalk(NAME, str(identifier))
        talk.title, talk.project = str(title or ""), directory
        end = _tree(revert, talk).get("messageID") if revert else None
        _read(database, talk, end)
        yield talk


def _read(database: sqlite3.Connection, talk: ForeignTalk, end: object) -> None:
    """Read the messages of a session up to the one that the user went back to."""
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
        if message_id == end:
            break
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
