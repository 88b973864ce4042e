"""git in a shell runs unasked only where the repository cannot have it run anything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ollm_tui.services.safety.judgement import judge

LOOKING = ("git status", "git diff", "git log -p", "git show HEAD", "git blame notes.txt")
HOSTILE_SETTINGS = (
    "[core]\n\tfsmonitor = ./run.sh\n",
    "[core] fsmonitor = ./run.sh\n",
    "[CORE]\n\tFsMonitor=./run.sh\n",
    "[diff]\n\texternal = ./run.sh\n",
    '[diff "x"]\n\ttextconv = ./run.sh\n',
    '[filter "x"]\n\tclean = ./run.sh\n',
    "[core]\n\tpager = ./run.sh\n",
    "[core]\n\thooksPath = hooks\n",
    "[core]\n\tworktree = /etc\n",
    "[include]\n\tpath = other\n",
    '[includeIf "gitdir:."]\n\tpath = other\n',
    "[gpg]\n\tprogram = ./run.sh\n[log]\n\tshowSignature = true\n",
    "[alias]\n\tstatus = !./run.sh\n",
    '[remote "x"]\n\tpromisor = true\n\tuploadpack = ./run.sh\n',
    "[user]\n\tname = a \\\n[core]\n\tfsmonitor = ./run.sh\n",
    "[user]\nname\n= x\n",
    '[core]\n# note\r[branch "x"]\nfsmonitor = ./run.sh\n',
    "[core]\r\n\tfsmonitor = ./run.sh\r\n",
    "\ufeff[core]\n\tbare = false\n",
)
HARMLESS_SETTINGS = """
# written by hand
[user]
\tname = Somebody
[remote "origin"]
\turl = git@example.org:a/b.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
[pull]
\trebase = true
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository as `git init` leaves it."""
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "notes.txt").write_text("text\n")
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    return root


def level(code: str, project: Path) -> str:
    return judge(code, project, [project]).level


def reason(code: str, project: Path) -> str:
    return judge(code, project, [project]).reason


@pytest.mark.parametrize("code", LOOKING)
def test_looking_at_a_plain_repository_is_read_only(code: str, project: Path) -> None:
    with (project / ".git" / "config").open("a") as settings:
        settings.write(HARMLESS_SETTINGS)
    assert level(code, project) == "read-only", reason(code, project)
    assert level(f"cd src && {code}", project) == "read-only"


@pytest.mark.parametrize("settings", HOSTILE_SETTINGS)
def test_a_repository_that_names_programs_is_not_looked_at_unasked(
    settings: str, project: Path
) -> None:
    with (project / ".git" / "config").open("a", newline="") as file:
        file.write(settings)
    assert level("git status", project) == "ordinary"
    assert level("cd src && git status", project) == "ordinary"


def test_a_hook_that_looking_would_run_asks(project: Path) -> None:
    (project / ".git" / "hooks" / "post-index-change").write_text("#!/bin/sh\n")
    assert "hook" in reason("git status", project)


def test_a_submodule_with_settings_of_its_own_asks(project: Path) -> None:
    inner = project / "inner"
    subprocess.run(["git", "init", "-q", inner], check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    commit = ["commit", "-q", "--allow-empty", "-m", "x"]
    subprocess.run(["git", "-C", inner, *identity, *commit], check=True)
    subprocess.run(["git", "-C", project, "add", "inner"], check=True, capture_output=True)
    assert "submodules" in reason("git status", project)


def test_files_in_the_index_are_not_taken_for_submodules(project: Path) -> None:
    subprocess.run(["git", "-C", project, "add", "notes.txt"], check=True)
    assert level("git status", project) == "read-only"


def test_a_repository_without_work_tree_asks(project: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", project / "src" / "bare"], check=True)
    assert level("cd src/bare && git log", project) == "ordinary"


def test_a_repository_that_lies_elsewhere_asks(project: Path, tmp_path: Path) -> None:
    (project / ".git").rename(tmp_path / "moved")
    (project / ".git").write_text(f"gitdir: {tmp_path}/moved\n")
    assert level("git status", project) == "ordinary"
    (project / ".git").unlink()
    (project / ".git").symlink_to(tmp_path / "moved")
    assert level("git status", project) == "ordinary"


def test_a_repository_larger_than_the_scope_asks(project: Path) -> None:
    assert judge("git log", project / "src", [project / "src"]).level == "ordinary"


def test_settings_that_are_no_file_ask(project: Path) -> None:
    (project / ".git" / "config").unlink()
    os.mkfifo(project / ".git" / "config")
    assert level("git status", project) == "ordinary"


def test_a_broken_repository_asks(project: Path) -> None:
    (project / ".git" / "HEAD").unlink()
    assert level("git status", project) == "ordinary"


def test_searching_asks_where_links_lead_out_of_the_project(project: Path) -> None:
    assert level("git grep -n foo", project) == "read-only"
    (project / "src" / "out").symlink_to("/etc")
    assert level("git grep -n foo", project) == "ordinary"
    assert level("git grep --cached -n foo", project) == "read-only"


def test_comparing_directories_asks_where_links_lead_out_of_the_project(project: Path) -> None:
    (project / "docs").mkdir()
    assert level("diff -rq src docs", project) == "read-only"
    (project / "src" / "out").symlink_to("/etc")
    assert level("diff -rq src docs", project) == "ordinary"
