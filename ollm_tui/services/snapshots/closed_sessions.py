"""Takes and restores snapshots of sessions that are not open, without a model.

Synchronous, like the libraries it works on. For an open session its conversation does this.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionNotFound, StoreError, UsageError
from ollm_tui.core.session.record import AnyRecord
from ollm_tui.core.session.session import Restore
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.timeline import tokens_at
from ollm_tui.core.snapshot import ContextSnapshot, Reason, SnapshotSummary, snapshot_of
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.restore_plan import forked, restoration, ways_back
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary, one_line
from ollm_tui.settings.schema import Snapshots as Settings


def present(state: SessionState, reason: Reason = "manual", name: str = "") -> ContextSnapshot:
    """Return a session as it is as a snapshot that is not stored, with its last known tokens."""
    tokens = state.header.metadata.token_count
    if not tokens and state.header.head:
        tokens = tokens_at(state, state.header.head)
    return snapshot_of(state, tokens, reason=reason, name=one_line(name))


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
            raise UsageError("snapshots are switched off", "set snapshots.enabled: true")
        taken: list[SnapshotSummary] = []

        # Within `record`, which holds the session's lock; nothing is recorded.
        def look(state: SessionState) -> Sequence[AnyRecord]:
            if not len(state):
                raise StoreError("nothing has been said in this session", "send a message first")
            taken.append(self._keep(present(state, "manual", name), state))
            return ()

        self._sessions.record(session_id, look)
        return taken[0]

    def restore(self, snapshot: ContextSnapshot) -> Restore:
        """Restore a snapshot in its session; a snapshot of now is taken first, to undo it.

        SessionBusy if the session is open.
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
        return notes[0]

    def fork(self, snapshot: ContextSnapshot) -> str:
        """Make a new session of a snapshot and return its id; its own may be open, or gone."""
        try:
            source = self._sessions.load(snapshot.session_id).state
        except SessionNotFound:
            source = None
        return self._sessions.add(forked(snapshot, source))

    def _keep(self, snapshot: ContextSnapshot, state: SessionState) -> SnapshotSummary:
        needed = ways_back(state.header.metadata.restores)
        return self._snapshots.create(snapshot, self._settings.max_count, needed).summary
