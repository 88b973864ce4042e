"""Every process the real program starts, looked at while it runs: none has the user's secrets."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from ollm_tui.services.jobs.process_tree import descendants
from tests.conftest import REPOSITORY
from tests.end_to_end.terminal import Terminal

TOKEN = "marker-of-a-secret"
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def opened(home: Path, script: object, path: str = os.environ["PATH"]) -> Terminal:
    """The program of somebody with a secret, something that starts code, and a clipboard."""
    return Terminal(
        home, script, PATH=path, SERVICE_TOKEN=TOKEN, BASH_ENV="/dev/null", DISPLAY=":9"
    )


def environments(pid: int) -> dict[str, bytes]:
    """What every process below one was started with, by its command line."""
    found: dict[str, bytes] = {}
    own = command_line(pid)
    for line in descendants(pid):
        try:
            command = command_line(line.pid)
            environment = Path("/proc", str(line.pid), "environ").read_bytes()
        except OSError:
            continue
        # Between fork and exec, a child is still the program itself.
        if command != own:
            found[command] = environment
    return found


def command_line(pid: int) -> str:
    return Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()


def seen_while(terminal: Terminal, *parts: str) -> dict[str, bytes]:
    """Every process of the program, watched until one was seen for each part of a command line."""
    seen: dict[str, bytes] = {}
    deadline = time.monotonic() + 60
    while not all(any(part in command for command in seen) for part in parts):
        assert time.monotonic() < deadline, (parts, list(seen))
        seen |= environments(terminal.process.pid)
        terminal.settle(0.02)
    return seen


def recorder(folder: Path, name: str) -> Path:
    """A program of this name that writes down its environment, then does its work."""
    folder.mkdir(exist_ok=True)
    record, file = folder / f"{name}.environment", folder / name
    real = shutil.which(name)
    work = f'exec {real} "$@"' if real else "cat > /dev/null"
    file.write_text(f"#!/bin/sh\nenv >> {record}\n{work}\n", encoding="utf-8")
    file.chmod(0o755)
    return record


def test_commands_and_what_they_start_see_no_secret(home: Path) -> None:
    with opened(home, [[{"text": "One"}]]) as terminal:
        terminal.wait_for("scripted")
        terminal.type("!sleep 600 & sleep 601\r")
        seen = seen_while(terminal, "sleep 600", "sleep 601")
    for command, environment in seen.items():
        assert TOKEN.encode() not in environment, command
        assert b"BASH_ENV=" not in environment, command


def test_git_and_clipboard_programs_see_no_secret(home: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    records = [recorder(programs, "git"), recorder(programs, "xclip")]
    subprocess.run(("git", "init", "-q"), cwd=Path.cwd(), check=True)
    Path("notes.txt").write_text("some", encoding="utf-8")
    path = f"{programs}:{os.environ['PATH']}"
    with opened(home, [[{"text": "One and only"}]], path) as terminal:
        terminal.wait_for("scripted")
        terminal.type("hello\r")
        terminal.wait_for("One and only")
        terminal.settle()
        terminal.type("/copy\r")
        terminal.wait_for("copied")
        terminal.type("@not")
        terminal.wait_for("notes.txt")
    for record in records:
        written = record.read_text(encoding="utf-8")
        assert TOKEN not in written and "BASH_ENV=" not in written


def test_the_server_of_the_embedded_model_sees_no_secret(home: Path) -> None:
    (home / "models").mkdir(parents=True, exist_ok=True)
    (home / "models" / MODEL).symlink_to(REPOSITORY / ".cache/models" / MODEL)
    with opened(home, None) as terminal:
        terminal.wait_for("Type a message")
        terminal.type("hello\r")
        seen = seen_while(terminal, "llama_cpp.server")
    for command, environment in seen.items():
        assert TOKEN.encode() not in environment, command
