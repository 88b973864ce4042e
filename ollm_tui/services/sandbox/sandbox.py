"""Finds the sandbox of this machine: the strongest that a canary could not get out of."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from shutil import which
from typing import Literal, NamedTuple

from ollm_tui.core.errors import JobError
from ollm_tui.core.intake import clean
from ollm_tui.services.sandbox.canary import Findings
from ollm_tui.services.sandbox.confinement import Confinement
from ollm_tui.services.sandbox.landlock import OLDEST, version
from ollm_tui.services.sandbox.probing import probed

PREFIX = "ollm-tmp-"
"""How the names of private directories begin."""
ABANDONED_SECONDS = 3600.0
"""How long an abandoned directory must be untouched: a younger one may not be locked yet."""


Level = Literal["bwrap", "landlock", "limits"]
Kind = Literal["bwrap", "landlock"]


class _Place(NamedTuple):
    scope: tuple[Path, ...]
    read_only: tuple[Path, ...]
    network: bool
    temporary: Path


class Sandbox(NamedTuple):
    """A sandbox for commands, and what a canary could do in it."""

    level: Level
    words: str
    """For the status bar: what it restricts, and no more than the canary showed."""
    confinement: Confinement | None
    """What every command of the model is started with; None if there are only limits."""
    findings: Findings
    notes: tuple[str, ...]
    """Why there is no stronger one."""
    confines: bool
    """Whether a command in it does nothing outside of the scope, and changes nothing inside that
    runs by itself later; see `protected` for what is known of that."""

    @classmethod
    def find(
        cls,
        scope: Sequence[Path],
        network: bool,
        read_only: Sequence[Path] = (),
        kinds: Sequence[Kind] = ("bwrap", "landlock"),
        temporary: Path | None = None,
    ) -> Sandbox:
        """The strongest sandbox that works here, found once for the same arguments.

        To be called in a thread, since it starts programs.
        """
        real = tuple(path.resolve() for path in scope)
        place = _Place(
            real,
            tuple(path.resolve() for path in read_only),
            network,
            temporary or Path(tempfile.gettempdir()),
        )
        return _find(place, tuple(kinds))


@cache
def _find(place: _Place, kinds: tuple[Kind, ...]) -> Sandbox:
    notes: list[str] = []
    for kind in kinds:
        try:
            confinement = _confinement(kind, place)
            found = probed(confinement, place.scope, place.temporary)
        except JobError as error:
            notes.append(f"{kind}: {clean(error.message)}")
            continue
        if weakness := _weakness(kind, found, place.network):
            notes.append(f"{kind}: {weakness}")
            continue
        # Landlock is used although it leaves gaps; whether it has any is judged like bubblewrap.
        confines = not _weakness("bwrap", found, place.network)
        return Sandbox(kind, _words(kind, found), confinement, found, tuple(notes), confines)
    found = probed(None, place.scope, place.temporary)
    return Sandbox("limits", "no sandbox: limits only", None, found, tuple(notes), False)


def _confinement(kind: Kind, place: _Place) -> Confinement:
    program = which("bwrap") or ""
    if Path("/") in place.scope:
        raise JobError("the whole machine is in the scope")
    if kind == "bwrap" and not program:
        raise JobError("bubblewrap is not installed")
    # One that jobs can write protects from nothing.
    if any(Path(program).resolve().is_relative_to(root) for root in place.scope):
        raise JobError("the bubblewrap found is inside the project")
    if kind == "landlock" and version() < OLDEST:
        raise JobError("the kernel has no Landlock, or an old one")
    return Confinement(
        kind=kind,
        program=program,
        scope=place.scope,
        read_only=place.read_only,
        network=place.network,
        temporary=place.temporary,
        private=private_directory().path if kind == "bwrap" else place.temporary,
    )


def _weakness(kind: Kind, found: Findings, network: bool) -> str:
    """What a canary could do, or could not do, that rules a sandbox out; empty if nothing."""
    if not found.reads or not found.writes_inside:
        return "programs do not run in it"
    if found.writes_outside:
        return "a test write left the scope"
    if kind == "landlock":
        return ""
    if found.writes_protected or found.changes_modes:
        return "a test write changed protected files"
    if not network and (found.tcp or found.udp):
        return "a test reached the network"
    return ""


def _words(kind: Kind, found: Findings) -> str:
    if kind == "bwrap":
        return f"✓ bwrap, {'network open' if found.tcp else 'no network'}"
    return "landlock: files only" if found.tcp else "landlock: files and TCP only"


class PrivateDirectory:
    """A directory for temporary files of jobs; it exists and is locked until the program ends."""

    def __init__(self) -> None:
        self._made = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        self.path = Path(self._made.name)
        # The kernel releases the lock when the program is killed.
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


@cache
def private_directory() -> PrivateDirectory:
    """The private directory of this program; making it removes what dead programs left."""
    remove_abandoned(Path(tempfile.gettempdir()))
    return PrivateDirectory()


def remove_abandoned(place: Path) -> None:
    """Remove the private directories of dead programs; to be called in a thread."""
    for path in place.glob(f"{PREFIX}*"):
        # It may be somebody else's, or gone already.
        with suppress(OSError):
            if _is_abandoned(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_abandoned(path: Path) -> bool:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return False
    if time.time() - found.st_mtime < ABANDONED_SECONDS:
        return False
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
