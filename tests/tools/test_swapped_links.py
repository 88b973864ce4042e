"""While another thread swaps a folder and a link to elsewhere, nothing outside is touched."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from ollm_tui.core.errors import ToolError
from ollm_tui.tools.edit_file import EditFile
from ollm_tui.tools.planned_write import FilesRead
from ollm_tui.tools.read_file import ReadFile
from ollm_tui.tools.scope import Scope
from ollm_tui.tools.write_file import WriteFile
from tests.cases import some
from tests.conftest import LONG, Tell, runs
from tests.folders import quick_folder
from tests.tools.conftest import SECRET, call, picture_of

ROUNDS = runs(10_000 if LONG else 2_000, of_gate=10_000)
COLLISIONS = 0.1
"""At least so many rounds meet the link; else there was no race."""
EXCHANGE = 2
HERE = -100


@contextmanager
def swapping(one: Path, other: Path) -> Generator[None]:
    """Swap two names without end; both are there at any moment."""
    names = os.fsencode(one), os.fsencode(other)
    rename = ctypes.CDLL(None).renameat2
    stop = Event()

    def swap() -> None:
        while not stop.is_set():
            assert rename(HERE, names[0], HERE, names[1], EXCHANGE) == 0

    thread = Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "renameat2"), reason="needs renameat2")
@some(1, ("what", "rounds"), [("folder", ROUNDS), ("file", ROUNDS // 4)])
async def test_ten_thousand_rounds_never_leave_the_project(
    what: str, rounds: int, record_property: Tell
) -> None:
    with quick_folder() as made:
        project, outside = Path(made, "project"), Path(made, "outside")
        for folder, text in ((project, "inside"), (outside, SECRET)):
            (folder / "a" / "b").mkdir(parents=True)
            (folder / "a" / "b" / "file.txt").write_text(f"{text}\n")
        one = project / ("a" if what == "folder" else "a/b/file.txt")
        other = project / "swapped"
        other.symlink_to(outside / one.relative_to(project))
        before = picture_of(outside)
        scope = Scope(project)
        done = refused = 0
        with swapping(one, other):
            for number in range(rounds):
                # A new memory each time: what was written by another way is no matter here.
                memory = FilesRead()
                tools = (ReadFile(scope, memory), WriteFile(scope, memory))
                tool = EditFile(scope, memory) if number % 10 == 9 else tools[number % 2]
                try:
                    called = await call(
                        tool, path="a/b/file.txt", content=f"inside {number}\n", old="i", new="i "
                    )
                    done += 1
                    assert SECRET not in called.text + called.action.diff
                except ToolError as error:
                    refused += 1
                    assert SECRET not in error.message + error.hint
        record_property("rounds", done + refused)
        record_property("collisions", refused)
        assert picture_of(outside) == before
        assert done and refused >= COLLISIONS * rounds
