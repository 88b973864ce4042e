"""Repairs damaged sessions: what their files and snapshots still hold becomes a new session."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionDamaged, SessionNotFound, SessionTooLarge, StoreError
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.record import SessionChanged
from ollm_tui.core.session.session import Metadata, Session, copied, new_session_id
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot, metadata_at
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.restore_plan import forked
from ollm_tui.storage.sessions.salvage import salvage
from ollm_tui.storage.snapshots.snapshot_store import snapshots_beside


def repair(library: SessionLibrary, session_id: str) -> str | None:
    """Copy what can be read of a damaged session into a new one; return its id, None if nothing.

    Where its snapshots know more, they complete it. The damaged files stay as they are.
    """
    session = salvage(library.store.layout, session_id, new_session_id())
    for snapshot in _snapshots(library, session_id):
        session = _completed(session, snapshot) if session else _begun_by(snapshot)
    return library.add(session) if session else None


def damaged(library: SessionLibrary) -> list[str]:
    """Return the sessions that cannot be read, or of which one file cannot."""
    found: list[str] = []
    for name in library.store.directory.fingerprints():
        try:
            if library.load(name).damaged:
                found.append(name)
        except SessionTooLarge:
            continue  # nothing is wrong with it
        except SessionDamaged:
            found.append(name)
        except SessionNotFound:
            continue  # it is gone by now, or has no record yet
    return found


def _snapshots(library: SessionLibrary, session_id: str) -> list[ContextSnapshot]:
    """Return the snapshots of a session that can be read, the newest first."""
    store = snapshots_beside(library.store)
    found: list[ContextSnapshot] = []
    for summary in store.summaries(session_id):
        try:
            found.append(store.read(session_id, summary.id).snapshot)
        except StoreError:
            continue  # it is damaged, too
    return found


def _begun_by(snapshot: ContextSnapshot) -> Session:
    return replace(forked(snapshot), title=f"{snapshot.summary} (repaired)")


def _completed(session: Session, snapshot: ContextSnapshot) -> Session:
    """Return a session with the messages that only a snapshot has, and with its end if later."""
    state = SessionState(session)
    missing = [message for message in snapshot.sent() if message.id not in state]
    moment = clock.now()
    metadata = session.metadata
    if metadata == Metadata():  # it stands at the end of the file, which is lost
        metadata = copied(metadata_at(snapshot, metadata, moment))
    if not missing:
        return replace(session, metadata=metadata)
    trees = [to_tree(message) for message in missing]
    state.apply(SessionChanged(at=session.last_activity, fields={"messages": trees}), 0)
    ends = [key for key in (state.header.head, snapshot.head) if key and key in state]
    head = max(ends, key=lambda key: state[key].timestamp, default=session.head)
    return replace(state.session(), head=head, metadata=metadata)
