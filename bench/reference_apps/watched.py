"""The program itself, with every callback on its event loop measured in CPU time of its thread.

`python -m bench.reference_apps.watched FILE [ARGUMENT …]` writes a line for each that takes long:
milliseconds, a blank, what ran.
"""

from __future__ import annotations

import gc
import sys
import time
from asyncio import Handle
from pathlib import Path
from typing import Any, TextIO

from ollm_tui.cli.main import run

NOTED_SECONDS = 0.01


def main() -> int:
    """Measure, then be the program."""
    with Path(sys.argv[1]).open("a", buffering=1) as report:
        _measure(report)
        sys.argv = ["ollm", *sys.argv[2:]]
        return run()


def _measure(report: TextIO) -> None:
    usual = Handle._run

    def measured(self: Handle) -> None:
        begun = time.thread_time()
        usual(self)
        if (took := time.thread_time() - begun) > NOTED_SECONDS:
            report.write(f"{took * 1000:.0f} {_name(self)}\n")

    def collected(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            started.append(time.thread_time())
        elif started and (took := time.thread_time() - started.pop()) > NOTED_SECONDS:
            report.write(f"{took * 1000:.0f} garbage collection\n")

    started: list[float] = []
    Handle._run = measured
    gc.callbacks.append(collected)


def _name(handle: Handle) -> str:
    callback: Any = getattr(handle, "_callback", None)
    task: Any = getattr(callback, "__self__", None)
    if hasattr(task, "get_coro"):
        return f"{task.get_name()} {getattr(task.get_coro(), '__qualname__', '')}"
    return getattr(callback, "__qualname__", repr(callback))


if __name__ == "__main__":
    sys.exit(main())
