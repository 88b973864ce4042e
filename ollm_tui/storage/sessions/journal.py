"""The journal of a session: one line per record, with checksum and number; writing and reading."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ollm_tui.core.session.encoding import CannotDecode, decode_record, encode
from ollm_tui.core.session.message import FileRef
from ollm_tui.core.session.record import AnyRecord, RecordInFile, UnknownRecord
from ollm_tui.storage.files.atomic_file import read_regular, write_all
from ollm_tui.storage.files.cipher import CannotOpenError
from ollm_tui.storage.files.lock import is_in_place, open_locked
from ollm_tui.storage.files.side_files import SideFiles

_sync_data = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


_FIRST_BEGUN = re.compile(rb"[0-9a-f]{0,8}|[0-9a-f]{8} (?:1(?: [^\n]*)?)?")
"""The beginning of the very first record: its checksum, its number, and its JSON."""

Entry = tuple[int, AnyRecord]
"""A record with its number."""
OpenPayload = Callable[[int, bytes], bytes]
"""Returns the JSON of a record from its number and what stands in the line."""


def journal_line(seq: int, payload: bytes) -> bytes:
    """Return a record as it is written: checksum, number, JSON."""
    body = b"%d %s" % (seq, payload)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def as_it_is(seq: int, payload: bytes) -> bytes:
    """Return the payload unchanged: for journals that are not sealed."""
    return payload


class JournalContents(NamedTuple):
    """What the bytes of a journal hold."""

    entries: list[Entry]
    damaged: list[bytes]
    """Lines, or what is left of them, that cannot be read."""


def parse_journal(data: bytes, open_payload: OpenPayload = as_it_is) -> JournalContents:
    """Read every complete record, whatever stands between them."""
    entries: list[Entry] = []
    damaged: list[bytes] = []
    for line in data.split(b"\n"):
        if not line:
            continue
        # A block of zeros, as a power cut leaves it, has no line end: a record may follow it.
        before, zero, line_after = line.rpartition(b"\0")
        entry = _parse_line(line_after, open_payload)
        if entry is not None:
            entries.append(entry)
        if entry is None or zero:
            damaged.append(before + zero if entry else line)
    return JournalContents(entries, damaged)


def _parse_line(line: bytes, open_payload: OpenPayload) -> Entry | None:
    checksum, _, body = line.partition(b" ")
    number, _, payload = body.partition(b" ")
    try:
        if len(checksum) != 8 or int(checksum, 16) != zlib.crc32(body):
            return None
        seq = int(number)
    except ValueError:
        return None
    try:
        return seq, decode_record(open_payload(seq, payload))
    except CannotDecode:
        # The checksum holds, so this is what was written: by a version newer than this one.
        return seq, UnknownRecord(at="", raw={})


class JournalWriter:
    """A journal open for appending; holds the session's lock until it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = open_locked(path)
        self._torn = False
        self.length = os.fstat(self._descriptor).st_size

    def append(self, lines: list[bytes]) -> None:
        """Write lines, each by one write, and return when they are on disk.

        If that fails none of them stays: half a line would spoil the next one, and after a
        failed sync it is unknown what the disk has.
        """
        if self._torn:
            self._cut_back()
        try:
            for line in lines:
                write_all(self._descriptor, line)
            _sync_data(self._descriptor)
        except BaseException:
            self._torn = True
            self._cut_back()
            raise
        self.length += sum(map(len, lines))

    def empty(self) -> None:
        """Remove all records, which the session file has by now."""
        os.ftruncate(self._descriptor, 0)
        os.fsync(self._descriptor)
        self.length = 0

    @property
    def in_place(self) -> bool:
        """Whether the file is still the one that others find, read and lock."""
        return is_in_place(self._path, self._descriptor)

    def remove(self) -> None:
        """Remove the file, if it is still this one; the lock is held until `close`."""
        try:
            if self.in_place:
                self._path.unlink()
        except OSError:
            pass  # empty as it is, it may stay

    def close(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _cut_back(self) -> None:
        os.ftruncate(self._descriptor, self.length)
        self._torn = False


class LostRecord(NamedTuple):
    """A record whose side file is gone or damaged."""

    seq: int
    line: bytes
    remains: bytes


class RecordsRead(NamedTuple):
    """The records of a journal that can be read, and what remains of the others."""

    entries: list[Entry]
    """In the order of their numbers, each once."""
    damaged: list[bytes]
    lost: list[LostRecord]
    misplaced: int = 0
    """How many records stood after a later one."""
    gaps: int = 0
    """How many numbers are missing, besides those of damaged lines."""
    unended: bool = False
    """Whether the last line has no end: the next record must not join it."""
    breaks_off_at_once: bool = False
    """Whether there is no more than the beginning of the very first record."""
    problem: str | None = None
    """Why the journal cannot be read at all."""

    def after(self, seq: int) -> RecordsRead:
        """Leave out what concerns only the session file, which has the records up to a number."""
        lost = [record for record in self.lost if record.seq > seq]
        known = {number for number, _ in self.entries if number > seq}
        known.update(record.seq for record in lost)
        missing = max(known, default=seq) - seq - len(known)
        # A damaged line had a number too: it is one of those that are missing.
        return self._replace(lost=lost, gaps=max(missing - len(self.damaged), 0))

    @property
    def losses(self) -> int:
        """How many records cannot be read."""
        return len(self.damaged) + len(self.lost) + self.gaps

    @property
    def torn(self) -> tuple[bytes, ...]:
        """Everything that cannot be read; not empty if the journal must not be continued."""
        lines = [*self.damaged, *(line for lost in self.lost for line in lost[1:] if line)]
        # Nothing is lost by a missing line end, or by numbers that are out of order or missing,
        # but the journal must not be continued either.
        is_odd = self.unended or self.misplaced or self.gaps
        return (*lines, b"") if is_odd else tuple(lines)


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
    entries, misplaced, others = _in_order(entries)
    return RecordsRead(
        entries,
        [*contents.damaged, *others],
        lost,
        misplaced,
        unended=bool(data) and not data.endswith(b"\n"),
        breaks_off_at_once=_FIRST_BEGUN.fullmatch(data) is not None,
    )


def _in_order(entries: list[Entry]) -> tuple[list[Entry], int, list[bytes]]:
    """Return the records by their numbers, how many stood in the wrong place, and the lines of
    those whose number another one has."""
    found: dict[tuple[int, str], AnyRecord] = {}
    others: list[bytes] = []
    misplaced, latest = 0, 0
    for seq, record in entries:
        key = (seq, record.machine or "")
        # A record is written again when its first writing was uncertain.
        if key not in found:
            found[key] = record
            misplaced += seq < latest
            latest = max(latest, seq)
        elif found[key] != record:
            others.append(journal_line(seq, encode(record)).rstrip())
    in_order = found if not misplaced else sorted(found)
    return [(key[0], found[key]) for key in in_order], misplaced, others


def _remains(side_files: SideFiles, file: FileRef) -> bytes:
    try:
        return side_files.remains(file)
    except OSError:
        return b""
