"""Opening the remote of the settings: where its key and memory are, and the lock on them."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ollm_tui.core.errors import OllmError, SessionBusy, UsageError
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.sync.first_backup import back_up
from ollm_tui.services.sync.remote import KEYS, NAME_FILE, Remote, split_branch
from ollm_tui.services.sync.remote_key import RemoteKey
from ollm_tui.services.sync.session_records import SessionRecords
from ollm_tui.services.sync.syncing import Syncing
from ollm_tui.services.sync.this_machine import this_machine
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.files.cipher import CannotOpenError
from ollm_tui.storage.files.lock import open_locked
from ollm_tui.storage.store_layout import make_directory, remove_tree
from ollm_tui.storage.sync.bare_git import THEIRS, BareGit, NoAnswer, SyncError, remote_address
from ollm_tui.storage.sync.deletions import FOLDER, Deletions
from ollm_tui.storage.sync.sync_state import SyncState

NO_REMOTE = "no sync remote set"
SET_ONE = "ollm sync init git@host:me/sessions.git"
_MADE_ANEW = "what syncing remembers was damaged, and is made anew"
_MEGABYTE = 1_000_000
_LOOK_AGAIN_SECONDS = 0.2


class SyncBusy(OllmError):
    """Another process is syncing this store."""


class KeyMissing(UsageError):
    """Other machines use the remote, and nobody gave its key."""


class SyncPlace(NamedTuple):
    """Where everything about one remote is."""

    folder: Path
    """What belongs to the store, whatever the remote."""
    remote: str

    @property
    def own(self) -> Path:
        """The folder of this remote."""
        return self.folder / hashlib.sha256(self.remote.encode()).hexdigest()[:16]

    @property
    def memory(self) -> Path:
        """The folder of what was sent and seen."""
        return self.own / "memory"

    @property
    def key(self) -> Path:
        """The file of the remote's key."""
        return self.own / "key"


def sync_place(settings: Settings, library: SessionLibrary) -> SyncPlace:
    """Return where the files of syncing are. UsageError if no remote is set."""
    if not settings.sync.remote:
        raise UsageError(NO_REMOTE, SET_ONE)
    address = remote_address(settings.sync.remote, Path.home())
    return SyncPlace(library.store.layout.root / FOLDER, address)


def kept_key(place: SyncPlace, library: SessionLibrary) -> RemoteKey | None:
    """Return the key of the remote, if it is here. OllmError if it cannot be read."""
    return RemoteKey.kept(place.key, library.store.cipher)


@contextmanager
def opened(
    settings: Settings,
    library: SessionLibrary,
    environ: Mapping[str, str],
    *,
    patience: float = 0,
) -> Generator[Syncing]:
    """Open the remote of the settings for one process at a time; others wait so many seconds.

    UsageError if there is none or its key is not here, SyncBusy if another process has it.
    """
    place = sync_place(settings, library)
    key = kept_key(place, library)
    if key is None:
        raise UsageError("the remote's key is missing on this machine", "ollm sync init")
    with _locked(place, patience), _memory(place) as state:
        git = _git(settings, place, environ)
        layout = library.store.layout
        remote = Remote(git, key, state, SessionRecords(library))
        with _mending(git, place):
            yield Syncing(remote, Deletions(layout), lambda: _back_up_once(library, place, state))


def use_key(
    settings: Settings, library: SessionLibrary, environ: Mapping[str, str], given: str | None
) -> RemoteKey:
    """Take the key of the remote into use: the given one, or a new one for a new remote.

    KeyMissing if the remote is in use and none is given, UsageError if it is not the right one.
    SyncError.
    """
    place = sync_place(settings, library)
    make_directory(place.own)
    git = _git(settings, place, environ)
    with _locked(place), _mending(git, place):
        git.prepare()
        git.fetch()
        others = _names(git)
        if given is None and others:
            raise KeyMissing(
                "the remote is in use and its key is missing here",
                "ollm sync init shows it on a machine that syncs",
            )
        key = RemoteKey.from_text(given) if given else RemoteKey.new()
        if others and not any(_opens(key, machine, sealed) for machine, sealed in others.items()):
            raise UsageError(
                "that is the key of another remote", "ollm sync init shows the right one"
            )
        kept = kept_key(place, library)
        if kept and kept.text != key.text:
            # Nobody with this key can open what was sent before: it is sent anew.
            own = this_machine(library.store.layout.root).id
            git.remove({n: tip for n, tip in git.refs(THEIRS).items() if n.startswith(f"{own}/")})
            _forget(place)
        key.keep(place.key, library.store.cipher)
    return key


def _names(git: BareGit) -> dict[str, bytes]:
    """Return the sealed names of the machines that use the remote."""
    found: dict[str, bytes] = {}
    for name, tip in git.refs(THEIRS).items():
        split = split_branch(name)
        if split and split[1] == KEYS:
            files = {file.name: file.sha for file in git.listing(tip)}
            if NAME_FILE in files:
                found[split[0]] = next(git.blobs([files[NAME_FILE]])) or b""
    return found


def _opens(key: RemoteKey, machine: str, sealed: bytes) -> bool:
    try:
        key.open_name(machine, sealed)
    except CannotOpenError:
        return False
    return True


def _git(settings: Settings, place: SyncPlace, environ: Mapping[str, str]) -> BareGit:
    most = settings.sync.max_megabytes * _MEGABYTE
    return BareGit(place.memory / "repository.git", place.remote, environ, most_bytes=most)


@contextmanager
def _locked(place: SyncPlace, patience: float = 0) -> Generator[None]:
    make_directory(place.folder)
    until = time.monotonic() + patience
    while True:
        try:
            descriptor = open_locked(place.folder / "lock")
            break
        except SessionBusy as error:
            if time.monotonic() >= until:
                raise SyncBusy("another ollm is syncing", "try again in a moment") from error
        time.sleep(_LOOK_AGAIN_SECONDS)
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _memory(place: SyncPlace) -> Generator[SyncState]:
    path = place.memory / "state.sqlite"
    try:
        state = SyncState(path)
    except sqlite3.DatabaseError:
        _forget(place)
        state = SyncState(path)
    try:
        yield state
    except sqlite3.DatabaseError as error:
        _forget(place)
        raise OllmError(_MADE_ANEW, "ollm sync") from error
    finally:
        state.close()


@contextmanager
def _mending(git: BareGit, place: SyncPlace) -> Generator[None]:
    """Forget our own repository if it is damaged: all that is in it is elsewhere, too."""
    try:
        yield
    except NoAnswer:
        raise
    except SyncError as error:
        if git.is_whole():
            raise
        _forget(place)
        raise OllmError(_MADE_ANEW, "ollm sync") from error


def _forget(place: SyncPlace) -> None:
    """Begin anew: everything is sent once more, and what the others sent is read again."""
    remove_tree(place.memory)


def _back_up_once(library: SessionLibrary, place: SyncPlace, state: SyncState) -> None:
    if not state.fact("backed-up"):
        back_up(library.store.layout, place.folder)
        state.set_fact("backed-up", "yes")
