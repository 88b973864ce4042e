"""The stores that killed children left behind, one by one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import REPOSITORY
from tests.crash.driver import Child
from tests.folders import quick_folder


class Crash(NamedTuple):
    """A store as a killed process left it, and what that process had told before."""

    told: list[str]
    library: SessionLibrary
    where: str
    unsynced: list[str]
    """What was told too early, by the child that was not killed."""


def crashes(scenario: str) -> Iterator[Crash]:
    """Every crash of a scenario, beginning with none: the child that was not killed."""
    with quick_folder() as folder:
        command = [sys.executable, "-m", "tests.crash.driver", scenario, folder]
        driver = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE)
        try:
            assert driver.stdout
            for line in driver.stdout:
                yield from _checked(Child(*json.loads(line)))
            assert driver.wait() == 0
        finally:
            driver.kill()  # when the test has seen enough
            driver.communicate()


def _checked(child: Child) -> Iterator[Crash]:
    died_of = os.WTERMSIG(child.status) if os.WIFSIGNALED(child.status) else 0
    assert died_of == (0 if child.killed_at is None else signal.SIGKILL), child
    library = SessionLibrary.at(StoreLayout(Path(child.store) / "sessions"))
    half = "in the middle of" if child.half_written else "before"
    where = f"killed {half} {child.call} {child.killed_at}"
    yield Crash(child.told, library, where, child.unsynced)
    library.close()
    shutil.rmtree(child.store)
