"""Runs a scenario again and again in forked children, each struck at another system call.

`python -m tests.crash.driver SCENARIO FOLDER FAULT` prints a line of JSON for every child.
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
from typing import Any, NamedTuple, NoReturn, cast

from tests.crash.injection import Fault, Injection
from tests.tally import Tally

CHILDREN = Tally()
"""The struck children whose stores were looked at in this process."""


class Child(NamedTuple):
    """What became of one child, and the store it left."""

    store: str
    struck_at: int | None
    call: str
    fault: Fault
    status: int
    told: list[str]
    unsynced: list[str]
    """What was told before everything it says was on disk."""

    @classmethod
    def read(cls, line: bytes) -> Child:
        """The child that a line of the driver is about; it counts."""
        child = cls(*json.loads(line))
        if child.struck_at is not None:
            CHILDREN.add()
        return child


class Driver:
    """Forks children of a process that has no threads."""

    def __init__(self, scenario_name: str, folder: Path, fault: Fault = "kill") -> None:
        self._fault: Fault = fault
        self._injection = Injection()
        self._injection.install()
        # Only now: some modules of the store take functions out of `os` when they are loaded.
        self._scenario: Any = import_module("tests.crash.scenarios").ALL[scenario_name]
        self._layout: Any = import_module("ollm_tui.storage.store_layout").StoreLayout
        self._folder = folder
        self._report: dict[str, list[str]] = {}
        """What the last child that reached its end has done."""

    def children(self) -> Iterator[Child]:
        """One that lives, to see what there is to interrupt, then one or two for every call."""
        self._scenario.prepare(self._layout(self._folder / "before" / "sessions"))
        living = self._child(None, "", self._fault)
        yield living._replace(unsynced=self._report["unsynced"])
        calls = self._report["calls"]
        for number, call in enumerate(calls):
            if call == "write" or self._fault != "short write":
                yield self._child(number, call, self._fault)
            if call == "write" and self._fault == "kill":
                yield self._child(number, call, "kill half-written")

    def _child(self, at: int | None, call: str, fault: Fault) -> Child:
        store = self._folder / f"{at} {fault}"
        shutil.copytree(self._folder / "before", store)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            self._injection.arm(at, fault, store)
            self._act(store, lambda words: _write_line(writing, words))
        os.close(writing)
        with os.fdopen(reading) as told:
            lines = told.read().splitlines()
        status = os.waitpid(child, 0)[1]
        if status == 0:
            self._report = json.loads(lines.pop())
        return Child(str(store), at, call, fault, status, lines, [])

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
    driver = Driver(sys.argv[1], Path(sys.argv[2]), cast(Fault, sys.argv[3]))
    for each in driver.children():
        print(json.dumps(each), flush=True)
