"""Syncing a store with its remote: fetch, take in, send; each step may be killed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from ollm_tui.core import clock
from ollm_tui.core.errors import OllmError, StoreError
from ollm_tui.services.sync.port import Marks
from ollm_tui.services.sync.receiving import Receiving
from ollm_tui.services.sync.remote import KEYS, NAMES, Remote, SyncReport
from ollm_tui.services.sync.sending import STORE, LostRace, Sending
from ollm_tui.storage.sync.bare_git import THEIRS, SyncError
from ollm_tui.storage.sync.deletions import Deletions

ATTEMPTS = 3
"""How often a sync begins again when its push came too late."""
LAST_SYNC = "last-sync"
PROBLEM = "problem"
_UNCHANGED = Marks({}, "")
"""Marks of no session, since none has anything new."""


class SyncStatus(NamedTuple):
    """How things stand, without asking the remote."""

    last_sync: str
    """When it last worked; empty if never."""
    problem: str
    """What was wrong the last time."""
    to_send: Collection[str]
    """Sessions with something new."""
    to_delete: int
    """How many deleted sessions the other machines have not been told of."""
    machines: tuple[str, ...]
    """What people call the other machines."""


class Syncing:
    """One store and one remote; the caller holds the lock of the store's sync folder."""

    def __init__(
        self, remote: Remote, deletions: Deletions, before_merge: Callable[[], None]
    ) -> None:
        """`before_merge` is called before sessions here are changed."""
        self._remote = remote
        self._deletions = deletions
        self._before_merge = before_merge

    def once(self, *, dry_run: bool = False) -> SyncReport:
        """Sync once; with `dry_run` the report says what would be done, and nothing is.

        SyncError if the remote cannot be used at all.
        """
        report = SyncReport()
        try:
            self._remote.git.prepare()
            for left in reversed(range(ATTEMPTS)):
                marks, offered = self._look()
                if dry_run:
                    return self._foreseen(marks, offered)
                try:
                    self._exchange(marks, offered, report)
                    break
                except LostRace as lost:
                    if not left:
                        report.complain(f"the remote rejected the push: {lost}")
        except OllmError as error:
            self._remote.state.set_fact(PROBLEM, error.message)
            raise
        self._note(report)
        self._remote.git.pack()
        with suppress(SyncError):  # all was synced; another machine can do it as well
            self._remote.git.pack_remote()
        return report

    def introduce(self) -> None:
        """Tell the remote who syncs with it, and nothing more: from then on its key is settled.

        SyncError if the remote cannot be used or takes nothing.
        """
        self._remote.git.prepare()
        self._remote.git.fetch()
        offered = self._remote.git.refs(THEIRS)
        sending = Sending(self._remote, SyncReport())
        sending.settle(offered)
        try:
            sending.send(_UNCHANGED, offered)
        except LostRace as lost:
            raise SyncError(f"the remote takes nothing: {lost}", "may you push there?") from lost

    def status(self) -> SyncStatus:
        """Return how things stand, without asking the remote."""
        state, records = self._remote.state, self._remote.records
        names = state.facts(NAMES)
        names.pop(records.machine.id, None)
        return SyncStatus(
            state.fact(LAST_SYNC),
            state.fact(PROBLEM),
            self._to_send(records.marks()),
            len(self._deletions.all()),
            tuple(sorted(names.values())),
        )

    def _look(self) -> tuple[Marks, Mapping[str, str]]:
        """Look at both sides at once: git fetches while the store here is gone through."""
        records, store = self._remote.records, self._remote.state.fact(STORE)
        with ThreadPoolExecutor(1) as pool:
            fetching = pool.submit(self._remote.git.fetch)
            marks = _UNCHANGED if store and records.is_still(store) else records.marks()
            fetching.result()
        return marks, self._remote.git.refs(THEIRS)

    def _exchange(self, marks: Marks, offered: Mapping[str, str], report: SyncReport) -> None:
        sending = Sending(self._remote, report)
        is_other = sending.settle(offered)
        deleted = self._deletions.all()
        sending.bury(deleted)
        receiving = Receiving(self._remote, report, self._before_merge)
        receiving.receive(offered)
        if receiving.is_among_strangers(offered):
            return
        if is_other or report.received or report.deleted:
            marks = self._remote.records.marks()
        sending.send(marks, offered)
        if deleted:
            self._deletions.forget(deleted)

    def _foreseen(self, marks: Marks, offered: Mapping[str, str]) -> SyncReport:
        report = SyncReport(sent=self._to_send(marks))
        known = self._remote.state.branches()
        for machine, name, _ in Receiving(self._remote, report, lambda: None).pending(offered):
            # A machine that is new and has sent nothing yet has only introduced itself.
            if name != KEYS or (machine, name) in known:
                report.received.add(self._remote.name_of(machine))
        return report

    def _to_send(self, marks: Marks) -> set[str]:
        found: set[str] = set()
        for session_id, cursor in Sending(self._remote, SyncReport()).pending(marks).items():
            try:
                if self._remote.records.since(session_id, cursor).items:
                    found.add(session_id)
            except (StoreError, OSError):
                continue  # sending it says why
        return found

    def _note(self, report: SyncReport) -> None:
        state = self._remote.state
        problem = report.problems[0] if report.problems else ""
        if state.fact(PROBLEM) != problem:
            state.set_fact(PROBLEM, problem)
        state.set_fact(LAST_SYNC, clock.now())
