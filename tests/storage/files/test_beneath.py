"""Files below one directory: whole or not at all, with their mode, and nothing but files."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.storage.files.beneath import Beneath

OLD, NEW = b"old\n" * 1_000, b"new\n" * 2_000


def test_a_new_file_gets_the_mode_of_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        Beneath(tmp_path).write("deep/er/file", b"x", None)
    finally:
        os.umask(before)
    assert (tmp_path / "deep/er/file").stat().st_mode & 0o777 == 0o640


def test_a_given_mode_is_kept(tmp_path: Path) -> None:
    Beneath(tmp_path).write("run.sh", b"x", 0o755)
    assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o755


def test_a_directory_is_told_from_other_things_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("folder")
    files = Beneath(tmp_path)
    with pytest.raises(IsADirectoryError):
        files.read("folder", 10)
    for name in ("fifo", "link"):
        with pytest.raises(OSError, match="it is"):
            files.read(name, 10)


def killed_at(call: int, folder: Path) -> bool:
    """Write in a child that is killed at its nth call to the system; whether it was."""
    child = os.fork()
    if child == 0:
        _arm(call)
        Beneath(folder).write("file", NEW, 0o644)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _arm(last: int) -> None:
    left = [last]

    def counted(original: Callable[..., Any], is_write: bool) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            if not left[0]:
                if is_write:
                    original(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return original(*arguments, **named)

        return run

    for name in ("open", "write", "fchmod", "fsync", "close", "rename"):
        setattr(os, name, counted(getattr(os, name), name == "write"))


def test_a_writer_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    call = 0
    seen: set[bytes] = set()
    while True:
        (tmp_path / "file").write_bytes(OLD)
        was_killed = killed_at(call, tmp_path)
        seen.add((tmp_path / "file").read_bytes())
        call += 1
        if not was_killed:
            break
    assert call > 6
    assert seen == {OLD, NEW}
