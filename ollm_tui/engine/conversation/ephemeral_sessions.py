"""Sessions that never reach the disk: they are here for as long as the program runs."""

from __future__ import annotations

from ollm_tui.core.session.record import SessionChanged
from ollm_tui.core.session.session import Session, SessionSummary
from ollm_tui.core.session.session_state import SessionState


class EphemeralSessions:
    """What a list shows of them, and what can be done with them, as with stored ones."""

    def __init__(self, *, all_new: bool) -> None:
        self.all_new = all_new
        """Whether every session that begins, forks included, is one of these."""
        self._states: dict[str, SessionState] = {}
        self._discarded: dict[str, SessionState] = {}

    def owns(self, session_id: str) -> bool:
        """Whether nothing of a session may be written, also if it was discarded."""
        return session_id in self._states or session_id in self._discarded

    def add(self, state: SessionState) -> None:
        """Hold one more; whoever records in it changes this state."""
        self._states[state.header.session_id] = state

    def add_copy(self, session: Session) -> str:
        """Hold a session that was copied from another; answers with its id."""
        self.add(SessionState(session))
        return session.session_id

    def get(self, session_id: str) -> SessionState | None:
        """One of them, if it is one."""
        return self._states.get(session_id)

    def find(self, prefix: str) -> str | None:
        """The id of the one that starts like this, if there is exactly one."""
        found = [key for key in self._states if prefix and key.startswith(prefix.lower())]
        return found[0] if len(found) == 1 else None

    @property
    def ids(self) -> tuple[str, ...]:
        """Those something was said in."""
        return tuple(key for key, state in self._states.items() if len(state))

    def listed(self, kept: list[SessionSummary]) -> list[SessionSummary]:
        """These together with the stored ones, the latest first."""
        own = [self._states[key].summary() for key in self.ids]
        if not own:
            return kept
        return sorted([*own, *kept], key=lambda each: each.last_activity, reverse=True)

    def change(self, session_id: str, **fields: object) -> bool:
        """Give fields of one other values, as on disk; False if it is none of these."""
        if state := self._states.get(session_id):
            header = state.header
            record = SessionChanged(at=header.last_activity, fields=fields)
            state.apply(record, header.journal_seq + 1)
        return state is not None

    def discard(self, session_id: str) -> bool:
        """Take one off the list; False if it is none of these."""
        return _move(session_id, self._states, self._discarded)

    def restore(self, session_id: str) -> bool:
        """Bring a discarded one back; False if it is none of these."""
        return _move(session_id, self._discarded, self._states)


def _move(key: str, here: dict[str, SessionState], there: dict[str, SessionState]) -> bool:
    if key not in here:
        return False
    there[key] = here.pop(key)
    return True
