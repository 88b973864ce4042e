"""Rescuing a damaged session: what can still be read becomes a new one; nothing is altered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.encoding import (
    CannotDecode,
    decode_message,
    decode_session,
    decode_tool_call,
)
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.record import Created
from ollm_tui.core.session.session import Session, ToolCall
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.importers.older_sessions import older_session
from ollm_tui.storage.sessions.journal import read_records
from ollm_tui.storage.sessions.session_file import whole_message, whole_tool_call
from ollm_tui.storage.store_layout import StoreLayout

_OPENING = re.compile(r'\{\s*"(?:id|role|parts)"\s*:')
"""How messages and tool calls begin, in today's files and in older ones."""
LONGEST_TRIES = 100_000
"""Openings that are tried, so that a file of broken ones does not take for ever."""


class _Found(NamedTuple):
    messages: dict[str, Message]
    tool_calls: dict[str, ToolCall]


def salvage(layout: StoreLayout, session_id: str, new_id: str) -> Session | None:
    """Make a new session from what the files still hold; None if that is no message."""
    data = _bytes_of(layout.session(session_id)) or _bytes_of(layout.older_session(session_id))
    side_files = SideFiles(layout.side_files(session_id))
    entries = read_records(layout.journal(session_id), side_files).entries
    created = next((r.session for _, r in entries if isinstance(r, Created)), None)
    moment = clock.now()
    header = created or _header(data) or Session(session_id, moment, moment, "unknown", "unknown")
    found = _values(data, side_files)
    base = replace(
        header,
        messages=tuple(found.messages.values()),
        tool_calls=tuple(found.tool_calls.values()),
        journal_seq=0,
        head=None,
    )
    state = SessionState(base)
    for seq, record in entries:
        # A record may be there twice: it is written again when its first writing was uncertain.
        if not isinstance(record, Created) and seq > state.header.journal_seq:
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
    """Read the fields before the messages, as if the lists after them were empty."""
    before, found, _ = data.partition(b'"messages":[')
    if not found:
        return None
    try:
        return decode_session(before + b'"messages":[],"toolCalls":[]}')
    except CannotDecode:
        return None


def _values(data: bytes, side_files: SideFiles) -> _Found:
    """Find every complete message and tool call in the bytes, wherever it stands."""
    found = _Found({}, {})
    problems: list[str] = []
    for fields in _objects(data.decode("utf-8", "replace")):
        if call := _tool_call(fields):
            whole = whole_tool_call(call, side_files, problems)
            found.tool_calls.setdefault(whole.id, whole)
        elif message := _message(fields, len(found.messages)):
            whole = whole_message(message, side_files, problems)
            found.messages.setdefault(whole.id, whole)
    return found


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(LONGEST_TRIES):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        at = opening.start()
        try:
            tree, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield cast(dict[str, Any], tree)


def _tool_call(fields: dict[str, Any]) -> ToolCall | None:
    try:
        return decode_tool_call(json.dumps(fields).encode("ascii"))
    except CannotDecode:
        return None


def _message(fields: dict[str, Any], number: int) -> Message | None:
    if "role" not in fields:
        return None
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
