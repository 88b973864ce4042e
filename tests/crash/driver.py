"""Runs a scenario again and again in forked children, each killed at another system call.

`python -m tests.crash.driver SCENARIO FOLDER` prints a line of JSON for every child.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from tests.crash.injection import Injection


class Child(NamedTuple):
    """What became of one child, and the store it left."""

    store: str
    killed_at: int | None
    call: str
    half_written: bool
    status: int
    told: list[str]
    unsynced: list[str]
    """What was told before everything it says was on disk."""


class Driver:
    """Forks children of a process that has no threads."""

    def __init__(self, scenario_name: str, folder: Path) -> None:
        self._injection = Injection()
        self._injection.install()
        # Only now: some modules of the store take functions out of `os` when they are loaded.
        self._scenario: Any = import_module("tests.crash.scenarios").ALL[scenario_name]
        self._layout: Any = import_module("ollm_tui.storage.store_layout").StoreLayout
        self._folder = folder

    def children(self) -> Iterator[Child]:
        """One that lives, to see what there is to interrupt, then one or two for every call."""
        self._scenario.prepare(self._layout(self._folder / "before" / "sessions"))
        living = self._child(None, "", False)
        report = json.loads(living.told.pop())
        yield living._replace(unsynced=report["unsynced"])
        calls: list[str] = report["calls"]
        for number, call in enumerate(calls):
            yield self._child(number, call, False)
            if call == "write":
                yield self._child(number, call, True)

    def _child(self, kill_at: int | None, call: str, half_written: bool) -> Child:
        store = self._folder / f"{kill_at}-{half_written}"
        shutil.copytree(self._folder / "before", store)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            self._injection.arm(kill_at, half_written=half_written)
            self._act(store, lambda words: _write_line(writing, words))
        os.close(writing)
        with os.fdopen(reading) as told:
            lines = told.read().splitlines()
        status = os.waitpid(child, 0)[1]
        return Child(str(store), kill_at, call, half_written, status, lines, [])

    def _act(self, store: Path, say: Callable[[str], None]) -> NoReturn:
        unsynced: list[str] = []

        def say_and_check(words: str) -> None:
            say(words)
            unsynced.extend(f"{words}: {path}" for path in self._injection.unsynced.paths)

        try:
            self._scenario.act(self._layout(store / "sessions"), say_and_check)
            say(json.dumps({"calls": self._injection.calls, "unsynced": unsynced}))
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(1)


def _write_line(descriptor: int, words: str) -> None:
    os.write(descriptor, f"{words}\n".encode())


if __name__ == "__main__":
    for each in Driver(sys.argv[1], Path(sys.argv[2])).children():
        print(json.dumps(each), flush=True)
