"""The state of a repository in words; nothing the repository names is run for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ollm_tui.services.files.git_program import git_state

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}


def git(folder: Path, *words: str) -> None:
    subprocess.run(("git", *words), cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    (folder / "kept.txt").write_text("one")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "the first one")
    return folder


def test_branch_changes_and_commits_are_told(repository: Path) -> None:
    assert git_state(repository)[:2] == ["branch main", "nothing is changed"]
    (repository / "kept.txt").write_text("two two")
    (repository / "new \x1b[2J file.txt").write_text("")
    lines = git_state(repository)
    assert " M kept.txt" in lines
    assert "?? new ␛[2J file.txt" in lines
    assert lines[-2] == "last commits:" and lines[-1].endswith("the first one")


def test_a_repository_without_commits_says_so(tmp_path: Path) -> None:
    git(tmp_path, "init", "-b", "main")
    assert git_state(tmp_path)[-1] == "no commits yet"


def test_where_there_is_no_repository_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert git_state(tmp_path) == []


def test_no_program_of_the_repository_is_run(repository: Path) -> None:
    trap = repository / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {repository}/ran\ncat\n")
    trap.chmod(0o755)
    for setting in ("core.fsmonitor", "filter.a.b=c.clean", "filter.x.clean", "gpg.program"):
        git(repository, "config", setting, str(trap))
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "filter.x.required", "true")
    (repository / ".gitattributes").write_text('*.txt filter=x\n*.md filter="a.b=c"\n')
    (repository / "kept.txt").write_text("six")
    os.utime(repository / "kept.txt", (1, 1))
    assert git_state(repository)
    assert not (repository / "ran").exists()
    # The trap works: plain git falls into it.
    git(repository, "status")
    assert (repository / "ran").exists()
