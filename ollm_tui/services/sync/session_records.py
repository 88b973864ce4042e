"""The sessions of this machine as facts that travel: what is new here, and taking in the rest.

A session is the set of all records of all machines. What others made joins the tree beside what
was made here: nothing is rewritten, and the head stays where it is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionBusy, SessionNotFound, StoreError
from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.record import AnyRecord, Created, MachineNamed, SnapshotArrived
from ollm_tui.core.session.session import Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.snapshot_library import one_line
from ollm_tui.services.sync.foreign_records import (
    checked_record,
    missing_messages,
    whole_snapshot,
)
from ollm_tui.services.sync.own_records import batch_of, own_records
from ollm_tui.services.sync.port import SHARED, BadItems, Batch, Machine, Mark, Marks
from ollm_tui.services.sync.saved_searches import SharedSearches
from ollm_tui.services.sync.this_machine import (
    is_machine_id,
    new_machine,
    shown_name,
    this_machine,
)
from ollm_tui.storage.sessions.arrivals import waiting
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.sessions.session_writer import SessionWriter
from ollm_tui.storage.snapshots.snapshot_map import SETTLED_AFTER_NS, folders_in
from ollm_tui.storage.snapshots.snapshot_store import SnapshotStore, snapshots_beside
from ollm_tui.storage.store_layout import TrashedLayout, is_valid_name

log = logging.getLogger(__name__)


class _StoreMark(msgspec.Struct, frozen=True, array_like=True):
    """What tells cheaply whether any session has changed."""

    folders: tuple[int, ...]
    """When the folders changed in which sessions, snapshots and all else are."""
    searches: Mark
    journals: dict[str, tuple[int, int]]
    """Size and time of each journal."""


class SessionRecords:
    """The sessions of one store. Synchronous: front ends call it in a thread."""

    def __init__(self, library: SessionLibrary) -> None:
        self._library = library
        self._store = library.store
        self._snapshots = snapshots_beside(library.store)
        self._searches = SharedSearches(library.memory)

    @property
    def machine(self) -> Machine:
        """This machine. OSError if its id cannot be kept."""
        return this_machine(self._store.layout.root)

    def renew_machine(self) -> Machine:
        """Take another id, because a copy of this store writes under the same one."""
        return new_machine(self._store.layout.root)

    def marks(self) -> Marks:
        """Return every session with the size and time of its files and of its snapshots' folder."""
        self._settle()
        folders = self._folder_times()
        times = dict(folders_in(self._store.layout.snapshots))
        found = self._store.directory.fingerprints()
        marks: dict[str, Mark] = {name: (*mark, times.get(name, 0)) for name, mark in found.items()}
        marks[SHARED] = searches = self._searches.mark()
        journals = {name: mark[2:] for name, mark in found.items() if mark[3]}
        # A folder that changed just now may change again without getting another time.
        is_settled = max(folders) < time.time_ns() - SETTLED_AFTER_NS
        store = _StoreMark(folders, searches, journals)
        can_tell = is_settled and not waiting(self._store.layout)
        return Marks(marks, msgspec.json.encode(store).decode() if can_tell else "")

    def names(self) -> Collection[str]:
        """Return every session that is here, also in the trash."""
        return {*self._store.directory.fingerprints(), *self._store.trash.ids()}

    def is_still(self, store: str) -> bool:
        """Whether no session has changed since the marks with this one of the store were taken.

        Session files are only ever replaced, which changes the time of their folder. Journals grow
        in place; there is one for each session that is open, or was when its program was killed.
        """
        try:
            known = msgspec.json.decode(store, type=_StoreMark)
        except msgspec.MsgspecError:
            return False
        fingerprint = self._store.directory.fingerprint
        return (known.folders, known.searches) == (
            self._folder_times(),
            self._searches.mark(),
        ) and all(fingerprint(name)[2:] == mark for name, mark in known.journals.items())

    def _folder_times(self) -> tuple[int, ...]:
        layout = self._store.layout
        times: list[int] = []
        for folder in (layout.sessions, layout.snapshots, layout.arrived, layout.trash):
            try:
                times.append(folder.stat().st_mtime_ns)
            except OSError:
                times.append(0)
        return tuple(times)

    def since(self, session_id: str, cursor: str) -> Batch:
        """Return what this machine made of a session after a cursor. StoreError or OSError."""
        machine = self.machine.id
        if session_id == SHARED:
            return self._searches.since(cursor, machine)
        loaded = self._library.load(session_id)
        if loaded.older:
            return Batch([], cursor)
        state = loaded.state
        return batch_of(own_records(state, self._own_snapshots(state)), cursor, machine)

    def merge(self, session_id: str, items: Sequence[bytes], machine: Machine) -> None:
        """Take in what another machine made; it is on disk when this returns.

        Each record is checked for itself: BadItems tells at the end how many were left out.
        SessionBusy if a snapshot waits for messages that have not arrived. A session that is
        open keeps its writer: the records lie beside it until it is closed.
        """
        if not is_machine_id(machine.id) or not is_valid_name(session_id):
            raise BadItems(len(items))
        if session_id == SHARED:
            bad = self._searches.merge(items, machine)
        else:
            bad = self._merge_session(session_id, items, machine)
        for line in bad:
            log.warning("left out a record of %s: %s", shown_name(machine.name), line)
        if bad:
            raise BadItems(len(bad))

    def delete(self, session_id: str) -> None:
        """Delete a session that was deleted on another machine. SessionBusy if it is open."""
        directory = self._store.directory
        if is_valid_name(session_id) and (
            directory.has(session_id) or self._store.trash.has(session_id)
        ):
            self._library.delete(session_id, everywhere=False)

    def _merge_session(
        self, session_id: str, items: Sequence[bytes], machine: Machine
    ) -> list[str]:
        """Take in the records of one session; return why some were left out."""
        records, bad = _checked(items, machine.id, session_id)
        if not records:
            return bad
        in_trash = self._store.trash.has(session_id)
        store = self._trashed(session_id) if in_trash else self._store
        try:
            writer, state = _opened(store, session_id, records)
        except SessionBusy:
            if in_trash:
                raise
            arrival = self._put_beside(session_id, records, machine)
        else:
            arrival = _Arrival(state, self._snapshots, machine)
            try:
                arrival.take_in(records)
                if arrival.changed:
                    writer.fold(state.session())
            finally:
                writer.close()
            if arrival.changed and not in_trash:
                self._library.note(state)
        if (arrival.changed or arrival.has_renamed) and not in_trash:
            self._snapshots.refresh(session_id)
        if arrival.waits:
            raise SessionBusy(
                "a snapshot waits for messages of another machine", "a later sync brings them"
            )
        return [*bad, *arrival.bad]

    def _put_beside(
        self, session_id: str, records: Sequence[AnyRecord], machine: Machine
    ) -> _Arrival:
        """Leave records beside a session that is open: its program goes on undisturbed."""
        arrival = _Arrival(self._library.load(session_id).state, self._snapshots, machine)
        arrival.take_in(records)
        if arrival.changed:
            self._store.arrivals(session_id).add(arrival.taken)
        return arrival

    def _settle(self) -> None:
        """Put what waits into the sessions that are not open any more."""
        for session_id in waiting(self._store.layout):
            try:
                writer, loaded = self._store.open(session_id)
            except (StoreError, OSError):
                continue  # it is still open, or was deleted meanwhile
            writer.close()
            self._library.note(loaded.state)

    def _trashed(self, session_id: str) -> SessionStore:
        layout = TrashedLayout(self._store.layout, session_id)
        return SessionStore(layout, self._store.cipher, keeps_outputs=self._store.keeps_outputs)

    def _own_snapshots(self, state: SessionState) -> Iterator[ContextSnapshot]:
        """Yield the snapshots that were taken, named or pinned here, as far as readable."""
        session_id = state.header.session_id
        elsewhere = {key for line in state.header.machines for key in line.snapshots}
        for summary in reversed(self._snapshots.summaries(session_id)):
            is_own = summary.id not in elsewhere or summary.changed_at
            if not is_own or summary.damage:
                continue
            try:
                read = self._snapshots.read(session_id, summary.id, state)
            except StoreError:
                continue  # removed in between
            if not read.older:
                yield read.snapshot


