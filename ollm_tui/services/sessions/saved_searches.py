"""Searches that the user keeps, and what was looked for last.

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
LONGEST = 500

log = logging.getLogger(__name__)


class SavedSearches:
    """Kept in a file, or without one until the program ends. Any thread may ask."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: tuple[str, ...] = ()
        self._lock = Lock()
        self.last = ""
        """What was looked for last, since the program began."""

    def all(self) -> tuple[str, ...]:
        """The searches, the latest first."""
        with self._lock:
            return self._read()

    def keep(self, text: str) -> None:
        """Keep a search; one that is kept already becomes the latest."""
        text = " ".join(clean(text).split())[:LONGEST]
        with self._lock:
            others = (each for each in self._read() if each != text)
            if text:
                self._write((text, *others)[:MOST])

    def forget(self, text: str) -> None:
        """Keep a search no longer."""
        with self._lock:
            self._write(tuple(each for each in self._read() if each != text))

    def _read(self) -> tuple[str, ...]:
        if self._file is None:
            return self._known
        try:
            found = msgspec.json.decode(read_regular(self._file), type=tuple[str, ...])
        except FileNotFoundError:
            return self._known
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            log.warning("saved searches cannot be read: %s", error)
            return self._known
        return tuple(" ".join(clean(text).split())[:LONGEST] for text in found[:MOST])

    def _write(self, texts: tuple[str, ...]) -> None:
        self._known = texts
        if self._file is None:
            return
        try:
            replace(self._file, (msgspec.json.encode(texts),))
        except OSError as error:
            log.warning("a search cannot be kept: %s", error)
