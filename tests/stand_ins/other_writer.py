"""Another window with a session open, as far as the disk can tell."""

from __future__ import annotations

from ollm_tui.core import clock
from ollm_tui.core.session.record import AnyRecord, MessageFinished, TextAppended
from ollm_tui.storage.sessions.session_store import SessionStore
from tests.crash.samples import added, user_message


class OtherWriter:
    """Holds the lock of a session from the beginning to `close`."""

    def __init__(self, store: SessionStore, session_id: str) -> None:
        self._writer, loaded = store.open(session_id)
        self.state = loaded.state

    def say(self, key: str, text: str = "") -> None:
        """Add a message of the user's at the end."""
        self.record(added(user_message(key, text, self.state.header.head)))

    def grow(self, key: str, text: str) -> None:
        """Add words to a message."""
        self.record(TextAppended(at=clock.now(), message_id=key, part="text", text=text))

    def finish(self, key: str) -> None:
        """No more words come to a message."""
        self.record(MessageFinished(at=clock.now(), message_id=key, status="complete"))

    def record(self, *records: AnyRecord) -> None:
        """Write facts into the journal."""
        entries = list(enumerate(records, self.state.header.journal_seq + 1))
        for seq, record in entries:
            self.state.apply(record, seq)
        self._writer.append(entries)

    def fold(self) -> None:
        """Write everything into the session file."""
        self._writer.fold(self.state.session())

    def close(self) -> None:
        """Leave the session, as at the end of a program."""
        self.fold()
        self._writer.close()