class _Arrival:
    """Records of another machine on their way into a session."""

    def __init__(self, state: SessionState, snapshots: SnapshotStore, machine: Machine) -> None:
        self._state = state
        self._snapshots = snapshots
        self._before = _content(state)
        self.taken: list[AnyRecord] = []
        self.bad: list[str] = []
        self.waits = False
        """Whether a snapshot needs messages that have not arrived."""
        self.has_renamed = False
        """Whether a snapshot that was here got another name or pin."""
        named = MachineNamed(at=clock.EPOCH, machine=machine.id, name=shown_name(machine.name))
        self._apply(named)

    @property
    def changed(self) -> bool:
        """Whether the session is another one by now."""
        return _content(self._state) != self._before

    def take_in(self, records: Sequence[AnyRecord]) -> None:
        """Take in records, or note why not."""
        for record in records:
            self._take_in(record)

    def _take_in(self, record: AnyRecord) -> None:
        try:
            if isinstance(record, SnapshotArrived):
                if missing_messages(record, self._state):
                    self.waits = True
                    return
                record = self._keep(record)
            self._apply(record)
        except CannotDecode as error:
            self.bad.append(str(error))

    def _keep(self, record: SnapshotArrived) -> SnapshotArrived:
        """Write a snapshot into its file; the session has only its id."""
        session_id = self._state.header.session_id
        snapshot = whole_snapshot(record, self._state)
        known = {key for line in self._state.header.machines for key in line.snapshots}
        if self._snapshots.has(session_id, snapshot.id):
            self._keep_name(snapshot)
        elif snapshot.id not in known:
            self._snapshots.write(snapshot)
        return replace(record, snapshot={"id": snapshot.id})

    def _keep_name(self, other: ContextSnapshot) -> None:
        """Name and pin a snapshot as another machine did, if that was later."""
        try:
            here = self._snapshots.read(other.session_id, other.id, self._state)
        except StoreError as error:
            self.bad.append(str(error))
            return
        if here.snapshot.changed_at < other.changed_at and not here.older:
            renamed = replace(
                here.snapshot,
                name=one_line(other.name),
                pinned=other.pinned,
                changed_at=other.changed_at,
            )
            self._snapshots.write(renamed)
            self.has_renamed = True

    def _apply(self, record: AnyRecord) -> None:
        self._state.apply(record, self._state.header.journal_seq + 1)
        self.taken.append(record)


def _content(state: SessionState) -> Session:
    return replace(state.session(), journal_seq=0)


def _checked(
    items: Sequence[bytes], machine: str, session_id: str
) -> tuple[list[AnyRecord], list[str]]:
    """Return the records that can be taken in, snapshots last, and why the others cannot."""
    records: list[AnyRecord] = []
    bad: list[str] = []
    for data in items:
        try:
            records.append(checked_record(data, machine, session_id))
        except CannotDecode as error:
            bad.append(str(error))
    records.sort(key=lambda record: isinstance(record, SnapshotArrived))
    return records, bad


def _opened(
    store: SessionStore, session_id: str, records: Sequence[AnyRecord]
) -> tuple[SessionWriter, SessionState]:
    """Lock a session, or begin it as its records tell."""
    try:
        writer, loaded = store.open(session_id)
        return writer, loaded.state
    except SessionNotFound:
        pass  # it is new, or the one who began it was killed before the first record
    created = next((each for each in records if isinstance(each, Created)), None)
    if created is None:
        raise SessionNotFound(f"session {session_id} has not begun here", "a later sync brings it")
    writer = store.create(session_id)
    writer.lock()
    return writer, SessionState(created.session)
