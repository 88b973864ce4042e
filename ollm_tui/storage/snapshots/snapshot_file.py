"""The file of one snapshot, of today or of earlier programs; sealed where the store is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from ollm_tui.core.session.encoding import CannotDecode, parse_json
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.core.snapshot_encoding import MessageBytes, decode_snapshot, snapshot_chunks
from ollm_tui.storage.files.atomic_file import read_regular, write_atomically
from ollm_tui.storage.files.cipher import Cipher, Plain
from ollm_tui.storage.importers.older_snapshots import older_snapshot
from ollm_tui.storage.sessions.directory import file_time
from ollm_tui.storage.store_layout import is_valid_name

Decode = Callable[[bytes], ContextSnapshot]
"""Gives a snapshot of this version, or CannotDecode."""

_FILE_NAME = re.compile(r"snapshot-(.+)\.json")


class SnapshotRead(NamedTuple):
    """A snapshot as its file tells it."""

    snapshot: ContextSnapshot
    older: bool
    """Whether the file is in the shape of an earlier program, and never to be altered."""


def file_name(snapshot_id: str) -> str:
    """The name of a snapshot's file."""
    return f"snapshot-{snapshot_id}.json"


def id_in(name: str) -> str | None:
    """Which snapshot a file is, by its name; None if it is none."""
    match = _FILE_NAME.fullmatch(name)
    return match[1] if match and is_valid_name(match[1]) else None


def write_snapshot(
    path: Path, snapshot: ContextSnapshot, cipher: Cipher, written: MessageBytes
) -> int:
    """Make a snapshot durable, whole or not at all; answers with the size of its file."""
    chunks = snapshot_chunks(snapshot, written)
    if not isinstance(cipher, Plain):
        chunks = [cipher.seal(b"".join(chunks), _place(snapshot.session_id, snapshot.id))]
    write_atomically(path, chunks)
    return path.stat().st_size


def read_snapshot(
    path: Path,
    session_id: str,
    snapshot_id: str,
    cipher: Cipher,
    decode: Decode = decode_snapshot,
) -> SnapshotRead:
    """A snapshot from its file. OSError, CannotOpenError or CannotDecode."""
    data = cipher.open(read_regular(path), _place(session_id, snapshot_id))
    try:
        snapshot, older = decode(data), False
    except CannotDecode:
        # Then it has no order of its messages, or is damaged.
        snapshot, older = _of_earlier_program(data, session_id, snapshot_id, path), True
    # A copied file is another snapshot: its place decides.
    return SnapshotRead(replace(snapshot, id=snapshot_id, session_id=session_id), older)


def _place(session_id: str, snapshot_id: str) -> str:
    return f"{session_id}/snapshot-{snapshot_id}"


def _of_earlier_program(
    data: bytes, session_id: str, snapshot_id: str, path: Path
) -> ContextSnapshot:
    tree = parse_json(data)
    if not isinstance(tree, dict):
        raise CannotDecode(f"expected an object, found {type(tree).__name__}")
    modified = file_time(path.stat().st_mtime_ns)
    found = older_snapshot(cast(dict[str, Any], tree), session_id, snapshot_id, modified)
    return found or decode_snapshot(data)
