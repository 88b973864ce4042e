"""A project, something outside of it that nobody may touch, and a way to call tools."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ollm_tui.core.tool import Action, Tool, ToolOutcome
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.tools.planned_write import FilesRead
from ollm_tui.tools.scope import Scope

SECRET = "the-secret-outside"
SESSION = f"tools-{os.getpid()}"
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LANG": "C.UTF-8"}


class Called(NamedTuple):
    """What a call was shown as, what it told, and what came of it."""

    action: Action
    told: str
    outcome: ToolOutcome

    @property
    def text(self) -> str:
        """What the model reads."""
        return self.outcome.text


async def call(tool: Tool, **args: Any) -> Called:
    """Plan a call and carry it out."""
    planned = await tool.plan(args)
    told: list[str] = []
    outcome = await planned.run(told.append)
    return Called(planned.action, "".join(told), outcome)


def picture_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every name below a folder, with its mode and content."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        found[str(path.relative_to(folder))] = (
            mode,
            path.read_bytes() if stat.S_ISREG(mode) else b"",
        )
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project's folder, with a file in it."""
    folder = tmp_path / "project"
    (folder / "src").mkdir()
    (folder / "src" / "main.py").write_text("print('hello')\n")
    (folder / "readme.md").write_text("# A project\n")
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the project, with files that must not be read or changed."""
    folder = tmp_path / "outside"
    (folder / "src").mkdir(parents=True)
    for name in ("secret.txt", "src/main.py", "main.py"):
        (folder / name).write_text(f"{SECRET}\n")
    return folder


@pytest.fixture
def scope(project: Path) -> Scope:
    """The project alone."""
    return Scope(project)


@pytest.fixture
def memory() -> FilesRead:
    """Nothing was read yet."""
    return FilesRead()


@pytest.fixture
async def jobs(project: Path) -> AsyncIterator[JobRegistry]:
    """Real jobs with a shell in the project."""
    made = JobRegistry(ENVIRONMENT)
    await made.open_shell(SESSION, project)
    yield made
    await made.close()
