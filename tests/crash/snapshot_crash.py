"""The stores that killed children left behind, with their snapshots and sessions."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.snapshot_library import SnapshotLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import REPOSITORY
from tests.crash.driver import Child
from tests.folders import quick_folder


class Crash(NamedTuple):
    """A store as a killed process left it."""

    told: list[str]
    library: SnapshotLibrary
    sessions: SessionLibrary
    where: str
    unsynced: list[str]


def crashes(scenario: str) -> Iterator[Crash]:
    """Every crash of a scenario, beginning with none."""
    with quick_folder() as folder:
        command = [sys.executable, "-m", "tests.crash.snapshot_driver", scenario, folder]
        with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE) as driver:
            try:
                for line in driver.stdout or ():
                    yield from _left_behind(Child.read(line))
                assert driver.wait() == 0
            finally:
                driver.kill()  # when the test has seen enough


def _left_behind(child: Child) -> Iterator[Crash]:
    died_of = os.WTERMSIG(child.status) if os.WIFSIGNALED(child.status) else 0
    assert died_of == (0 if child.struck_at is None else signal.SIGKILL), child
    layout = StoreLayout(Path(child.store) / "sessions")
    sessions = SessionLibrary.at(layout)
    where = f"{child.fault} at {child.call} {child.struck_at}"
    yield Crash(child.told, SnapshotLibrary.at(layout), sessions, where, child.unsynced)
    sessions.close()
    shutil.rmtree(child.store)
