"""The filesystem server from npm, in the real command: a model uses it after the user's yes.

npx fetches it by its name, so this needs Node and the network: `make test-long`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import LONG
from tests.end_to_end.terminal import Terminal
from tests.end_to_end.test_tools_with_a_real_model import (
    CTRL_Q,
    MODEL,
    MODELS,
    parts_of,
    until_it_has_answered,
)

SERVER = "@modelcontextprotocol/server-filesystem"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not LONG, reason="it takes long: make test-long"),
    pytest.mark.skipif(shutil.which("npx") is None, reason="Node is not here"),
]


def configured(home: Path, folder: Path) -> None:
    """Settings with the server for a folder; the model has its tools only."""
    home.mkdir(mode=0o700, exist_ok=True)
    entry = {
        "command": "npx",
        "args": ["-y", SERVER, str(folder)],
        "tools": ["write_file", "list_directory"],
        "timeoutSeconds": 600,
    }
    settings = {"mcp": {"files": entry}, "tools": {"allowed": ["files.*"]}}
    (home / "config.yaml").write_text(json.dumps(settings))


def test_a_scripted_model_writes_through_it_after_a_yes(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    configured(home, folder)
    file, outside = folder / "hello.txt", tmp_path / "outside.txt"
    script = [
        [{"tool": "files.write_file", "args": {"path": str(file), "content": "hi"}}],
        [{"tool": "files.write_file", "args": {"path": str(outside), "content": "hi"}}],
        [{"text": "All done."}],
    ]
    with Terminal(home, script, size=(160, 30)) as terminal:
        terminal.wait_for("Type a message")
        terminal.type("write it\r")
        for name in ("hello.txt", "outside.txt"):
            terminal.wait_for("use the MCP server files", name, "not sandboxed", "y yes")
            assert not (tmp_path / "shared" / name).exists()
            terminal.settle(1)
            terminal.type("y")
        terminal.wait_for("All done.")
        terminal.type(CTRL_Q)
        assert terminal.ended() == 0
    assert file.read_text() == "hi" and not outside.exists(), "its own limits hold as well"
    results = [part for part in parts_of(home) if part["type"] == "tool-result"]
    assert [part["name"] for part in results] == ["files.write_file"] * 2
    assert [bool(part.get("isError")) for part in results] == [False, True]


@pytest.mark.model
@pytest.mark.skipif(not any(MODELS.glob("*")), reason=f"{MODEL} is not here: make test-long")
def test_a_small_real_model_writes_through_it_after_a_yes(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    configured(home, folder)
    (home / "models").symlink_to(MODELS)
    file = folder / "hello.txt"
    question = f"Use the tool files.write_file: write the file {file} with the content hi"
    arguments = ("--provider", "embedded", "--model", MODEL)
    with Terminal(home, None, *arguments, size=(160, 30)) as terminal:
        terminal.wait_for(MODEL, "Type a message")
        terminal.type(f"{question}\r")
        terminal.wait_for("use the MCP server files", "hello.txt", "not sandboxed", "y yes")
        assert not file.exists()
        terminal.settle(1)
        terminal.type("a")  # for this session: a model of this size may ask again
        terminal.wait_until(file.exists, "the file")
        until_it_has_answered(terminal)
        terminal.type(CTRL_Q)
        assert terminal.ended() == 0
    assert file.read_text() == "hi"
    results = [part for part in parts_of(home) if part["type"] == "tool-result"]
    assert results and {part["name"] for part in results} == {"files.write_file"}
