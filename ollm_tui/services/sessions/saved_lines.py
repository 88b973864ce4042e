"""Lines that are kept for the user: saved searches, favourite models, models used last.

Nothing here raises: what cannot be written is kept in memory, and the log says why.
"""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Lock

import msgspec

from ollm_tui.core.intake import clean
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.shared_file import replace

MOST = 100
"""How many lines are kept, if not fewer are wanted."""
LONGEST = 500
"""Characters of a line that are kept."""

log = logging.getLogger(__name__)


class SavedLines:
    """Stored in a file, or without one in memory until the program ends; usable in any thread."""

    def __init__(self, file: Path | None, most: int = MOST) -> None:
        self._file = file
        self._most = most
        self._known: tuple[str, ...] = ()
        self._lock = Lock()
        self.last = ""
        """The last line that was used since the program began."""

    def all(self) -> tuple[str, ...]:
        """Return the lines, the latest first."""
        with self._lock:
            return self._read()

    def keep(self, text: str) -> None:
        """Keep a line; one that is kept already becomes the latest."""
        text = " ".join(clean(text).split())[:LONGEST]
        with self._lock:
            others = (each for each in self._read() if each != text)
            if text:
                self._write((text, *others)[: self._most])

    def forget(self, text: str) -> None:
        """Remove a line."""
        with self._lock:
            self._write(tuple(each for each in self._read() if each != text))

    def _read(self) -> tuple[str, ...]:
        # Read each time: other instances of the program write the same file.
        if self._file is None:
            return self._known
        try:
            found = msgspec.json.decode(read_regular(self._file), type=tuple[str, ...])
        except FileNotFoundError:
            return self._known
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            log.warning("%s cannot be read: %s", self._file.name, error)
            return self._known
        return tuple(" ".join(clean(text).split())[:LONGEST] for text in found[: self._most])

    def _write(self, texts: tuple[str, ...]) -> None:
        self._known = texts
        if self._file is None:
            return
        try:
            replace(self._file, (msgspec.json.encode(texts),))
        except OSError as error:
            log.warning("%s cannot be kept: %s", self._file.name, error)
