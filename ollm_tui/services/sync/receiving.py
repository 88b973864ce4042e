"""Receiving: taking in what the other machines sent. Everything offered is suspect until opened."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ollm_tui.core.errors import SessionBusy, SessionNotFound, StoreError
from ollm_tui.core.intake import visible
from ollm_tui.services.sync.port import BadItems
from ollm_tui.services.sync.remote import (
    KEYS,
    NAME_FILE,
    NAMES,
    Remote,
    SyncReport,
    split_branch,
)
from ollm_tui.services.sync.remote_key import KEY_VARIABLE
from ollm_tui.services.sync.segments import (
    CannotRead,
    Frame,
    Link,
    Place,
    decoded,
    opened_frame,
    place_of,
)
from ollm_tui.storage.files.cipher import CannotOpenError
from ollm_tui.storage.store_layout import is_valid_name
from ollm_tui.storage.sync.sync_state import DELETED, KEY, Branch, Entry

SEGMENTS_AT_ONCE = 64
"""Segments that are read together, and merged session by session."""
DELETIONS_WAIT = "deletions-wait"
"""The fact that a session deleted elsewhere is still here, since it is open."""
LONGEST_NAME = 60
"""Characters of the name of a machine that are kept."""
_MOST_FILES = 100_000
"""Files of a branch that are looked at."""


class _Arrived(NamedTuple):
    """A segment that was read."""

    place: Place
    frames: Sequence[Frame]
    link: Link | None
    """None if it is damaged."""


class Receiving:
    """Takes in one round of what was fetched."""

    def __init__(
        self, remote: Remote, report: SyncReport, before_merge: Callable[[], None]
    ) -> None:
        """`before_merge` is called before a session here is changed."""
        self._remote = remote
        self._report = report
        self._before_merge = before_merge
        self._own = remote.records.machine.id
        self._unreadable: set[str] = set()
        self._is_last_try = False
        """Whether all branches have been read once: what has not begun by now does not begin."""

    def pending(self, offered: Mapping[str, str]) -> list[tuple[str, str, str]]:
        """Return the branches of other machines with something new: machine, name, commit."""
        known = self._remote.state.branches()
        found: list[tuple[str, str, str]] = []
        for name, tip in offered.items():
            if (split := split_branch(name)) and split[0] != self._own:
                branch = known.get(split)
                if branch is None or branch.tip != tip:
                    found.append((*split, tip))
        # Keys first, without which nothing can be opened; then the months as they went by.
        return sorted(found, key=lambda each: (each[1] != KEYS, each[1]))

    def receive(self, offered: Mapping[str, str]) -> None:
        """Take in everything new; what cannot be taken in now is tried again at the next sync."""
        pending = self.pending(offered)
        for machine, name, tip in pending:
            if name == KEYS:
                self._read_keys(machine, tip)
        if pending or self._remote.state.fact(DELETIONS_WAIT):
            self._apply_deletions()
        for machine, name, tip in pending:
            if name != KEYS and machine not in self._unreadable:
                self._read_month(machine, name, tip)
        self._is_last_try = True
        for (machine, month), hashes in self._remote.state.waiting().items():
            if (tip := offered.get(f"{machine}/{month}")) and machine not in self._unreadable:
                self._read_again(machine, month, tip, hashes)

    def is_among_strangers(self, offered: Mapping[str, str]) -> bool:
        """Whether the key here is the wrong one: the remote is in use, and none of it can be read.

        Then nothing must be sent, since nobody else could read that.
        """
        is_known = f"{self._own}/{KEYS}" in offered or self._remote.state.facts(NAMES)
        return bool(self._unreadable) and not is_known

    def _read_keys(self, machine: str, tip: str) -> None:
        remote = self._remote
        known = remote.state.buckets(machine)
        files = remote.git.listing(tip)[:_MOST_FILES]
        fresh = [file for file in files if known.get(file.name) != file.sha]
        entries: list[Entry] = []
        name = ""
        for file, blob in zip(fresh, remote.git.blobs([f.sha for f in fresh]), strict=True):
            if file.name == NAME_FILE and blob is not None:
                try:
                    name = remote.key.open_name(machine, blob)
                except CannotOpenError:
                    self._unreadable.add(machine)
                    self._report.complain(
                        f"another machine uses another key ({KEY_VARIABLE}=… ollm sync init)"
                    )
                    return
            elif blob is not None:
                entries += self._genuine(machine, blob)
        with remote.state.saving():
            remote.state.set_entries(machine, entries)
            remote.state.set_buckets(machine, {file.name: file.sha for file in fresh})
            remote.state.set_branch(machine, KEYS, Branch(tip))
            if name:
                shown = " ".join(visible(name).split())[:LONGEST_NAME]
                remote.state.set_fact(NAMES + machine, shown)

    def _genuine(self, machine: str, blob: bytes) -> Iterator[Entry]:
        try:
            rows = msgspec.msgpack.decode(blob, type=list[tuple[bytes, int, bytes]])
        except msgspec.MsgspecError:
            self._report.complain(f"keys of {self._remote.name_of(machine)} are damaged")
            return
        for entry in map(Entry._make, rows):
            if entry.kind in (KEY, DELETED) and self._remote.key.is_genuine(machine, entry):
                yield entry

    def _apply_deletions(self) -> None:
        state, records = self._remote.state, self._remote.records
        deleted = state.deleted()
        waits = False
        if deleted:
            for session_id in [s for s in records.names() if self._remote.key.hash(s) in deleted]:
                self._before_merge()
                try:
                    records.delete(session_id)
                except (StoreError, OSError):
                    waits = True  # it is open here: the next sync tries again
                else:
                    self._report.deleted.add(session_id)
        state.set_fact(DELETIONS_WAIT, "yes" if waits else "")

    def _read_month(self, machine: str, month: str, tip: str) -> None:
        state, whose = self._remote.state, self._remote.name_of(machine)
        branch = state.branches().get((machine, month), Branch(""))
        places = self._places(machine, month, tip)
        if max((place.last for place in places), default=0) < branch.number:
            self._report.complain(
                f"the remote has less from {whose} than before; nothing lost here"
            )
        new = sorted(place for place in places if place.last > branch.number)
        last = branch
        for some in _in_parts(new):
            arrived: list[_Arrived] = []
            for read in self._segments(some, places):
                follows = read.place.first == last.number + 1
                if read.place.first > last.number + 1:
                    self._report.complain(f"the remote withholds part of {whose}")
                if follows and last.chain and read.link and read.link.before != last.chain:
                    self._report.complain(f"the remote's history of {whose} has changed")
                # What is kept back or damaged may be offered whole another time: only up to there
                # counts as read, and all that follows it is taken in all the same.
                is_next = branch.number == last.number and read.place.first <= last.number + 1
                last = last._replace(
                    number=read.place.last, chain=read.link.after if read.link else b""
                )
                if is_next and read.link:
                    branch = last
                arrived.append(read)
            waiting = self._merge(arrived)
            with state.saving():
                state.wait_for(machine, month, waiting)
                state.set_branch(machine, month, branch._replace(tip=""))
        state.set_branch(machine, month, branch._replace(tip=tip))

    def _read_again(self, machine: str, month: str, tip: str, hashes: Collection[bytes]) -> None:
        """Try once more to take in what sessions have in a month."""
        places = self._places(machine, month, tip)
        waiting: set[bytes] = set()
        for some in _in_parts(sorted(places)):
            waiting |= self._merge(self._segments(some, places), hashes)
        with self._remote.state.saving():
            self._remote.state.wait_for(machine, month, waiting, instead_of=hashes)

    def _places(self, machine: str, month: str, tip: str) -> dict[Place, str]:
        """Return the segments of a branch, and their blobs."""
        files = self._remote.git.listing(tip)[:_MOST_FILES]
        return {place: file.sha for file in files if (place := place_of(machine, month, file.name))}

    def _segments(self, some: Sequence[Place], places: Mapping[Place, str]) -> Iterator[_Arrived]:
        """Read segments; one that is damaged has neither link nor frames."""
        blobs = self._remote.git.blobs([places[each] for each in some])
        for place, blob in zip(some, blobs, strict=True):
            try:
                segment, link = decoded(blob or b"", place, self._remote.key)
            except CannotRead:
                self._complain_of_damage(place)
                yield _Arrived(place, (), None)
            else:
                yield _Arrived(place, segment.frames, link)

    def _merge(
        self, arrived: Iterable[_Arrived], only: Collection[bytes] | None = None
    ) -> set[bytes]:
        """Merge session by session; returns the hashes of those that have to wait.

        With `only`, the other sessions are passed over.
        """
        deleted = self._remote.state.deleted()
        talks: dict[str, list[bytes]] = {}
        machine = ""
        waiting: set[bytes] = set()
        for place, frames, _ in arrived:
            machine = place.machine
            for frame in frames:
                if frame.hash in deleted or (only is not None and frame.hash not in only):
                    continue
                try:
                    talk = opened_frame(frame, place, self._remote.cipher(machine, frame.hash))
                except CannotOpenError:
                    whose = self._remote.name_of(machine)
                    self._report.complain(f"the remote withholds a key of {whose}")
                    waiting.add(frame.hash)
                    continue
                except CannotRead:
                    self._complain_of_damage(place)
                    continue
                session_id = talk.session_id
                if not is_valid_name(session_id) or self._remote.key.hash(session_id) != frame.hash:
                    self._complain_of_damage(place)
                    continue
                talks.setdefault(session_id, []).extend(talk.items)
        for session_id, items in talks.items():
            if not self._merge_session(session_id, items, machine):
                waiting.add(self._remote.key.hash(session_id))
        return waiting

    def _merge_session(self, session_id: str, items: Sequence[bytes], machine: str) -> bool:
        """Merge what a machine said in a session; False if that has to be tried again."""
        self._before_merge()
        try:
            self._remote.records.merge(session_id, items, self._remote.machine(machine))
        except BadItems as error:
            self._report.complain(f"{error} ({self._remote.name_of(machine)})")
        except SessionNotFound:
            # Retention removed it here, and it goes on elsewhere.
            return self._is_last_try
        except SessionBusy:
            return False
        except (StoreError, OSError) as error:
            self._report.complain(visible(str(error)))
            return False
        self._report.received.add(session_id)
        return True

    def _complain_of_damage(self, place: Place) -> None:
        whose = self._remote.name_of(place.machine)
        self._report.complain(f"part of {whose} on the remote is damaged")


def _in_parts(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    for at in range(0, len(places), SEGMENTS_AT_ONCE):
        yield places[at : at + SEGMENTS_AT_ONCE]
