"""Records of other machines that wait beside a session, because a program has it open.

They count as part of the session at once. Whoever opens it next puts them into its file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ollm_tui.core.errors import SessionBusy
from ollm_tui.core.session.encoding import encode
from ollm_tui.core.session.record import AnyRecord
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.cipher import CannotOpenError, Cipher
from ollm_tui.storage.sessions.journal import JournalWriter, journal_line, parse_journal
from ollm_tui.storage.store_layout import (
    JOURNAL_SUFFIX,
    StoreLayout,
    make_directory,
    sync_directory,
)


class Arrivals:
    """The waiting records of one session; the file is there only while some wait."""

    def __init__(self, layout: StoreLayout, session_id: str, cipher: Cipher) -> None:
        self._path = layout.arrivals(session_id)
        self._place = f"{session_id}/arrived"
        self._cipher = cipher

    def read(self) -> list[AnyRecord]:
        """Return the waiting records. What cannot be read is left out: a machine sends it again."""
        try:
            contents = parse_journal(read_regular(self._path), self._opened)
        except (OSError, CannotOpenError):
            return []
        return [record for _, record in contents.entries]

    def add(self, records: Sequence[AnyRecord]) -> None:
        """Append records durably. SessionBusy if another process is doing that, or OSError."""
        make_directory(self._path.parent)
        file = JournalWriter(self._path)
        try:
            if file.length:
                file.append([b"\n"])  # a crash may have left half a line
            file.append([self._line(record) for record in records])
            sync_directory(self._path.parent)
        finally:
            file.close()

    def hold(self) -> JournalWriter | None:
        """Lock the file so that none is added, until it is closed; None if there is none."""
        if not os.path.lexists(self._path):
            return None
        try:
            return JournalWriter(self._path)
        except SessionBusy:
            return None  # some are being added: the next one to open the session takes them

    def forget(self) -> None:
        """Remove what waits, with a session that is deleted."""
        self._path.unlink(missing_ok=True)

    def _line(self, record: AnyRecord) -> bytes:
        return journal_line(1, self._cipher.seal(encode(record), self._place))

    def _opened(self, seq: int, payload: bytes) -> bytes:
        return self._cipher.open(payload, self._place)


def waiting(layout: StoreLayout) -> list[str]:
    """Return the sessions for which records wait."""
    try:
        found = list(layout.arrived.iterdir())
    except OSError:
        return []
    return [path.stem for path in found if path.suffix == JOURNAL_SUFFIX]
