"""Temporary folders for tests that write a lot."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

MEMORY = Path("/dev/shm")


def quick_folder() -> TemporaryDirectory[str]:
    """A folder in memory, where there is such a thing: a hundred examples sync a lot."""
    return TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
