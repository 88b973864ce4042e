"""The saved searches that all machines share: each is kept or forgotten, the latest wish counts."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.intake import clean
from ollm_tui.services.sessions.saved_lines import LONGEST, SavedLines
from ollm_tui.services.sync.port import Batch, Item, Machine, Mark
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.shared_file import replace

LINES = "searches.json"
WISHES = "searches-shared.json"
_MOST = 1000
"""Wishes that are remembered, the latest."""

log = logging.getLogger(__name__)


class Wish(msgspec.Struct, frozen=True, order=True, omit_defaults=True):
    """When the user kept or forgot a search; of two wishes the greater one counts."""

    at: str
    kept: bool
    text: str
    machine: str = ""
    """The machine on which that was; empty if it is this one."""
    number: int = 0


class SharedSearches:
    """The saved searches in one folder."""

    def __init__(self, folder: Path) -> None:
        self._lines = SavedLines(folder / LINES)
        self._files = (folder / LINES, folder / WISHES)

    def mark(self) -> Mark:
        """Return what changes when a search is saved or forgotten."""
        try:
            status = self._files[0].stat()
        except OSError:
            return (0, 0)
        return (status.st_size, status.st_mtime_ns)

    def since(self, cursor: str, machine: str) -> Batch:
        """Return the wishes of this machine after a cursor. OSError if they cannot be kept."""
        sender, _, number = cursor.partition(":")
        sent = int(number) if number.isdecimal() and sender == machine else 0
        own = [wish for wish in self._noticed().values() if not wish.machine]
        new = sorted((wish for wish in own if wish.number > sent), key=lambda wish: wish.number)
        items = [
            Item(
                wish.at,
                msgspec.json.encode(msgspec.structs.replace(wish, machine=machine)),
            )
            for wish in new
        ]
        last = max((wish.number for wish in own), default=sent)
        return Batch(items, f"{machine}:{max(last, sent)}")

    def merge(self, items: Sequence[bytes], machine: Machine) -> list[str]:
        """Take in the wishes of another machine; return why some were left out."""
        wishes = self._noticed()
        bad: list[str] = []
        for data in items:
            wish = _checked(data, machine.id)
            if wish is None:
                bad.append("it is no saved search")
                continue
            known = wishes.get(wish.text)
            if known is None or (wish.at, wish.kept) > (known.at, known.kept):
                wishes[wish.text] = wish
        self._write(wishes.values())
        self._fulfil(wishes)
        return bad

    def _noticed(self) -> dict[str, Wish]:
        """Return all wishes, after noting what the user kept or forgot here since."""
        wishes = {wish.text: wish for wish in self._read()}
        number = max((wish.number for wish in wishes.values() if not wish.machine), default=0)
        kept = set(self._lines.all())
        known = {text for text, wish in wishes.items() if wish.kept}
        for text in sorted(kept ^ known):
            number += 1
            wishes[text] = Wish(clock.now(), text in kept, text, number=number)
        if kept != known:
            self._write(wishes.values())
        return wishes

    def _fulfil(self, wishes: dict[str, Wish]) -> None:
        present = set(self._lines.all())
        for wish in sorted(wishes.values()):
            if wish.kept and wish.text not in present:
                self._lines.keep(wish.text)
            elif not wish.kept and wish.text in present:
                self._lines.forget(wish.text)

    def _read(self) -> tuple[Wish, ...]:
        try:
            return msgspec.json.decode(read_regular(self._files[1]), type=tuple[Wish, ...])
        except FileNotFoundError:
            return ()
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            log.warning("%s cannot be read: %s", self._files[1].name, error)
            return ()

    def _write(self, wishes: Iterable[Wish]) -> None:
        latest = sorted(wishes)[-_MOST:]
        replace(self._files[1], (msgspec.json.encode(latest),))


def _checked(data: bytes, machine: str) -> Wish | None:
    try:
        wish = msgspec.json.decode(data, type=Wish)
        is_usual = clock.iso(clock.parse(wish.at)) == wish.at
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None
    shown = " ".join(clean(wish.text).split())[:LONGEST]
    return wish if is_usual and wish.machine == machine and wish.text == shown != "" else None
