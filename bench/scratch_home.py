"""A home of the program that is gone afterwards, and the environment of commands run in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

REPOSITORY = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
OLLM = str(Path(sys.executable).parent / "ollm")
"""The installed command, of the interpreter that runs the benchmark."""


@contextmanager
def scratch_home() -> Generator[Path, None, None]:
    """An empty home on the repository's disk: /tmp may be memory, where syncing costs nothing."""
    cache = REPOSITORY / ".cache"
    cache.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="bench-", dir=cache) as home:
        yield Path(home)


def environment(home: Path) -> dict[str, str]:
    """What a command gets: nothing that would keep Python from writing or reading bytecode."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "OLLM_HOME": str(home),
    }
