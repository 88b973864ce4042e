"""The file of one snapshot, of today or of earlier programs; sealed where the store is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from ollm_tui.core.encoding import CannotDecode, parse_json
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.core.snapshot_encoding import decode_snapshot, encode_snapshot
from ollm_tui.storage.atomic_file import read_regular, write_atomically
from ollm_tui.storage.cipher import Cipher
from ollm_tui.storage.directory import file_time
from ollm_tui.storage.importers.snapshots import older_snapshot
from ollm_tui.storage.layout import is_valid_name

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


def write_snapshot(path: Path, snapshot: ContextSnapshot, cipher: Cipher) -> int:
    """Make a snapshot durable, whole or not at all; answers with the size of its file."""
    data = cipher.seal(encode_snapshot(snapshot), _place(snapshot.session_id, snapshot.id))
    write_atomically(path, [data])
    return len(data)


def read_snapshot(path: Path, session_id: str, snapshot_id: str, cipher: Cipher) -> SnapshotRead:
    """A snapshot from its file. OSError, CannotOpenError or CannotDecode."""
    data = cipher.open(read_regular(path), _place(session_id, snapshot_id))
    snapshot, older = _decoded(data, session_id, snapshot_id, path)
    # A copied file is another snapshot: its place decides.
    return SnapshotRead(replace(snapshot, id=snapshot_id, session_id=session_id), older)


def _place(session_id: str, snapshot_id: str) -> str:
    return f"{session_id}/snapshot-{snapshot_id}"


def _decoded(
    data: bytes, session_id: str, snapshot_id: str, path: Path
) -> tuple[ContextSnapshot, bool]:
    try:
        return decode_snapshot(data), False
    except CannotDecode:
        pass  # then it has no order of its messages, or is damaged
    tree = parse_json(data)
    if not isinstance(tree, dict):
        raise CannotDecode(f"expected an object, found {type(tree).__name__}")
    modified = file_time(path.stat().st_mtime_ns)
    found = older_snapshot(cast(dict[str, Any], tree), session_id, snapshot_id, modified)
    return (found, True) if found else (decode_snapshot(data), False)
