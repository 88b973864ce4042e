"""Long turns in a small window: the command works through them to the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

SETTINGS = """
models: {scripted: {window: 8192}}
compression: {summaries: never}
tools: {permissions: {write_file: auto, edit_file: auto, read_file: auto, search_text: auto}}
"""


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, and settings for a window of 8k."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(SETTINGS)
    folder = home.parent / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def source(number: int, lines: int) -> str:
    """A module with functions of its own."""
    rows = (
        f"def step_{number}_{line}(order: int) -> int:\n    return order * {number * line + 7}\n"
        for line in range(lines)
    )
    return "\n".join(rows)


def test_fourteen_files_are_written_in_one_turn_in_8k(run_ollm: Run, project: Path) -> None:
    files = {f"src/part_{number}.py": source(number, 60) for number in range(14)}
    script: list[list[dict[str, Any]]] = [
        [{"tool": "write_file", "args": {"path": path, "content": text}}]
        for path, text in files.items()
    ]
    done = run_ollm("-p", "Write all parts.", script=[*script, [{"text": "All are written."}]])
    assert (done.returncode, done.stdout.strip()) == (0, "All are written."), done.stderr
    assert {path: (project / path).read_text() for path in files} == files
    assert "tokens" in done.stderr, "it was compressed on the way, and that is said"


def test_a_coding_session_of_sixty_rounds_goes_on_in_8k(run_ollm: Run, project: Path) -> None:
    script: list[list[dict[str, Any]]] = []
    for number in range(15):
        path, text = f"part_{number}.py", source(number, 30)
        old, new = f"order * {number + 7}", f"order * {number + 9}"
        script += [
            [{"text": f"Part {number} next."}, _tool("write_file", path=path, content=text)],
            [_tool("read_file", path=path)],
            [_tool("edit_file", path=path, old=old, new=new)],
            [_tool("search_text", pattern=f"step_{number}_")],
        ]
    done = run_ollm("-p", "Write and mend all parts.", script=[*script, [{"text": "Done."}]])
    assert (done.returncode, done.stdout.strip().endswith("Done.")) == (0, True), done.stderr
    assert len(list(project.iterdir())) == 15
    assert done.stderr.count("tokens") >= 2, "compressed more than once"


def _tool(name: str, **args: Any) -> dict[str, Any]:
    return {"tool": name, "args": args}
