"""`ollm sync`: keeps sessions the same on several machines, through a git remote."""

from __future__ import annotations

import gc
import itertools
import os
import sys
import time
from argparse import Namespace
from collections.abc import Collection
from pathlib import Path

import msgspec

from ollm_tui.cli.store import load, open_library, passphrase_prompt
from ollm_tui.core import clock
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.services.logs import start_logging
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.sync.open_remote import (
    KeyMissing,
    SyncBusy,
    kept_key,
    opened,
    sync_place,
    use_key,
)
from ollm_tui.services.sync.port import SHARED
from ollm_tui.services.sync.remote import SyncReport
from ollm_tui.services.sync.remote_key import KEY_VARIABLE, RemoteKey
from ollm_tui.services.sync.syncing import SyncStatus
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.user_file import set_user_value
from ollm_tui.storage.sync.bare_git import remote_address

WATCH_SECONDS = 60
"""How long `--watch` waits between two syncs."""
NOTHING_NEW = "Nothing new."
QUIET_PATIENCE = 60.0
"""How long `--quiet` waits for another process that syncs."""


def run(arguments: Namespace) -> int:
    """Run one command of the group."""
    loaded = load()
    start_logging(loaded.locations.home, debug=arguments.debug)
    if arguments.remote and arguments.command != "init":
        raise UsageError("only init takes a remote", "ollm sync init REMOTE")
    if arguments.command == "init":
        return _init(loaded, arguments.remote)
    if arguments.command == "status":
        return _status(loaded)
    library = open_library(loaded)
    if arguments.watch:
        gc.enable()
        return _watch(loaded, library, arguments)
    return _once(loaded, library, arguments)


def _once(
    loaded: Loaded, library: SessionLibrary, arguments: Namespace, *, tells_nothing_new: bool = True
) -> int:
    # The one who asks for quiet is a program that ends: it has time, and may have the last word.
    patience = QUIET_PATIENCE if arguments.quiet else 0
    try:
        with opened(loaded.settings, library, os.environ, patience=patience) as syncing:
            report = syncing.once(dry_run=arguments.dry_run)
    except SyncBusy:
        if arguments.quiet:
            return 0  # the other one does it
        raise
    told = _foreseen(report) if arguments.dry_run else _done(report)
    if not arguments.quiet and (told != NOTHING_NEW or tells_nothing_new):
        print(told)
    for problem in report.problems:
        sys.stderr.write(f"ollm: warning: {visible(problem)}\n")
    return 1 if report.problems else 0


def _watch(loaded: Loaded, library: SessionLibrary, arguments: Namespace) -> int:
    for rounds in itertools.count():
        try:
            _once(loaded, library, arguments, tells_nothing_new=not rounds)
        except UsageError:
            raise
        except OllmError as error:  # such as no network: the next time may do
            sys.stderr.write(f"ollm: warning: {visible(error.message)}\n")
        sys.stdout.flush()
        time.sleep(WATCH_SECONDS)
    return 0


def _status(loaded: Loaded) -> int:
    with opened(loaded.settings, open_library(loaded), os.environ) as syncing:
        status = syncing.status()
    print(f"remote    {visible(loaded.settings.sync.remote or '')}")
    print(f"last sync {_when(status)}")
    print(f"to send   {_what(status.to_send) or 'nothing'}")
    if status.to_delete:
        print(f"to delete {counted(status.to_delete, 'session')}")
    if status.machines:
        print(f"machines  {', '.join(map(visible, status.machines))}")
    if status.problem:
        print(f"problem   {visible(status.problem)}")
    return 0


def _init(loaded: Loaded, remote: str | None) -> int:
    if remote:
        if "://" not in remote and Path(remote).is_dir():
            remote = str(Path(remote).resolve())
        remote_address(remote, loaded.locations.user_home)
        settings = loaded.settings
        sync = msgspec.structs.replace(settings.sync, remote=remote)
        loaded = msgspec.structs.replace(
            loaded, settings=msgspec.structs.replace(settings, sync=sync)
        )
    library = open_library(loaded)
    place = sync_place(loaded.settings, library)
    given = os.environ.get(KEY_VARIABLE)
    key = None if given else kept_key(place, library)
    is_new = key is None
    if key is None:
        key = _use_key(loaded, library, given)
    if is_new or remote:
        with opened(loaded.settings, library, os.environ) as syncing:
            syncing.introduce()
    if remote:
        set_user_value(loaded.locations.user_config, ("sync", "remote"), remote)
    print(f"Syncing with {visible(place.remote)}.\n")
    print(f"Encryption key:\n  {key.text}\n")
    print(f"On the next machine: ollm sync init {visible(loaded.settings.sync.remote or '')}")
    print("It asks for this key. Keep a copy: without it the remote cannot be read.")
    return 0


def _use_key(loaded: Loaded, library: SessionLibrary, given: str | None) -> RemoteKey:
    try:
        return use_key(loaded.settings, library, os.environ, given)
    except KeyMissing:
        ask = passphrase_prompt()
        if ask is None:
            raise
        return use_key(loaded.settings, library, os.environ, ask("Encryption key: "))


def _done(report: SyncReport) -> str:
    words = [
        f"{_what(report.sent)} sent" if report.sent else "",
        f"{_what(report.received)} received" if report.received else "",
        f"{_what(report.deleted)} deleted" if report.deleted else "",
    ]
    told = ", ".join(filter(None, words))
    return f"{told}." if told else NOTHING_NEW


def _foreseen(report: SyncReport) -> str:
    words = [
        f"{_what(report.sent)} would be sent" if report.sent else "",
        f"new data from {', '.join(sorted(map(visible, report.received)))}"
        if report.received
        else "",
    ]
    told = "; ".join(filter(None, words))
    return f"{told[0].upper()}{told[1:]}." if told else NOTHING_NEW


def _what(names: Collection[str]) -> str:
    sessions = len(names) - (SHARED in names)
    words = [counted(sessions, "session")] if sessions else []
    return " and ".join([*words, "saved searches"] if SHARED in names else words)


def _when(status: SyncStatus) -> str:
    if not status.last_sync:
        return "never"
    return f"{clock.parse(status.last_sync).astimezone():%Y-%m-%d %H:%M}"
