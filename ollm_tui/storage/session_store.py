"""Sessions on disk: reading one whenever asked, writing one while holding its lock."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import NamedTuple

from ollm_tui.core import clock
from ollm_tui.core.encoding import CannotDecode, decode_record, encode
from ollm_tui.core.errors import SessionDamaged, SessionNotFound, SessionReadOnly
from ollm_tui.core.record import RecordInFile, UnknownRecord
from ollm_tui.core.session import SCHEMA_VERSION
from ollm_tui.core.session_state import SessionState
from ollm_tui.storage.atomic_file import read_regular
from ollm_tui.storage.directory import SessionDirectory
from ollm_tui.storage.journal import JournalContents, journal_line, parse_journal
from ollm_tui.storage.layout import StoreLayout
from ollm_tui.storage.session_file import ParsedSession, parse_session
from ollm_tui.storage.session_writer import Entry, SessionWriter
from ollm_tui.storage.side_files import SideFiles
from ollm_tui.storage.trash import Trash


class LoadedSession(NamedTuple):
    """A session as it was found."""

    state: SessionState
    problems: tuple[str, ...] = ()
    """What could not be read, in words; the rest is there."""
    read_only: str | None = None
    """Why it must not be written, if so."""
    damaged: bool = False
    """Whether the session file cannot be read and all this is from the journal."""
    older: bool = False
    """Whether the file is in the shape of an earlier program."""
    torn: tuple[bytes, ...] = ()
    """Bytes of the journal that could not be read."""


class SessionStore:
    """The sessions of one directory."""

    def __init__(self, layout: StoreLayout) -> None:
        self.layout = layout
        self.trash = Trash(layout)
        self.directory = SessionDirectory(layout)

    def load(self, session_id: str) -> LoadedSession:
        """Read a session. SessionNotFound, or SessionDamaged if it cannot be read.

        The journal is read first: if it is folded into the file in between, the file has
        what the journal had, and the numbers tell which records are in it already.
        """
        if not self.directory.has(session_id):
            raise SessionNotFound(f"there is no session {session_id}", "ollm sessions list")
        side_files = SideFiles(self.layout.side_files(session_id))
        journal, torn = self._read_journal(session_id, side_files)
        parsed, problem = self._read_file(session_id, side_files)
        state = SessionState.replayed(parsed.session if parsed else None, journal.entries)
        if state is None:
            raise SessionDamaged(
                f"session {session_id} cannot be read: {problem or 'its journal has no beginning'}",
                f"nothing was changed; ollm doctor --repair {session_id} saves what can be saved",
            )
        problems = [*parsed.problems] if parsed else []
        if problem:
            problems.append(problem)
        if torn:
            kept = len(journal.entries)
            problems.append(f"{kept:,} of {kept + len(torn):,} records kept")
        read_only = problem or _reason_to_only_read(state, journal)
        older = parsed is not None and parsed.older
        return LoadedSession(
            state, tuple(problems), read_only, problem is not None, older, tuple(torn)
        )

    def create(self, session_id: str) -> SessionWriter:
        """A writer for a session that begins; nothing is on disk before the first record."""
        return SessionWriter(self.layout, session_id)

    def open(self, session_id: str) -> tuple[SessionWriter, LoadedSession]:
        """Lock a session for writing and read it. A damaged end is put aside first.

        SessionNotFound, SessionBusy, SessionDamaged, SessionReadOnly, or OSError where
        nothing can be written at all.
        """
        if not self.directory.has(session_id):
            raise SessionNotFound(f"there is no session {session_id}", "ollm sessions list")
        writer = SessionWriter(self.layout, session_id)
        writer.lock()
        try:
            loaded = self.load(session_id)
            if loaded.read_only:
                raise SessionReadOnly(
                    f"session {session_id} can only be read: {loaded.read_only}",
                    "continue in a copy with: ollm sessions fork ID",
                )
            writer.older = loaded.older
            if loaded.torn:
                writer.quarantine(loaded.torn)
                writer.fold(loaded.state.session())
        except BaseException:
            writer.close()
            raise
        return writer, loaded

    def _read_journal(
        self, session_id: str, side_files: SideFiles
    ) -> tuple[JournalContents, list[bytes]]:
        try:
            data = read_regular(self.layout.journal(session_id))
        except OSError:
            return JournalContents([], []), []
        contents = parse_journal(data)
        entries: list[Entry] = []
        torn = list(contents.damaged)
        for seq, record in contents.entries:
            if isinstance(record, RecordInFile):
                try:
                    record = decode_record(side_files.get(record.file))
                except (OSError, CannotDecode):
                    torn.append(journal_line(seq, encode(record)))
                    continue
            entries.append((seq, record))
        if data and not data.endswith(b"\n") and not torn:
            torn.append(b"")  # whole but for its line end: the next record must not join it
        return JournalContents(entries, contents.damaged), torn

    def _read_file(
        self, session_id: str, side_files: SideFiles
    ) -> tuple[ParsedSession | None, str | None]:
        """The session file, or why it cannot be used; neither if there is none."""
        for path in (self.layout.session(session_id), self.layout.older_session(session_id)):
            if not os.path.lexists(path):
                continue
            try:
                data = read_regular(path)
                modified = clock.iso(datetime.fromtimestamp(path.stat().st_mtime, UTC))
                return parse_session(data, session_id, modified, side_files), None
            except OSError as error:
                return None, error.strerror or str(error)
            except CannotDecode as error:
                return None, f"{path.name} is not a session: {error}"
        return None, None


def _reason_to_only_read(state: SessionState, journal: JournalContents) -> str | None:
    newer = state.header.schema_version > SCHEMA_VERSION
    if newer or any(isinstance(record, UnknownRecord) for _, record in journal.entries):
        return "it was written by a newer version of ollm"
    return None
