"""Writing a session: records into its journal, now and then everything into its file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ollm_tui.core.encoding import encode
from ollm_tui.core.record import AnyRecord, RecordInFile
from ollm_tui.core.session import Session
from ollm_tui.storage.atomic_file import write_all, write_atomically
from ollm_tui.storage.journal import JournalWriter, journal_line
from ollm_tui.storage.layout import FILE_MODE, StoreLayout, make_directory, sync_directory
from ollm_tui.storage.session_file import referenced_files, session_chunks
from ollm_tui.storage.side_files import SIDE_FILE_FROM_BYTES, SideFiles

Entry = tuple[int, AnyRecord]
"""A record with its number."""


class SessionWriter:
    """The only one who writes a session, from its first record or from `lock` to `close`."""

    def __init__(self, layout: StoreLayout, session_id: str) -> None:
        self._layout = layout
        self._id = session_id
        self._journal: JournalWriter | None = None
        self.older = False

    def lock(self) -> JournalWriter:
        """Take the lock, creating the journal if there is none. SessionBusy or OSError."""
        if self._journal is None:
            make_directory(self._layout.sessions)
            self._journal = JournalWriter(self._layout.journal(self._id))
            sync_directory(self._layout.sessions)
        return self._journal

    @property
    def journal_bytes(self) -> int:
        """How much is in the journal and not yet in the session file."""
        return self._journal.length if self._journal else 0

    def append(self, entries: Sequence[Entry]) -> None:
        """Make records durable: when this returns, they are on disk; if it raises, none is."""
        journal = self.lock()
        journal.append([self._line(seq, record) for seq, record in entries])

    def fold(self, session: Session) -> None:
        """Write the whole session into its file and empty the journal."""
        journal = self.lock()
        path = self._layout.session(self._id)
        if self.older and path.exists():
            self._keep_original(path)
        side_files = SideFiles(self._layout.side_files(self._id))
        write_atomically(path, session_chunks(session, side_files))
        self.older = False
        journal.empty()
        side_files.keep_only(side_files.kept | referenced_files(session))

    def quarantine(self, torn: Sequence[bytes]) -> None:
        """Keep bytes nobody can read beside the session, durably."""
        lines = [line for line in torn if line]
        if not lines:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self._layout.quarantine(self._id), flags, FILE_MODE)
        try:
            write_all(descriptor, b"\n".join(lines) + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_directory(self._layout.sessions)

    def close(self) -> None:
        """Release the lock; an empty journal is taken away, one with records stays."""
        if self._journal is None:
            return
        if self._journal.length == 0:
            self._journal.remove()
        self._journal.close()
        self._journal = None

    def _line(self, seq: int, record: AnyRecord) -> bytes:
        payload = encode(record)
        if len(payload) > SIDE_FILE_FROM_BYTES:
            reference = SideFiles(self._layout.side_files(self._id)).put(payload)
            payload = encode(RecordInFile(at=record.at, file=reference))
        return journal_line(seq, payload)

    def _keep_original(self, path: Path) -> None:
        try:
            os.link(path, self._layout.original(self._id))
        except FileExistsError:
            pass  # kept by an earlier attempt
