"""Sending: what this machine made goes to branches that only this machine writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.errors import StoreError
from ollm_tui.core.intake import visible
from ollm_tui.services.sync.month_branch import MonthBranch
from ollm_tui.services.sync.port import Batch, Item, Mark, Marks
from ollm_tui.services.sync.remote import KEYS, NAME_FILE, Remote, SyncReport
from ollm_tui.services.sync.segments import CannotRead, Talk, decoded, place_of
from ollm_tui.storage.sync.bare_git import OURS, TreeEntry, Update
from ollm_tui.storage.sync.sync_state import DELETED, KEY, Branch, Entry, Sent

AT_ONCE_BYTES = 32_000_000
"""What is pushed together: a first upload that breaks off goes on from there."""
FRAME_BYTES = 4_000_000
"""Where the items of a session are divided, unless one alone is larger."""
JOIN_EVERY = 64
"""Segments of a month after which the small ones among them become one."""
MOST_ITEM = 48_000_000
"""The largest item that travels; with less than this every blob can be read again."""
STORE = "store"
"""The fact with the mark of the store as it was when everything had been sent."""
_DIRTY = "dirty"
"""The fact with the files of keys that are not on the remote as they should be."""
_SQUASH = "squash"
"""The fact that the past of the keys has to go, since one of them was deleted."""
_NAME = "own-name"
"""The fact with what this machine is called on the remote."""
_JOINED = "joined/"
"""Begins the facts with the last segment of each branch when it was last joined."""
_KEEPS_PAST = "keeps-past"
"""The fact that the remote refuses to forget the past of a branch."""
_NEVER = Sent("", "")
_MONTHS = slice(0, 7)
"""The month in an ISO time."""


class LostRace(Exception):
    """The remote refused a push, since its branch is not as it was fetched."""


class Sending:
    """Sends one round of what is new here."""

    def __init__(self, remote: Remote, report: SyncReport) -> None:
        self._remote = remote
        self._report = report
        self._machine = remote.records.machine
        self._months: dict[str, MonthBranch] = {}
        self._sent: dict[str, Sent] = {}
        self._bytes = 0
        self._there: dict[str, str] = {}

    def settle(self, offered: Mapping[str, str]) -> bool:
        """Put right what a sync that was killed, a lost remote or a copied store left behind.

        Returns whether this machine has another id now, and everything is to be sent anew.
        """
        state, git, own = self._remote.state, self._remote.git, self._machine.id
        mine = {name: each for (who, name), each in state.branches().items() if who == own}
        there = {
            name.removeprefix(f"{own}/"): tip
            for name, tip in offered.items()
            if name.startswith(f"{own}/")
        }
        if there == {name: branch.tip for name, branch in mine.items()}:
            return False
        made = git.refs(f"{OURS}{own}/")
        for name, tip in there.items():
            known = mine.get(name, Branch(""))
            if tip == known.tip:
                continue
            was_pushed = tip == made.get(name) and self._adopt(name, tip)  # and nobody noted that
            if not was_pushed and not (known.tip and git.is_before(tip, known.tip)):
                self._take_other_name()
                return True
        return False

    def pending(self, marks: Marks) -> dict[str, str]:
        """Return the sessions that may have something new, and the cursor of each."""
        if not marks.sessions:
            return {}
        sent = self._remote.state.sent()
        return {
            session_id: known.cursor
            for session_id, mark in marks.sessions.items()
            if (known := sent.get(session_id, _NEVER)).mark != _written(mark)
        }

    def send(self, marks: Marks, offered: Mapping[str, str]) -> None:
        """Send everything new. LostRace if another one has written the branches of this machine."""
        own = f"{self._machine.id}/"
        self._there = {
            name.removeprefix(own): tip for name, tip in offered.items() if name.startswith(own)
        }
        self.bury(())  # what others deleted
        state, gone = self._remote.state, self._remote.state.deleted()
        store = marks.store
        for session_id, cursor in self.pending(marks).items():
            if self._remote.key.hash(session_id) in gone:
                continue
            try:
                batch = self._remote.records.since(session_id, cursor)
            except (StoreError, OSError) as error:
                self._report.complain(visible(str(error)))
                store = ""  # it is tried again
                continue
            if batch.items:
                self._add(session_id, batch)
            self._sent[session_id] = Sent(_written(marks.sessions[session_id]), batch.cursor)
            if self._bytes >= AT_ONCE_BYTES:
                self._push()
        self._push()
        if not self._report.sent:
            self._join()
        if marks.sessions and state.fact(STORE) != store:
            state.set_fact(STORE, store)

    def _join(self) -> None:
        """Join the segments of months that have many. It moves all of them once more, so that it
        is left to a sync with nothing new: nobody waits for that one."""
        state, own = self._remote.state, self._machine.id
        joined = state.facts(f"{_JOINED}{own}/")
        many = {
            name: branch.number
            for (who, name), branch in state.branches().items()
            if who == own and branch.number - int(joined.get(name, 0)) >= JOIN_EVERY
        }
        for month in many:
            self._month(month).join()
        if many:
            self._push()
        for month, number in many.items():
            state.set_fact(f"{_JOINED}{own}/{month}", str(number))

    def _add(self, session_id: str, batch: Batch) -> None:
        hash_ = self._remote.key.hash(session_id)
        entry = self._remote.state.entry(self._machine.id, hash_)
        if entry is None or entry.kind != KEY:
            self._set_entries([self._remote.key.wrapped(self._machine.id, hash_)])
        small = [item for item in batch.items if len(item.data) <= MOST_ITEM]
        if len(small) < len(batch.items):
            self._report.complain(f"part of session {session_id[:8]} is too large to send")
        for month, items in _by_month(small).items():
            for some in _divided(items):
                self._bytes += self._month(month).add(Talk(session_id, some), hash_)
        self._report.sent.add(session_id)

    def _month(self, month: str) -> MonthBranch:
        if month not in self._months:
            known = self._remote.state.branches().get((self._machine.id, month), Branch(""))
            self._months[month] = MonthBranch(self._remote, self._machine.id, month, known)
        return self._months[month]

    def bury(self, deleted: Sequence[str]) -> None:
        """Put a tombstone in the place of the key of each deleted session, here or elsewhere."""
        state, key, own = self._remote.state, self._remote.key, self._machine.id
        hashes = {key.hash(session_id) for session_id in deleted}
        if gone := state.deleted():
            hashes |= {each.hash for each in state.entries(own) if each.kind == KEY} & gone
        stones = [
            key.tombstone(own, each)
            for each in sorted(hashes)
            if (known := state.entry(own, each)) is None or known.kind == KEY
        ]
        if stones:
            self._set_entries(stones, squash=True)

    def _set_entries(self, entries: Iterable[Entry], *, squash: bool = False) -> None:
        # Noted before anything is pushed: after a kill the same keys are used again.
        state = self._remote.state
        rows = list(entries)
        with state.saving():
            state.set_entries(self._machine.id, rows)
            dirty = set(state.fact(_DIRTY).split()) | {_bucket(each.hash) for each in rows}
            state.set_fact(_DIRTY, " ".join(sorted(dirty)))
            if squash:
                state.set_fact(_SQUASH, "yes")

    def _push(self) -> None:
        git, state, own = self._remote.git, self._remote.state, self._machine.id
        branches = {month: branch.commit() for month, branch in self._months.items()}
        dirty = state.fact(_DIRTY).split()
        buckets: dict[str, str] = {}
        is_named = state.fact(_NAME) == self._machine.name
        if dirty or not is_named or (own, KEYS) not in state.branches():
            branches[KEYS], buckets = self._commit_keys(dirty)
        # What the remote lost is pushed again with the rest.
        for (who, name), branch in state.branches().items():
            if who == own and name not in branches and self._there.get(name) != branch.tip:
                branches[name] = branch
        if branches:
            for name, branch in branches.items():
                git.set_ref(f"{own}/{name}", branch.tip)
            self._update(branches)
        elif not self._sent:
            return
        had_deleted = bool(buckets and state.fact(_SQUASH))
        with state.saving():
            for name, branch in branches.items():
                state.set_branch(own, name, branch)
            state.set_sent(self._sent)
            if buckets:
                state.set_buckets(own, buckets)
                state.set_fact(_DIRTY, "")
                state.set_fact(_SQUASH, "")
                state.set_fact(_NAME, self._machine.name)
        if had_deleted:
            # The key here opens what our own repository keeps: there, too, it has to be gone.
            git.note_pushed({f"{own}/{name}": branch.tip for name, branch in branches.items()})
            git.pack(at_once=True)
        self._months, self._sent, self._bytes = {}, {}, 0

    def _update(self, branches: Mapping[str, Branch]) -> None:
        """Push the branches. LostRace if one is not as it was fetched."""
        state, own = self._remote.state, self._machine.id
        # The keys first: without them nobody can open the rest.
        updates = [
            Update(f"{own}/{name}", branch.tip, self._there.get(name))
            for name, branch in sorted(branches.items(), key=lambda each: each[0] != KEYS)
        ]
        refused = self._remote.git.push(updates)
        if not refused:
            self._there |= {name: branch.tip for name, branch in branches.items()}
            return
        why = next(iter(refused.values()))
        if f"{own}/{KEYS}" in refused and state.fact(_SQUASH) and "stale info" not in why:
            state.set_fact(_KEEPS_PAST, "yes")
            self._report.complain("the remote's history still has the keys of deleted sessions")
        raise LostRace(why)

    def _commit_keys(self, dirty: Sequence[str]) -> tuple[Branch, dict[str, str]]:
        remote, own = self._remote, self._machine.id
        known = remote.state.branches().get((own, KEYS), Branch(""))
        buckets = remote.state.buckets(own)
        for name in dirty:
            rows = [tuple(entry) for entry in remote.state.entries(own, name)]
            buckets[name] = remote.git.write_blob(msgspec.msgpack.encode(rows))
        if NAME_FILE not in buckets or remote.state.fact(_NAME) != self._machine.name:
            sealed = remote.key.seal_name(self._machine)
            buckets[NAME_FILE] = remote.git.write_blob(sealed)
        forgets = remote.state.fact(_SQUASH) and not remote.state.fact(_KEEPS_PAST)
        entries = [TreeEntry(name, sha) for name, sha in sorted(buckets.items())]
        tip = remote.git.write_commit(entries, None if forgets else known.tip or None)
        return Branch(tip), buckets

    def _adopt(self, name: str, tip: str) -> bool:
        """Note that a branch was pushed; False if it cannot be read."""
        remote, own = self._remote, self._machine.id
        files = remote.git.listing(tip)
        if name == KEYS:
            remote.state.set_buckets(own, {file.name: file.sha for file in files})
            remote.state.set_branch(own, name, Branch(tip))
            return True
        places = {place: f.sha for f in files if (place := place_of(own, name, f.name))}
        last = max(places)
        blob = next(remote.git.blobs([places[last]]))
        try:
            _, link = decoded(blob or b"", last, remote.key)
        except CannotRead:
            return False
        remote.state.set_branch(own, name, Branch(tip, last.last, link.after))
        return True

    def _take_other_name(self) -> None:
        """Begin anew under another name: a copy of this store writes under the same one."""
        state, old = self._remote.state, self._machine.id
        deleted = [each.hash for each in state.entries(old) if each.kind == DELETED]
        self._machine = self._remote.records.renew_machine()
        new = self._machine.id
        with state.saving():
            state.forget_machine(old)
            state.forget_sent()
            # What was deleted under the old name stays deleted, whatever the remote has of it.
            state.set_entries(new, [self._remote.key.tombstone(new, each) for each in deleted])
            state.set_fact(_DIRTY, " ".join(sorted({_bucket(each) for each in deleted})))
            state.set_fact(STORE, "")


def _by_month(items: Sequence[Item]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    now = clock.now()
    for item in items:
        # A time that cannot be understood, or is to come, counts as now.
        at = item.at if clock.EPOCH < item.at <= now else now
        found.setdefault(at[_MONTHS], []).append(item.data)
    return found


def _divided(items: Sequence[bytes]) -> Iterable[list[bytes]]:
    some: list[bytes] = []
    size = 0
    for item in items:
        if some and size + len(item) > FRAME_BYTES:
            yield some
            some, size = [], 0
        some.append(item)
        size += len(item)
    if some:
        yield some


def _bucket(hash_: bytes) -> str:
    return hash_[:1].hex()


def _written(mark: Mark) -> str:
    return ".".join(map(str, mark))
