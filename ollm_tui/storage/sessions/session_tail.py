"""Following a session that another process writes: without its lock, reading only what is new."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ollm_tui.core.session.encoding import CannotDecode, decode_record
from ollm_tui.core.session.record import AnyRecord, RecordInFile
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.cipher import CannotOpenError, record_place
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.sessions.journal import Entry, parse_journal
from ollm_tui.storage.sessions.session_store import SessionStore

Mark = tuple[int, int, int]
"""Inode, size and time of a file; a file that replaces it has another inode."""


class TailUpdate(NamedTuple):
    """What is new on disk since the last look."""

    is_held: bool
    """Whether there still is a writer: one that closes removes its empty journal."""
    entries: tuple[Entry, ...] = ()
    """The records after those that were known."""
    state: SessionState | None = None
    """The whole session, where single records are not enough: it is new, or was folded."""


class SessionTail:
    """Looks at one session again and again; a look at what did not change costs two calls."""

    def __init__(self, store: SessionStore, session_id: str) -> None:
        self._store = store
        self._id = session_id
        self._marks: tuple[Mark | None, Mark | None, Mark | None] | None = None
        self._offset = 0
        self._seq = 0

    def look(self) -> TailUpdate | None:
        """Return what is new, None if nothing; the first look reads everything.

        Raises the errors of `SessionStore.load`, or OSError.
        """
        before, layout = self._marks, self._store.layout
        # Taken before reading: what changes meanwhile is seen twice, never missed.
        file, journal = _mark(layout.session(self._id)), _mark(layout.journal(self._id))
        arrived = _mark(layout.arrivals(self._id))
        self._marks = (file, journal, arrived)
        if self._marks == before:
            return None
        if before is None or journal is None or (before[0], before[2]) != (file, arrived):
            return self._whole(is_held=journal is not None)
        if before[1] is None or before[1][0] != journal[0] or journal[1] < self._offset:
            self._offset = 0  # it is another one, was folded, or a failed write was taken back
        try:
            entries = self._read_on(layout.journal(self._id))
        except (CannotOpenError, CannotDecode, OSError):
            return self._whole(is_held=True)
        if [seq for seq, _ in entries] != [self._seq + n for n in range(1, len(entries) + 1)]:
            return self._whole(is_held=True)
        self._seq += len(entries)
        return TailUpdate(is_held=True, entries=entries)

    def _whole(self, *, is_held: bool) -> TailUpdate:
        state = self._store.load(self._id).state
        self._offset, self._seq = 0, state.header.journal_seq
        return TailUpdate(is_held, state=state)

    def _read_on(self, path: Path) -> tuple[Entry, ...]:
        """Return the records after the last known one. CannotDecode if a line is damaged."""
        data = read_regular(path, self._offset)
        whole = data[: data.rfind(b"\n") + 1]  # the rest is still being written
        contents = parse_journal(whole, self._open_payload)
        if contents.damaged:
            raise CannotDecode("a line of the journal is damaged")
        self._offset += len(whole)
        # A record whose writing was interrupted is written once more, under the same number.
        new = {seq: record for seq, record in contents.entries if seq > self._seq}
        return tuple((seq, self._resolved(new[seq])) for seq in sorted(new))

    def _open_payload(self, seq: int, payload: bytes) -> bytes:
        return self._store.cipher.open(payload, record_place(self._id, seq))

    def _resolved(self, record: AnyRecord) -> AnyRecord:
        if not isinstance(record, RecordInFile):
            return record
        files = SideFiles(self._store.layout.side_files(self._id), self._store.cipher)
        return decode_record(files.get(record.file))


def _mark(path: Path) -> Mark | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
