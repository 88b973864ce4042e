"""`python -m tests.mutants [NUMBER …]`: break a copy of the program and see its properties go red.

The checkout is never touched. It fails if a patch no longer applies, if a property holds although
the program is broken, or if it does not hold although nothing is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, NamedTuple

from tests.mutants.mutants import MUTANTS, PROPERTIES, REPOSITORY, Mutant

COPIED = ("ollm_tui", "tests", "config", "themes", "pyproject.toml")
PYTEST = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header")
LONGEST_SECONDS = 600
"""A change may let a test hang; no property takes a tenth of this."""

Colour = Literal["green", "red", "broken"]


class Row(NamedTuple):
    """A line of the table: what was tried, and what came of it."""

    number: int
    broken: str
    colour: Colour
    output: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the property goes red with the change, and is green without one."""
        return self.colour == ("red" if self.broken else "green")

    def __str__(self) -> str:
        colour = self.colour if self.is_right else self.colour.upper()
        return f"{self.number:>3}  {colour:<7} {self.broken or '(nothing is broken)'}"


class Copies:
    """Copies of the program, one for each run at a time."""

    def __init__(self, folder: Path, number: int) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        for place in range(number):
            copy = folder / str(place)
            for name in COPIED:
                _copy(REPOSITORY / name, copy / name)
            self._free.put(copy)

    def tried(self, number: int, mutant: Mutant | None) -> Row:
        """Run the tests of a property, with a change or as the program is."""
        copy = self._free.get()
        try:
            return self._tried(copy, number, mutant)
        finally:
            self._free.put(copy)

    def _tried(self, copy: Path, number: int, mutant: Mutant | None) -> Row:
        if mutant is None:
            return Row(number, "", *tests_of(number, copy))
        path = copy / "ollm_tui" / mutant.path
        original = REPOSITORY / "ollm_tui" / mutant.path
        try:
            path.write_text(mutant.applied(original.read_text()))
        except (OSError, ValueError) as error:
            return Row(number, mutant.broken, "broken", f"the patch no longer applies: {error}")
        try:
            return Row(number, mutant.broken, *tests_of(number, copy))
        finally:
            shutil.copy2(original, path)


def _copy(source: Path, target: Path) -> None:
    """Copy with times: compiled files stay valid, and nothing is compiled anew for each run."""
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def tests_of(number: int, copy: Path) -> tuple[Colour, str]:
    """Run the tests of a property in a copy; return how they ended and what they said."""
    name = f"test_property_{number}_"
    files = [
        str(path.relative_to(copy))
        for path in sorted(copy.glob("tests/properties/test_*.py"))
        if f"def {name}" in path.read_text()
    ]
    # The first failure is enough, and no time is spent on making it small.
    profile = "--hypothesis-profile=first-failure"
    command = (sys.executable, *PYTEST, profile, "-k", name, *files)
    environ = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environ, capture_output=True, text=True, timeout=LONGEST_SECONDS
        )
    except subprocess.TimeoutExpired:
        return "broken", f"its tests did not end within {LONGEST_SECONDS} seconds"
    colours: dict[int, Colour] = {0: "green", 1: "red"}
    return colours.get(done.returncode, "broken"), done.stdout + done.stderr


def chosen(numbers: Sequence[int]) -> list[tuple[int, Mutant | None]]:
    """What is to be tried for some properties: each as it is, then broken in every way."""
    wanted = [number for number in PROPERTIES if not numbers or number in numbers]
    return [
        *((number, None) for number in wanted),
        *((mutant.number, mutant) for mutant in MUTANTS if mutant.number in wanted),
    ]


def run(numbers: Sequence[int], jobs: int, tell: Callable[[str], None]) -> list[Row]:
    """Try everything; tell each result as it comes and return all of them in order."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        copies = Copies(Path(folder), jobs)
        tasks = [pool.submit(copies.tried, *each) for each in chosen(numbers)]
        rows: list[Row] = []
        for task in as_completed(tasks):
            rows.append(task.result())
            tell(str(rows[-1]))
    return sorted(rows, key=lambda row: (row.number, row.broken))


def main() -> int:
    """Run what the command line asks for and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="properties; all if none is named")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    rows = run(arguments.numbers, arguments.jobs, lambda row: print(row, flush=True))
    print("\nProperty, what its tests are, and what is broken")
    print("\n".join(map(str, rows)))
    wrong = [row for row in rows if not row.is_right]
    for row in wrong:
        print(f"\n{row}\n{row.output}")
    mutants = [row for row in rows if row.broken]
    found = sum(row.is_right for row in mutants)
    print(f"\n{found} of {len(mutants)} mutants found; {len(wrong)} of {len(rows)} rows wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
