"""Temporary folders for tests that write a lot."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

MEMORY = Path("/dev/shm")


def quick_folder() -> TemporaryDirectory[str]:
    """A folder in memory, where there is such a thing: a hundred examples sync a lot."""
    return TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)


def everything_in(folder: Path) -> bytes:
    """Every byte below a folder: the names of the files and what they hold."""
    pieces: list[bytes] = []
    for path in sorted(folder.rglob("*")):
        pieces.append(bytes(path.relative_to(folder)))
        if path.is_file():
            pieces.append(path.read_bytes())
    return b"\n".join(pieces)
