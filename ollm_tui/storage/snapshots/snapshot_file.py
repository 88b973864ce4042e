"""The file of one snapshot, of this or an earlier program; sealed where the store is."""

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
"""Decodes a snapshot of this version, or raises CannotDecode."""

_FILE_NAME = re.compile(r"snapshot-(.+)\.json")


class SnapshotRead(NamedTuple):
    """A snapshot as its file has it."""

    snapshot: ContextSnapshot
    older: bool
    """Whether the file is in the shape of an earlier program; then it is never altered."""


def file_name(snapshot_id: str) -> str:
    """Return the name of the file of a snapshot."""
    return f"snapshot-{snapshot_id}.json"


def id_in(name: str) -> str | None:
    """Return the id of the snapshot in the name of a file; None if it is no snapshot."""
    match = _FILE_NAME.fullmatch(name)
    return match[1] if match and is_valid_name(match[1]) else None


def write_snapshot(
    path: Path, snapshot: ContextSnapshot, cipher: Cipher, written: MessageBytes
) -> int:
    """Write a snapshot durably, whole or not at all; returns the size of its file in bytes."""
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
    """Read a snapshot from its file. OSError, CannotOpenError or CannotDecode if that fails."""
    data = cipher.open(read_regular(path), _place(session_id, snapshot_id))
    try:
        snapshot, older = decode(data), False
    except CannotDecode:
        # Either it is an earlier program's, without the field `order`, or it is damaged.
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
