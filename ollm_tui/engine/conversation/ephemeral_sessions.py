"""Sessions that never reach the disk: they last as long as the program runs."""

from __future__ import annotations

from ollm_tui.core.session.record import SessionChanged
from ollm_tui.core.session.session import Session, SessionSummary
from ollm_tui.core.session.session_state import SessionState


class EphemeralSessions:
    """Lists, finds, changes and discards sessions in memory, as the store does with its own."""

    def __init__(self, *, all_new: bool) -> None:
        self.all_new = all_new
        """Whether every new session is ephemeral, forks included."""
        self._states: dict[str, SessionState] = {}
        self._discarded: dict[str, SessionState] = {}

    def owns(self, session_id: str) -> bool:
        """Whether a session is ephemeral, so that nothing of it may be written; also a discarded
        one."""
        return session_id in self._states or session_id in self._discarded

    def add(self, state: SessionState) -> None:
        """Add a session; whoever records in it changes this very state."""
        self._states[state.header.session_id] = state

    def add_copy(self, session: Session) -> str:
        """Add a session that was copied from another one; returns its id."""
        self.add(SessionState(session))
        return session.session_id

    def get(self, session_id: str) -> SessionState | None:
        """The state of a session; None if it is not ephemeral, or discarded."""
        return self._states.get(session_id)

    def find(self, prefix: str) -> str | None:
        """The id that starts with a prefix; None unless there is exactly one."""
        found = [key for key in self._states if prefix and key.startswith(prefix.lower())]
        return found[0] if len(found) == 1 else None

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the sessions that have messages."""
        return tuple(key for key, state in self._states.items() if len(state))

    def listed(self, kept: list[SessionSummary]) -> list[SessionSummary]:
        """The ephemeral sessions and the stored ones in one list, the latest first."""
        own = [self._states[key].summary() for key in self.ids]
        if not own:
            return kept
        return sorted([*own, *kept], key=lambda each: each.last_activity, reverse=True)

    def change(self, session_id: str, **fields: object) -> bool:
        """Set fields, named as on disk, of a session; False if it is not ephemeral."""
        if state := self._states.get(session_id):
            header = state.header
            record = SessionChanged(at=header.last_activity, fields=fields)
            state.apply(record, header.journal_seq + 1)
        return state is not None

    def discard(self, session_id: str) -> bool:
        """Take a session off the list; False if it is not ephemeral."""
        return _move(session_id, self._states, self._discarded)

    def restore(self, session_id: str) -> bool:
        """Bring a discarded session back; False if it was not ephemeral."""
        return _move(session_id, self._discarded, self._states)


def _move(key: str, here: dict[str, SessionState], there: dict[str, SessionState]) -> bool:
    if key not in here:
        return False
    there[key] = here.pop(key)
    return True
