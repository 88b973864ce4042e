"""What a journal on disk says: records, also those in side files, and what is lost of it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ollm_tui.core.session.encoding import CannotDecode, decode_record, encode
from ollm_tui.core.session.message import FileRef
from ollm_tui.core.session.record import RecordInFile
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.cipher import CannotOpenError
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.sessions.journal import (
    Entry,
    OpenPayload,
    as_it_is,
    journal_line,
    parse_journal,
)


class LostRecord(NamedTuple):
    """A record whose side file is gone or damaged."""

    seq: int
    line: bytes
    remains: bytes


class RecordsRead(NamedTuple):
    """The records of a journal that can be read, and what is left of the others."""

    entries: list[Entry]
    damaged: list[bytes]
    lost: list[LostRecord]
    unended: bool = False
    """Whether the last line has no end: the next record must not join it."""
    breaks_off_at_once: bool = False
    """Whether there is no more than the beginning of the very first record."""
    problem: str | None = None
    """Why the journal cannot be read at all."""

    def without_losses_up_to(self, seq: int) -> RecordsRead:
        """The same where the session file has the records up to a number itself."""
        return self._replace(lost=[record for record in self.lost if record.seq > seq])

    @property
    def losses(self) -> int:
        """How many records cannot be read."""
        return len(self.damaged) + len(self.lost)

    @property
    def torn(self) -> tuple[bytes, ...]:
        """Everything that cannot be read; not empty if the journal must not be continued."""
        lines = [*self.damaged, *(line for lost in self.lost for line in lost[1:] if line)]
        return (*lines, b"") if self.unended else tuple(lines)


def read_records(
    path: Path, side_files: SideFiles, open_payload: OpenPayload = as_it_is
) -> RecordsRead:
    """Read a journal; one that does not exist has no records."""
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return RecordsRead([], [], [], breaks_off_at_once=True)
    except OSError as error:
        return RecordsRead([], [], [], problem=f"its journal: {error.strerror or error}")
    try:
        contents = parse_journal(data, open_payload)
    except CannotOpenError as error:
        return RecordsRead([], [], [], problem=str(error))
    entries: list[Entry] = []
    lost: list[LostRecord] = []
    for seq, record in contents.entries:
        if isinstance(record, RecordInFile):
            try:
                record = decode_record(side_files.get(record.file))
            except (OSError, CannotDecode):
                line = journal_line(seq, encode(record)).rstrip()
                lost.append(LostRecord(seq, line, _remains(side_files, record.file)))
                continue
        entries.append((seq, record))
    return RecordsRead(
        entries,
        contents.damaged,
        lost,
        unended=bool(data) and not data.endswith(b"\n"),
        breaks_off_at_once=b"\n" not in data and b" 1 ".startswith(data[8:11]),
    )


def _remains(side_files: SideFiles, file: FileRef) -> bytes:
    try:
        return side_files.remains(file)
    except OSError:
        return b""
