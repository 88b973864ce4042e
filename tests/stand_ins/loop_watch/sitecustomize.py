"""Notes what holds up the event loop of a program that is started with this on its PYTHONPATH.

The time is the CPU time of the loop's own thread: on a busy machine a quick callback can take
long by the clock. Nothing is noted before the file that `OLLM_TEST_LOOP` names exists.
"""

from __future__ import annotations

import os
import time
from asyncio import events
from pathlib import Path

SLOW_SECONDS = 0.02

_noted = Path(os.environ["OLLM_TEST_LOOP"])
_run = events.Handle._run


def _watched(self: events.Handle) -> None:
    begun = time.thread_time()
    _run(self)
    took = time.thread_time() - begun
    if took > SLOW_SECONDS and _noted.exists():
        with _noted.open("a") as file:
            file.write(f"{took * 1000:.0f} ms: {self!r}\n")


events.Handle._run = _watched
