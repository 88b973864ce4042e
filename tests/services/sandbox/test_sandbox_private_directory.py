"""Temporary files of a program that was killed are cleared away later, nobody else's ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ollm_tui.services.sandbox.sandbox import (
    ABANDONED_SECONDS,
    PREFIX,
    PrivateDirectory,
    remove_abandoned,
)

KEEPER = """
from ollm_tui.services.sandbox.sandbox import PrivateDirectory
made = PrivateDirectory()
(made.path / "big").write_text("x")
print(made.path, flush=True)
input()
"""


def aged(path: Path) -> Path:
    long_ago = path.stat().st_mtime - 2 * ABANDONED_SECONDS
    os.utime(path, (long_ago, long_ago))
    return path


def test_what_a_killed_program_left_is_removed_later(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout
        left = aged(Path(program.stdout.readline().strip()))
        remove_abandoned(tmp_path)
        assert (left / "big").exists(), "it runs still"
        program.send_signal(signal.SIGKILL)
        program.wait()
    remove_abandoned(tmp_path)
    assert not left.exists()


def test_what_was_made_just_now_stays(tmp_path: Path) -> None:
    young = tmp_path / f"{PREFIX}young"
    young.mkdir()
    remove_abandoned(tmp_path)
    assert young.exists()


def test_links_and_other_directories_stay(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    aged(other)
    (tmp_path / f"{PREFIX}link").symlink_to(other)
    remove_abandoned(tmp_path)
    assert other.exists()


def test_a_program_has_its_own_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = PrivateDirectory()
    aged(own.path)
    remove_abandoned(tmp_path)
    assert own.path.exists()
