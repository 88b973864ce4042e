"""The real command where there is nothing that only Linux has, as on macOS."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from ollm_tui.services.jobs.process_tree import process
from tests.conftest import LONG
from tests.end_to_end.terminal import Terminal
from tests.stand_ins.other_system import interpreter

Command = tuple[str, ...]
CODE = "from ollm_tui.cli.main import run; run()"


@pytest.fixture
def ollm(tmp_path: Path) -> Command:
    """The command on another system."""
    return str(interpreter(tmp_path / "python")), "-c", CODE


def told(ollm: Command, *arguments: str) -> str:
    done = subprocess.run([*ollm, *arguments], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def agree(terminal: Terminal, question: str) -> None:
    """Say yes to a question; keys that come too soon after it do not count."""
    terminal.wait_for("y yes", question)
    while "y yes" in terminal.screen():
        terminal.type("y")
        terminal.settle(0.5)


def run(terminal: Terminal, command: str, *shown: str) -> None:
    """Have a command run until this is shown, and to its end if that is among it."""
    terminal.type(f"!{command}\r")
    terminal.wait_for(*shown)


def test_the_chat_writes_files_and_runs_commands(home: Path, ollm: Command) -> None:
    writing = {"tool": "write_file", "args": {"path": "new.txt", "content": "by the model\n"}}
    running = {"tool": "exec", "args": {"code": "wc -c new.txt"}}
    script = [[writing], [running], [{"text": "All done."}]]
    with Terminal(home, script, size=(120, 40), command=ollm) as terminal:
        terminal.wait_for("scripted")
        terminal.type("go\r")
        agree(terminal, "+by the model")
        terminal.wait_for("exec wc -c new.txt · exit 0", "All done.", "no sandbox: limits only")
        # A shell keeps its state, and what a command leaves running ends with it.
        run(
            terminal,
            "kept=4; sleep 600 & echo $! > left; cd /; (exit 3)",
            "exit 3 ·",
            "left running",
        )
        left = int(Path("left").read_text())
        while (found := process(left)) and found.state != "Z":
            time.sleep(0.01)
        run(terminal, "echo $PWD-$((kept + 1)); (exit 4)", "/-5", "exit 4 ·")
        run(terminal, "sleep 600", "running sleep 600")
        terminal.type("\x1b")
        terminal.wait_until_gone("1 job running")
        terminal.type("\x11")
        assert terminal.ended() == 0
        assert terminal.is_as_before()
        assert "Traceback" not in terminal.seen
    assert Path("new.txt").read_text() == "by the model\n"


def test_questions_are_answered_and_what_is_less_is_said(
    ollm: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told(ollm, "--version").startswith("ollm ")
    assert "detached programs outlive their command" in told(ollm, "doctor")
    script = tmp_path / "script.json"
    script.write_text('[[{"text": "The answer."}]]')
    monkeypatch.setenv("OLLM_TEST_SCRIPT", str(script))
    assert told(ollm, "-p", "The question?") == "The answer.\n"


@pytest.mark.model
@pytest.mark.skipif(not LONG, reason="in make test-long")
@pytest.mark.usefixtures("model_home")
def test_the_embedded_model_answers(ollm: Command) -> None:
    assert "Paris" in told(ollm, "-p", "What is the capital of France?")


@pytest.mark.skipif(not LONG, reason="in make test-long")
def test_mentions_searches_and_python_code_work(home: Path, ollm: Command) -> None:
    Path("noted.txt").write_text("a needle\n")
    searching = {"tool": "search_text", "args": {"pattern": "needle"}}
    finding = {"tool": "find_files", "args": {"pattern": "*.txt"}}
    running = {"tool": "exec", "args": {"code": "print(6 * 7)", "language": "python"}}
    script = [[searching], [finding], [running], [{"text": "All done."}]]
    with Terminal(home, script, size=(120, 40), command=ollm) as terminal:
        terminal.wait_for("scripted")
        terminal.type("@not")
        terminal.wait_for("noted.txt")
        terminal.type(" go\r")
        agree(terminal, "print(6 * 7)")
        terminal.wait_for("All done.", "search_text", "find_files", "exit 0")
        terminal.type("\x11")
        assert terminal.ended() == 0
        assert "Traceback" not in terminal.seen
