"""A small real model, the real command, a real terminal: it asks for a tool, the user says yes.

The model is one gigabyte: `make test-long` fetches it, and without it there is nothing to test.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.end_to_end.terminal import Terminal

MODEL = "qwen2.5-coder:1.5b"
MODELS = REPOSITORY / ".cache" / "coder" / "models"
QUESTION = "Use the tool write_file: make the file hello.txt with the content hi"
"""It names the tool: a model of this size does not always think of one by itself."""
ENOUGH = "The file is written. Use no tool now, only say: done"
"""What it is told when it writes the same again and again, as one of this size does."""
IDLE, PAUSED, ALT_A, CTRL_Q = "Ctrl+P commands", "↻ paused", "\x1ba", "\x11"

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(not any(MODELS.glob("*")), reason=f"{MODEL} is not here: make test-long"),
]


def parts_of(home: Path) -> list[dict[str, Any]]:
    """Everything of the only session, oldest first."""
    [file] = (home / "sessions").glob("*.json")
    messages = json.loads(file.read_bytes())["messages"]
    return [{"role": message["role"], **part} for message in messages for part in message["parts"]]


def until_it_has_answered(terminal: Terminal) -> None:
    """Wait for the end of the turn, and answer the loops on the way there."""
    while IDLE not in terminal.screen():
        terminal.settle(0.5)
        if PAUSED in terminal.screen():
            terminal.type(ALT_A)
            terminal.settle()
            terminal.type("t")
            terminal.settle()
            terminal.type(f"{ENOUGH}\r")
            terminal.wait_until_gone(PAUSED)


def test_it_asks_for_a_tool_is_allowed_reads_the_result_and_answers(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "models").symlink_to(MODELS)
    arguments = ("--provider", "embedded", "--model", MODEL)
    with Terminal(home, None, *arguments, size=(100, 30)) as terminal:
        terminal.wait_for(MODEL, "Type a message")
        terminal.type(f"{QUESTION}\r")
        terminal.wait_for("wants to", "hello.txt", "y yes")
        assert not Path("hello.txt").exists()
        terminal.settle(1)
        terminal.type("y")
        until_it_has_answered(terminal)
        terminal.type(CTRL_Q)
        assert terminal.ended() == 0
    assert Path("hello.txt").read_text().strip() == "hi"
    parts = parts_of(home)
    kinds = [part["type"] for part in parts]
    call = kinds.index("tool-call")
    assert parts[call]["name"] == "write_file"
    assert kinds[call + 1 : call + 3] == ["tool-result", "approval"]
    assert parts[call + 2]["decision"] == "yes"
    assert parts[-1]["role"] == "assistant" and parts[-1]["text"].strip()
