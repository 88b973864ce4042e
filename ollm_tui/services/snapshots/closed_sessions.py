"""Takes and restores snapshots of sessions that are not open, without a model.

Synchronous, like the libraries it works on. For an open session its conversation does this.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionDamaged, SessionNotFound, StoreError, UsageError
from ollm_tui.core.session.record import AnyRecord
from ollm_tui.core.session.session import Restore
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.timeline import tokens_at
from ollm_tui.core.snapshot import ContextSnapshot, Reason, SnapshotSummary, snapshot_of
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.restore_plan import forked, restoration, ways_back
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary, one_line
from ollm_tui.settings.schema import Snapshots as Settings

log = logging.getLogger(__name__)


def present(state: SessionState, reason: Reason = "manual", name: str = "") -> ContextSnapshot:
    """Return a session as it is as a snapshot that is not stored, with its last known tokens."""
    metadata, head = state.header.metadata, state.header.head
    tokens = metadata.token_count or (tokens_at(state, head) if head else 0)
    return snapshot_of(
        state,
        tokens,
        parts=metadata.token_parts,
        estimated=metadata.tokens_estimated or not metadata.token_count,
        reason=reason,
        name=one_line(name),
    )


class ClosedSessions:
    """The sessions and snapshots of one store.

    StoreError if something cannot be done, OSError if the disk fails.
    """

    def __init__(
        self, sessions: SessionLibrary, snapshots: SnapshotLibrary, settings: Settings
    ) -> None:
        self._sessions = sessions
        self._snapshots = snapshots
        self._settings = settings

    def take(self, session_id: str, name: str = "") -> SnapshotSummary:
        """Store a snapshot of a session as it is.

        SessionBusy if it is open, UsageError if snapshots are switched off.
        """
        if not self._settings.enabled:
            raise UsageError("snapshots are off", "set snapshots.enabled: true")
        taken: list[SnapshotSummary] = []

        # Within `record`, which holds the session's lock; nothing is recorded.
        def look(state: SessionState) -> Sequence[AnyRecord]:
            if not len(state):
                raise StoreError("no messages in this session", "send a message first")
            taken.append(self._keep(present(state, "manual", name), state))
            return ()

        self._sessions.record(session_id, look)
        return taken[0]

    def restore(self, snapshot: ContextSnapshot) -> Restore:
        """Restore a snapshot in its session; a snapshot of now is taken first, to undo it.

        SessionBusy if the session is open; SessionDamaged or SessionReadOnly if it must not be
        written: then `fork` goes on from the snapshot.
        """
        notes: list[Restore] = []

        def go_back(state: SessionState) -> Sequence[AnyRecord]:
            safety = None
            if self._settings.enabled:
                safety = self._keep(present(state, "restore"), state).id
            moment = clock.now()
            plan = restoration(snapshot, state, moment)
            note = Restore(
                at=moment,
                snapshot=snapshot.id,
                title=snapshot.name or snapshot.summary,
                safety=safety,
                before=state.header.head,
            )
            notes.append(note)
            metadata = replace(plan.metadata, restores=(*plan.metadata.restores, note))
            return [replace(plan, metadata=metadata).record(moment)]

        self._sessions.record(snapshot.session_id, go_back)
        where = {"session": snapshot.session_id}
        log.info("snapshot %s restored", snapshot.id, extra=where)
        return notes[0]

    def fork(self, snapshot: ContextSnapshot) -> str:
        """Make a new session of a snapshot and return its id.

        Its own session may be open, gone or damaged.
        """
        try:
            source = self._sessions.load(snapshot.session_id).state
        except (SessionNotFound, SessionDamaged):
            source = None
        return self._sessions.add(forked(snapshot, source))

    def _keep(self, snapshot: ContextSnapshot, state: SessionState) -> SnapshotSummary:
        needed = ways_back(state.header.metadata.restores)
        taken = self._snapshots.create(snapshot, self._settings.max_count, needed).summary
        log.info("snapshot %s taken", taken.id, extra={"session": snapshot.session_id})
        return taken
