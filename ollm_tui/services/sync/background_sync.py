"""Syncing by itself, beside a front end: at the start, after a turn when idle, and at the end.

Each sync is a process of its own, so that it never takes a moment from whoever types, and goes on
when the program ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from threading import Event, Thread

from ollm_tui.core.intake import visible
from ollm_tui.services.topic import Topic

IDLE_SECONDS = 5.0
"""How long nothing must have ended before a sync begins."""
AFTER = ("turn-finished", "turn-cancelled", "turn-failed")
"""Events after which there is something to send."""
_NICENESS = 10
_COMMAND = ("-m", "ollm_tui", "sync", "--once", "--quiet")


class BackgroundSync:
    """Syncs now and then as long as a front end runs."""

    def __init__(self, environ: Mapping[str, str], seconds: float = IDLE_SECONDS) -> None:
        self._environ = dict(environ)
        self._seconds = seconds
        self._wanted = Event()
        self._heard = Event()
        self._closed = False
        self._problem = ""
        self.told: Topic[str] = Topic()
        """Passes on what is wrong, once, in one line; called in another thread."""
        self._thread = Thread(target=self._work, name="sync", daemon=True)

    def begin(self) -> None:
        """Sync soon, and whenever there is something new."""
        self._wanted.set()
        self._thread.start()

    def hear(self, tree: Mapping[str, object]) -> None:
        """Sync after what has happened, once nothing more happens."""
        if tree.get("event") in AFTER:
            self._heard.set()
            self._wanted.set()

    def close(self) -> None:
        """Sync once more, without waiting for it."""
        self._closed = True
        self._heard.set()
        self._wanted.set()
        self._start()

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            self._heard.clear()
            while self._heard.wait(self._seconds) and not self._closed:
                self._heard.clear()
            if self._closed:
                return
            process = self._start()
            if process is not None:
                _, complaint = process.communicate()
                self._tell(complaint.decode("utf-8", "replace") if process.returncode else "")

    def _start(self) -> subprocess.Popen[bytes] | None:
        nice = ("nice", "-n", str(_NICENESS)) if os.name == "posix" else ()
        try:
            return subprocess.Popen(
                (*nice, sys.executable, *_COMMAND),
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL if self._closed else subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            self._tell(str(error))
            return None

    def _tell(self, complaint: str) -> None:
        lines = complaint.strip().splitlines()
        last = lines[-1] if lines else ""
        problem = visible(last.removeprefix("ollm: ").removeprefix("warning: "))
        if problem and problem != self._problem:
            self.told.publish(problem)
        self._problem = problem
