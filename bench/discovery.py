"""Finding 100,000 files, against fd or git; once more; without pausing the loop; by letters."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path

from bench.measure import Outcome, Promise, interleaved, milliseconds
from ollm_tui.services.files.fuzzy import PathIndex
from ollm_tui.services.files.project_files import ProjectFiles

FILES, FOLDERS = 100_000, 5_000
ROUNDS = 7
FRAME_SECONDS = 1 / 30
LONGEST_PAUSE_SECONDS = 0.020

FD = shutil.which("fd") or shutil.which("fdfind")
COMMAND = (
    (FD, "--hidden", "--print0", "--type", "f", "--type", "l")
    if FD
    else ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
)
REFERENCE = "fd" if FD else "git ls-files"

FIRST = Promise(f"discovery of {FILES:,} files, wall", REFERENCE, 2)
FIRST_CPU = Promise(f"discovery of {FILES:,} files, CPU", REFERENCE, 2)
SECOND = Promise("discovery again, by the times of folders", "the first time", 0.1)
WATCHED = Promise("discovery again, while watching", "the first time", 0.1)
PAUSE = Promise("longest pause of the event loop meanwhile", "20 ms", 1)
LETTER = Promise(f"ranking {FILES:,} paths, CPU per letter typed", "two frames of 33 ms", 1)
PROMISES = (FIRST, FIRST_CPU, SECOND, WATCHED, PAUSE, LETTER)

IGNORED = """
*.pyc
__pycache__/
*.py[cod]
*.o
*.log
/target/
.venv/
docs/_build/
*.egg-info
.env*
!.env.example
coverage/
"""


def main() -> list[Outcome]:
    """Measure in one repository, everything in turns."""
    root = Path(tempfile.mkdtemp())
    try:
        _fill(root)
        return _measured(root)
    finally:
        shutil.rmtree(root)


def _measured(root: Path) -> list[Outcome]:
    files = ProjectFiles(root)
    paths = asyncio.run(files.paths())
    runs = interleaved(
        {
            "first": lambda: asyncio.run(_discovery_seconds(root)),
            "first, CPU": lambda: _cpu_seconds(lambda: asyncio.run(_discovery_seconds(root))),
            REFERENCE: lambda: _command_seconds(root),
            f"{REFERENCE}, CPU": lambda: _cpu_seconds(lambda: _command_seconds(root)),
            "bare scandir": lambda: _bare_walk_seconds(root),
            "second": lambda: asyncio.run(_seconds(files.paths)),
            "pause": lambda: asyncio.run(_longest_pause(_discovery_seconds(root))),
            "pause of a loop alone": lambda: asyncio.run(_longest_pause(asyncio.sleep(0.5))),
        },
        ROUNDS,
    )
    least = {name: min(seconds) for name, seconds in runs.items()}
    least["watched"] = asyncio.run(_watched_seconds(files))
    letter = _seconds_per_letter(paths)
    print(f"{len(paths):,} of {FILES:,} files in {FOLDERS:,} folders are not ignored")
    for name, seconds in least.items():
        print(f"{name}: {milliseconds(seconds)}")
    print(f"first: {least['first'] / least['bare scandir']:.2f} x a bare walk")
    print(f"slowest letter: {milliseconds(letter)}")
    return [
        Outcome(FIRST, least["first"] / least[REFERENCE]),
        Outcome(FIRST_CPU, least["first, CPU"] / least[f"{REFERENCE}, CPU"]),
        Outcome(SECOND, least["second"] / least["first"]),
        Outcome(WATCHED, least["watched"] / least["first"]),
        Outcome(PAUSE, least["pause"] / LONGEST_PAUSE_SECONDS),
        Outcome(LETTER, letter / (2 * FRAME_SECONDS)),
    ]


def _fill(root: Path) -> None:
    """A repository of small folders; one file in ten is ignored."""
    endings = ("py", "py", "ts", "md", "py", "js", "o", "json", "py", "log")
    for number in range(FOLDERS):
        folder = root / f"area_{number % 10}" / f"module_{number // 10 % 25}" / f"part_{number}"
        folder.mkdir(parents=True)
        for file in range(FILES // FOLDERS):
            (folder / f"some_file_{file}.{endings[(number + file) % 10]}").touch()
    (root / ".gitignore").write_text(IGNORED)
    subprocess.run(("git", "init", "-q"), cwd=root, check=True)
    time.sleep(0.2)  # folders written just now would be read again


def _cpu_seconds(work: Callable[[], object]) -> float:
    """Processor time of all threads, and of the children that ended meanwhile."""
    before = os.times()
    work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


async def _discovery_seconds(root: Path) -> float:
    start = time.perf_counter()
    async for _ in ProjectFiles(root).batches():
        pass
    return time.perf_counter() - start


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


async def _watched_seconds(files: ProjectFiles) -> float:
    await files.watch()
    try:
        return min([await _seconds(files.paths) for _ in range(ROUNDS)])
    finally:
        await files.close()


async def _longest_pause(work: Coroutine[None, None, object]) -> float:
    """The longest time the loop was late for something that is due all the time."""
    task = asyncio.create_task(work)
    longest, before = 0.0, time.perf_counter()
    while not task.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    return longest


def _command_seconds(root: Path) -> float:
    start = time.perf_counter()
    subprocess.run(COMMAND, cwd=root, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def _bare_walk_seconds(root: Path) -> float:
    start = time.perf_counter()
    waiting, found = [str(root)], list[str]()
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                (waiting if is_folder else found).append(entry.path)
    return time.perf_counter() - start


def _seconds_per_letter(paths: Sequence[str]) -> float:
    """The slowest letter of some queries; each the least of several rounds."""
    index = PathIndex(paths)
    slowest = 0.0
    for query in ("some_file", "modpart17", "areats"):
        for end in range(1, len(query) + 1):
            seconds: list[float] = []
            for _ in range(3):
                index.rank(query[: end - 1] + "\0", 1)  # so that the last letter is new
                start = time.thread_time()
                index.rank(query[:end], 20)
                seconds.append(time.thread_time() - start)
            slowest = max(slowest, min(seconds))
    return slowest
