"""Sessions on disk: reading one whenever asked, writing one while holding its lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.counts import counted, short_size
from ollm_tui.core.errors import (
    SessionBusy,
    SessionDamaged,
    SessionNotFound,
    SessionReadOnly,
    SessionTooLarge,
)
from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.record import UnknownRecord
from ollm_tui.core.session.session import SCHEMA_VERSION, Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.cipher import NO_KEY, CannotOpenError, Cipher, Plain, record_place
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.sessions.arrivals import Arrivals
from ollm_tui.storage.sessions.directory import SessionDirectory, file_time
from ollm_tui.storage.sessions.journal import Entry, RecordsRead, read_records
from ollm_tui.storage.sessions.session_end import read_end
from ollm_tui.storage.sessions.session_file import ParsedSession, parse_session
from ollm_tui.storage.sessions.session_writer import SessionWriter
from ollm_tui.storage.sessions.trash import Trash
from ollm_tui.storage.store_layout import StoreLayout

READ_ATTEMPTS = 10
"""More than enough, even for a session that is written and folded without pause."""


class LoadedSession(NamedTuple):
    """A session as it was found."""

    state: SessionState
    problems: tuple[str, ...] = ()
    """What could not be read, in words; the rest is there."""
    read_only: str | None = None
    """Why it must not be written, if so."""
    damaged: bool = False
    """Whether its file or its journal cannot be read at all; `state` is what the other has."""
    older: bool = False
    """Whether the file is in the shape of an earlier program."""
    derived: int = 0
    """How many messages stand for tool calls that an earlier program listed elsewhere."""
    torn: tuple[bytes, ...] = ()
    """Bytes of the journal that could not be read."""


class SessionStore:
    """The sessions of one directory."""

    def __init__(
        self,
        layout: StoreLayout,
        cipher: Cipher | None = None,
        *,
        keeps_outputs: bool = True,
        most_megabytes: int = 0,
        writes: bool = True,
    ) -> None:
        """`keeps_outputs`: whether what tools and commands print is written, too;
        `most_megabytes`: the largest session that is read, 0 for any; `writes`: whether sessions
        may be changed at all."""
        self.layout = layout
        self.writes = writes
        self._most_megabytes = most_megabytes
        self.keeps_outputs = keeps_outputs
        self._cipher = cipher or Plain()
        self.sealed = not isinstance(self._cipher, Plain)
        self.trash = Trash(layout)
        self.directory = SessionDirectory(layout)

    @property
    def cipher(self) -> Cipher:
        """The cipher, with which whatever else belongs to a session is sealed too."""
        return self._cipher

    def load(self, session_id: str) -> LoadedSession:
        """Read a session. SessionNotFound, or SessionDamaged if it cannot be read."""
        self._refuse_too_large(session_id)
        # Readers hold no lock: what looks damaged is read again if it changed meanwhile.
        for attempts_left in reversed(range(READ_ATTEMPTS)):
            before = self.directory.fingerprint(session_id)
            try:
                loaded = self._load(session_id)
            except SessionDamaged:
                if not attempts_left or before == self.directory.fingerprint(session_id):
                    raise
                continue
            if not loaded.problems or before == self.directory.fingerprint(session_id):
                return loaded
        return self._load(session_id)

    def check_writable(self) -> None:
        """Raise SessionReadOnly if nothing may be changed here."""
        if not self.writes:
            raise SessionReadOnly("this window is read-only", "open the session in another one")

    def create(self, session_id: str) -> SessionWriter:
        """Return a writer for a new session; nothing is on disk before the first record.

        SessionReadOnly if nothing may be changed here.
        """
        return self._writer(session_id)

    def open(self, session_id: str) -> tuple[SessionWriter, LoadedSession]:
        """Lock a session for writing and read it. Damaged bytes of its journal are put aside.

        SessionNotFound, SessionBusy, SessionDamaged, SessionReadOnly, or OSError where
        nothing can be written at all.
        """
        if not self.directory.has(session_id):
            raise _not_found(session_id)
        writer = self.create(session_id)
        writer.lock()
        try:
            return writer, self._take_over(writer, session_id)
        except BaseException:
            writer.close()
            raise

    def open_later(self, session_id: str) -> tuple[SessionWriter, LoadedSession]:
        """Read a session where nothing can be written yet; the lock is taken at the first write.

        That raises SessionBusy if another process has written the session in between.
        """
        loaded = self.load(session_id)
        _refuse_read_only(loaded)
        # Noted now: the state goes on changing before anything is written.
        last_seq = loaded.state.header.journal_seq

        def take_over(writer: SessionWriter) -> None:
            found = self._take_over(writer, session_id)
            if found.state.header.journal_seq != last_seq:
                raise SessionBusy(
                    "another ollm has written this session in the meantime",
                    "copy what you need: this part exists only in this window",
                )

        return self._writer(session_id, take_over), loaded

    def end_of(self, session_id: str) -> Session | None:
        """Return the last messages of a session that is too large; None if they cannot be told."""
        if self.sealed:
            return None
        side_files = SideFiles(self.layout.side_files(session_id), self._cipher)
        try:
            return read_end(self.layout.session(session_id), side_files)
        except OSError:
            return None

    def _refuse_too_large(self, session_id: str) -> None:
        if not self._most_megabytes:
            return
        file_bytes, _, journal_bytes, _ = self.directory.fingerprint(session_id)
        size = file_bytes + journal_bytes
        size += SideFiles(self.layout.side_files(session_id)).bytes()
        if size > self._most_megabytes * 1_000_000:
            raise SessionTooLarge(
                f"session {session_id} is too large to open: {short_size(size)}, "
                f"and sessions.maxMegabytes is {self._most_megabytes}",
                f"ollm sessions fork {session_id} continues from its end",
            )

    def _writer(
        self, session_id: str, take_over: Callable[[SessionWriter], None] | None = None
    ) -> SessionWriter:
        self.check_writable()
        return SessionWriter(
            self.layout, session_id, self._cipher, take_over, keeps_outputs=self.keeps_outputs
        )

    def _take_over(self, writer: SessionWriter, session_id: str) -> LoadedSession:
        """Read a session that has just been locked, and put damaged bytes aside."""
        # Held until they are in the file: what is added meanwhile must not be removed.
        arrivals = self.arrivals(session_id).hold()
        try:
            loaded = self._locked(writer, session_id, has_arrivals=arrivals is not None)
            if arrivals:
                arrivals.remove()
        finally:
            if arrivals:
                arrivals.close()
        return loaded

    def arrivals(self, session_id: str) -> Arrivals:
        """Return the records of other machines that wait beside a session."""
        return Arrivals(self.layout, session_id, self._cipher)

    def _locked(
        self, writer: SessionWriter, session_id: str, *, has_arrivals: bool
    ) -> LoadedSession:
        # Read only now: until it was locked another process may have written it.
        loaded = self.load(session_id)
        if not writer.holds_lock:
            raise SessionBusy("another ollm is moving this session", "try again in a moment")
        _refuse_read_only(loaded)
        writer.older = loaded.older
        if loaded.torn or has_arrivals:
            writer.quarantine(loaded.torn)
            writer.fold(loaded.state.session())
        return loaded

    def _load(self, session_id: str) -> LoadedSession:
        """Read a session once, as it is now."""
        if not self.directory.has(session_id):
            raise _not_found(session_id)
        side_files = SideFiles(self.layout.side_files(session_id), self._cipher)
        # The journal is read first: if it is folded into the file in between, the file has
        # what the journal had, and the numbers tell which records are in it already.
        journal = read_records(
            self.layout.journal(session_id),
            side_files,
            lambda seq, payload: self._cipher.open(payload, record_place(session_id, seq)),
        )
        parsed, problem = self._read_file(session_id, side_files)
        problem = problem or journal.problem
        state, newer = _replay(parsed.session if parsed else None, journal.entries)
        if state is None:
            if journal.breaks_off_at_once and not problem:
                raise SessionNotFound(f"session {session_id} has no content", "ollm sessions list")
            raise _damaged(session_id, problem or "its journal has no beginning")
        # A copied journal is another session: the name decides.
        state.header = replace(state.header, session_id=session_id)
        for record in self.arrivals(session_id).read():
            try:
                # They have no number in the journal of this session.
                state.apply(record, state.header.journal_seq)
            except CannotDecode:
                continue
        journal = journal.after(parsed.session.journal_seq if parsed else 0)
        return LoadedSession(
            state,
            problems=(*_problems(parsed, problem, journal), *_not_arrived(state)),
            read_only=problem or ("it was written by a newer version of ollm" if newer else None),
            damaged=problem is not None,
            older=parsed is not None and parsed.older,
            derived=parsed.derived if parsed else 0,
            torn=journal.torn,
        )

    def _read_file(
        self, session_id: str, side_files: SideFiles
    ) -> tuple[ParsedSession | None, str | None]:
        """Return the session file, or why it cannot be used; neither if there is none."""
        for path in (self.layout.session(session_id), self.layout.older_session(session_id)):
            if not os.path.lexists(path):
                continue
            try:
                data = self._cipher.open(read_regular(path), session_id)
                modified = file_time(path.stat().st_mtime_ns)
                return parse_session(data, session_id, modified, side_files), None
            except OSError as error:
                return None, error.strerror or str(error)
            except CannotOpenError as error:
                return None, str(error)
            except CannotDecode as error:
                return None, f"its file is not a session: {error}"
        return None, None


def _replay(base: Session | None, entries: list[Entry]) -> tuple[SessionState | None, bool]:
    """Return the state after file and journal, and whether a newer version wrote some of it."""
    state = SessionState(base) if base else None
    # After a crash the journal may still hold records that the file has already.
    folded = base.journal_seq if base else 0
    newer = False
    for seq, record in entries:
        newer = newer or isinstance(record, UnknownRecord)
        if state is None:
            state = SessionState.replayed(None, [(seq, record)])
        elif seq > folded:
            try:
                state.apply(record, seq)
            except CannotDecode:
                newer = True
    return state, newer or (state is not None and state.header.schema_version > SCHEMA_VERSION)


def _problems(
    parsed: ParsedSession | None, problem: str | None, journal: RecordsRead
) -> tuple[str, ...]:
    problems = [*parsed.problems] if parsed else []
    if problem:
        problems.append(problem)
    if journal.losses:
        kept = len(journal.entries)
        problems.append(f"{kept:,} of {kept + journal.losses:,} records kept")
    if journal.misplaced:
        problems.append(f"{counted(journal.misplaced, 'record')} out of order, put right")
    return tuple(problems)


def _not_arrived(state: SessionState) -> tuple[str, ...]:
    """Say of each other machine how many of its records are missing."""
    return tuple(
        f"{counted(line.missing, 'record')} of {line.name} {_have(line.missing)} not arrived yet"
        for line in state.header.machines
        if line.missing
    )


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _refuse_read_only(loaded: LoadedSession) -> None:
    if loaded.read_only:
        raise SessionReadOnly(
            f"session {loaded.state.header.session_id} is read-only: {loaded.read_only}",
            "continue in a copy: ollm sessions fork ID",
        )


def _damaged(session_id: str, problem: str) -> SessionDamaged:
    hint = f"nothing changed; ollm doctor --repair {session_id} recovers what it can"
    if problem == NO_KEY:
        hint = "set retention.encryptAtRest: true and give the passphrase"
    return SessionDamaged(f"cannot read session {session_id}: {problem}", hint)


def _not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(f"no session {session_id}", "ollm sessions list")
