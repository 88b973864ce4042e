"""Every process the real program starts, looked at while it runs: none has the user's secrets."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from ollm_tui.services.jobs.process_tree import descendants
from tests.conftest import REPOSITORY
from tests.end_to_end.terminal import Terminal

SECRETS = {"SERVICE_TOKEN": "marker-of-a-secret-1", "LD_AUDIT": "", "BASH_ENV": "/dev/null"}
ALLOWED = {"EDITOR": "marker-that-may-pass"}
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def environments(pid: int) -> dict[str, bytes]:
    """What every process below one was started with, by its command line."""
    found: dict[str, bytes] = {}
    for line in descendants(pid):
        place = Path("/proc", str(line.pid))
        try:
            command = place.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode()
            found[command.strip()] = place.joinpath("environ").read_bytes()
        except OSError:
            continue
    return found


def seen_while(terminal: Terminal, *parts: str) -> dict[str, bytes]:
    """Every process of the program, watched until one was seen for each part of a command line."""
    seen: dict[str, bytes] = {}
    deadline = time.monotonic() + 60
    while not all(any(part in command for command in seen) for part in parts):
        assert time.monotonic() < deadline, (parts, list(seen))
        seen |= environments(terminal.process.pid)
        terminal.settle(0.02)
    return seen


def slow_program(folder: Path, name: str) -> Path:
    """A program of this name that takes its time."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\nexec sleep 5\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def test_jobs_hooks_git_and_clipboard_programs_see_no_secret(home: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    hook = slow_program(programs, "slow-hook")
    slow_program(programs, "xclip")
    subprocess.run(("git", "init", "-q"), cwd=Path.cwd(), check=True)
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(f"hooks:\n  session-start: ['{hook}']\n")
    variables = {**SECRETS, **ALLOWED, "DISPLAY": ":9"}
    path = f"{programs}:{os.environ['PATH']}"
    with Terminal(home, [[{"text": "One"}]], PATH=path, **variables) as terminal:
        terminal.wait_for("scripted")
        terminal.type("!sleep 600 & sleep 601\r")
        seen = seen_while(terminal, "sleep 600", "sleep 601")
        assert seen
    for command, environment in seen.items():
        assert SECRETS["SERVICE_TOKEN"].encode() not in environment, command
        assert b"BASH_ENV=" not in environment, command


@pytest.mark.skipif(
    not (REPOSITORY / ".cache/models" / MODEL).exists(), reason="the small model is not there"
)
def test_the_server_of_the_embedded_model_sees_no_secret(home: Path) -> None:
    (home / "models").mkdir(parents=True, exist_ok=True)
    (home / "models" / MODEL).symlink_to(REPOSITORY / ".cache/models" / MODEL)
    with Terminal(home, None, **SECRETS) as terminal:
        seen = seen_while(terminal, "embedded")
        for command, environment in seen.items():
            assert SECRETS["SERVICE_TOKEN"].encode() not in environment, command
