"""What can still be read of a damaged session, gathered into a new one; nothing is altered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.encoding import CannotDecode, decode_message, decode_session
from ollm_tui.core.message import Message
from ollm_tui.core.record import Created
from ollm_tui.core.session import Session
from ollm_tui.core.session_state import SessionState
from ollm_tui.storage.atomic_file import read_regular
from ollm_tui.storage.importers import older_session
from ollm_tui.storage.journal import parse_journal
from ollm_tui.storage.layout import StoreLayout

_OPENINGS = ('{"id":', '{"role":', '{ "id"', '{ "role"', '{"parts":')
LONGEST_TRIES = 100_000


def salvage(layout: StoreLayout, session_id: str, new_id: str) -> Session | None:
    """A new session from what its files still hold; None if that is nothing."""
    data = _bytes_of(layout.session(session_id)) or _bytes_of(layout.older_session(session_id))
    entries = parse_journal(_bytes_of(layout.journal(session_id))).entries
    created = next((r.session for _, r in entries if isinstance(r, Created)), None)
    moment = clock.now()
    header = created or _header(data) or Session(session_id, moment, moment, "unknown", "unknown")
    base = replace(header, messages=tuple(_messages(data)), tool_calls=(), journal_seq=0, head=None)
    state = SessionState(base)
    for seq, record in entries:
        if not isinstance(record, Created):
            try:
                state.apply(record, seq)
            except CannotDecode:
                continue
    if len(state) == 0:
        return None
    title = f"{header.title or 'Session'} (repaired)"
    return replace(state.session(), session_id=new_id, title=title, journal_seq=0)


def _bytes_of(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""


def _header(data: bytes) -> Session | None:
    """The beginning of a session file, closed by hand where the file breaks off."""
    before, found, _ = data.partition(b'"messages":[')
    if not found:
        return None
    try:
        return decode_session(before + b'"messages":[],"toolCalls":[]}')
    except CannotDecode:
        return None


def _messages(data: bytes) -> list[Message]:
    """Every whole message in the bytes, wherever it stands."""
    text = data.decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    found: dict[str, Message] = {}
    at = 0
    for _ in range(LONGEST_TRIES):
        starts = [start for mark in _OPENINGS if (start := text.find(mark, at)) >= 0]
        if not starts:
            break
        at = min(starts)
        try:
            tree, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if message := _message(tree, len(found)):
            found.setdefault(message.id, message)
    return list(found.values())


def _message(tree: Any, number: int) -> Message | None:
    if not isinstance(tree, dict) or "role" not in tree:
        return None
    fields = cast(dict[str, Any], tree)
    try:
        return decode_message(json.dumps(fields).encode("ascii"))
    except CannotDecode:
        pass
    try:
        older = older_session({"messages": [fields]}, f"salvaged-{number}", clock.now())
    except CannotDecode:
        return None
    if not older or not older.messages:
        return None
    return replace(older.messages[0], id=f"salvaged-{number}")
