"""Reading the text of a settings file, whatever stands in its place."""

from __future__ import annotations

import stat
from pathlib import Path

MAX_BYTES = 256 * 1024


class UnusableFile(Exception):
    """A settings file that has to be skipped, and why."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


def read_config(path: Path) -> str | None:
    """The text of a file; None if there is none. UnusableFile if it cannot be text."""
    try:
        # Looked at before it is opened: opening a pipe would wait for ever.
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UnusableFile("it is a directory, not a file")
        if not stat.S_ISREG(mode):
            raise UnusableFile("it is not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnusableFile(f"it cannot be read ({error.strerror or error})") from error
    if len(data) > MAX_BYTES:
        raise UnusableFile(f"it is larger than {MAX_BYTES // 1024} KB")
    return _decoded(data)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnusableFile("it is not UTF-8 text", line) from error
