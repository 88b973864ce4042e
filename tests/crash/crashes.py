"""The stores that children left behind which were killed or failed, one by one."""

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
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import REPOSITORY
from tests.crash.driver import Child
from tests.crash.injection import Fault
from tests.crash.samples import NOT_SAVED
from tests.folders import quick_folder

DEADLY: tuple[Fault, ...] = ("kill", "kill half-written", "power")


class Crash(NamedTuple):
    """A store as a struck process left it, and what that process had told."""

    told: list[str]
    warned: bool
    """Whether it also told that something is not saved, or ended with an error."""
    library: SessionLibrary
    where: str
    unsynced: list[str]
    """What was told too early, by the child that was not killed."""


def crashes(scenario: str, fault: Fault = "kill") -> Iterator[Crash]:
    """Every crash of a scenario, beginning with none: the child that was not struck."""
    with quick_folder() as folder:
        command = [sys.executable, "-m", "tests.crash.driver", scenario, folder, fault]
        driver = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE)
        try:
            assert driver.stdout
            for line in driver.stdout:
                yield from _checked(Child.read(line))
            assert driver.wait() == 0
        finally:
            driver.kill()  # when the test has seen enough
            driver.communicate()


def _checked(child: Child) -> Iterator[Crash]:
    died_of = os.WTERMSIG(child.status) if os.WIFSIGNALED(child.status) else 0
    dies = child.struck_at is not None and child.fault in DEADLY
    assert died_of == (signal.SIGKILL if dies else 0), child
    library = SessionLibrary.at(StoreLayout(Path(child.store) / "sessions"))
    where = f"{child.fault} at {child.call} {child.struck_at}"
    told = [words for words in child.told if words != NOT_SAVED]
    warned = NOT_SAVED in child.told or child.status != 0
    yield Crash(told, warned, library, where, child.unsynced)
    library.close()
    shutil.rmtree(child.store)
