"""Writing a session: records into its journal, and from time to time all into its file."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ollm_tui.core.session.encoding import encode
from ollm_tui.core.session.record import AnyRecord, RecordInFile
from ollm_tui.core.session.session import Session
from ollm_tui.core.unkept_outputs import record_without_outputs, session_without_outputs
from ollm_tui.storage.files.atomic_file import open_for_writing, write_all, write_atomically
from ollm_tui.storage.files.cipher import Cipher, Plain, record_place
from ollm_tui.storage.files.side_files import SIDE_FILE_FROM_BYTES, SideFiles
from ollm_tui.storage.sessions.journal import Entry, JournalWriter, journal_line
from ollm_tui.storage.sessions.session_file import referenced_files, session_chunks
from ollm_tui.storage.store_layout import StoreLayout, make_directory, sync_directory


class SessionWriter:
    """The only writer of a session, from its first record or from `lock` to `close`.

    `take_over` is called once, as soon as the lock is held and before anything is written.
    """

    def __init__(
        self,
        layout: StoreLayout,
        session_id: str,
        cipher: Cipher,
        take_over: Callable[[SessionWriter], None] | None = None,
        *,
        keeps_outputs: bool = True,
    ) -> None:
        self._layout = layout
        self._id = session_id
        self._cipher = cipher
        self._take_over = take_over
        self._keeps_outputs = keeps_outputs
        self._journal: JournalWriter | None = None
        self.older = False
        """Whether the session file is an earlier program's, which is kept when it is replaced."""

    def lock(self) -> JournalWriter:
        """Take the lock, creating the journal if there is none. SessionBusy or OSError.

        If the journal was removed or moved by hand, the lock is taken on a new one.
        """
        if self._journal and not self._journal.in_place:
            self.close()
        if self._journal is None:
            make_directory(self._layout.sessions)
            self._journal = JournalWriter(self._layout.journal(self._id))
            try:
                sync_directory(self._layout.sessions)
                if self._take_over:
                    self._take_over(self)
                    self._take_over = None
            except BaseException:
                self.close()
                raise
        return self._journal

    @property
    def holds_lock(self) -> bool:
        """Whether the lock still is on the file that others would lock."""
        return self._journal is not None and self._journal.in_place

    @property
    def journal_bytes(self) -> int:
        """Bytes in the journal that are not yet in the session file."""
        return self._journal.length if self._journal else 0

    def append(self, entries: Sequence[Entry]) -> None:
        """Make records durable: when this returns, they are on disk; if it raises, none is.

        FileNotFoundError if the journal was removed or moved by hand, and with it every
        record since the last `fold`.
        """
        journal = self._journal or self.lock()
        journal.append([self._line(seq, record) for seq, record in entries])
        if not journal.in_place:
            raise FileNotFoundError(errno.ENOENT, "the files of this session were removed")

    def fold(self, session: Session) -> None:
        """Write the whole session into its file and empty the journal."""
        journal = self.lock()
        path = self._layout.session(self._id)
        if self.older and path.exists():
            self._keep_original(path)
        if not self._keeps_outputs:
            session = session_without_outputs(session)
        side_files = self._side_files()
        chunks = session_chunks(session, side_files)
        if not isinstance(self._cipher, Plain):
            chunks = [self._cipher.seal(b"".join(chunks), self._id)]
        write_atomically(path, chunks)
        self.older = False
        # Only now: after a crash before this the records are in both, and their numbers tell.
        journal.empty()
        side_files.keep_only(side_files.kept | referenced_files(session))

    def quarantine(self, torn: Sequence[bytes]) -> None:
        """Write unreadable bytes durably into a file beside the session."""
        lines = [line for line in torn if line]
        if not lines:
            return
        descriptor = open_for_writing(self._layout.quarantine(self._id), os.O_APPEND)
        try:
            write_all(descriptor, b"\n".join(lines) + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_directory(self._layout.sessions)

    def close(self) -> None:
        """Release the lock; an empty journal is removed, one with records stays."""
        if self._journal is None:
            return
        if self._journal.length == 0:
            self._journal.remove()
        self._journal.close()
        self._journal = None

    def _line(self, seq: int, record: AnyRecord) -> bytes:
        if not self._keeps_outputs:
            record = record_without_outputs(record)
        payload = encode(record)
        if len(payload) > SIDE_FILE_FROM_BYTES:
            reference = self._side_files().put(payload)
            payload = encode(RecordInFile(at=record.at, file=reference))
        return journal_line(seq, self._cipher.seal(payload, record_place(self._id, seq)))

    def _side_files(self) -> SideFiles:
        return SideFiles(self._layout.side_files(self._id), self._cipher)

    def _keep_original(self, path: Path) -> None:
        # A second link is enough: replacing the file leaves the old bytes untouched.
        try:
            os.link(path, self._layout.original(self._id))
        except FileExistsError:
            pass  # kept by an earlier attempt
