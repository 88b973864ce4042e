"""git in a hostile repository: every program it names leaves a mark, and none is left."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ollm_tui.core.errors import ToolError
from ollm_tui.tools.git import Git
from ollm_tui.tools.scope import Scope
from tests.cases import some
from tests.tools.conftest import SECRET, call

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}
HOOKS = (
    *("applypatch-msg", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    *("post-checkout", "post-merge", "pre-merge-commit", "post-index-change", "post-rewrite"),
    *(
        "reference-transaction",
        "pre-auto-gc",
        "fsmonitor-watchman",
        "pre-rebase",
        "post-applypatch",
    ),
)
NAMES_A_PROGRAM = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass"),
    *("core.alternateRefsCommand", "core.gitProxy", "sequence.editor", "credential.helper"),
    *("diff.external", "diff.d.command", "diff.d.textconv", "diff.tool", "difftool.x.cmd"),
    *("filter.f.clean", "filter.f.smudge", "filter.f.process", "filter.g.clean"),
    *("merge.m.driver", "merge.tool", "mergetool.x.cmd", "gpg.program", "gpg.ssh.program"),
    *("gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand", "pager.status"),
    *("pager.log", "pager.diff", "pager.show", "pager.blame", "pager.branch", "pager.grep"),
    *("interactive.diffFilter", "trailer.x.command", "trailer.x.cmd", "uploadpack.packObjectsHook"),
    *("web.browser", "browser.x.cmd", "man.x.cmd", "sendemail.smtpServer", "gc.recentObjectsHook"),
)
READING = (
    *("status", "status --porcelain --ignored", "diff", "diff HEAD~1", "diff --stat HEAD"),
    *("diff --cached", "diff HEAD~1 HEAD -- a.txt", "log", "log -p", "log --stat -3"),
    *(
        "log --format=%G?%GK%GS",
        "log -p -S two",
        "log --follow -- a.txt",
        "show",
        "show HEAD:a.txt",
    ),
    *("show --stat HEAD~1", "blame a.txt", "blame -L 1,1 HEAD -- a.txt", "branch", "branch -avv"),
    *("branch --list", "ls-files", "ls-files -m -o", "ls-files -cs", "grep one", "grep -n two"),
)


def git(folder: Path, *words: str) -> str:
    """Plain git, which falls into every trap."""
    done = subprocess.run(
        ("git", *words), cwd=folder, env=ENVIRONMENT, check=True, capture_output=True
    )
    return done.stdout.decode()


@pytest.fixture
def repository(project: Path) -> Path:
    git(project, "init", "-q", "-b", "main")
    git(project, "config", "user.name", "a")
    git(project, "config", "user.email", "a@b")
    (project / "a.txt").write_text("one\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "the first one")
    (project / "a.txt").write_text("one\ntwo\n")
    git(project, "commit", "-qam", "the second one")
    return project


def sign(repository: Path) -> None:
    """Let the last commit bear a signature, which git would have checked by a program."""
    head, words = git(repository, "cat-file", "commit", "HEAD").split("\n\n", 1)
    mark = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    (repository / "signed").write_text(f"{head}\n{mark}\n\n{words}")
    commit = git(repository, "hash-object", "-t", "commit", "-w", "signed").strip()
    (repository / "signed").unlink()
    git(repository, "reset", "-q", "--soft", commit)


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Where a program that was run leaves its mark."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def trap(folder: Path, marks: Path, name: str) -> Path:
    """A program that leaves a mark."""
    path = folder / "traps" / name.replace(" ", "_")
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch '{marks}/{path.name}'\ncat 2>/dev/null\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def hostile(repository: Path, marks: Path, tmp_path: Path) -> Path:
    """A repository that names a program wherever one can be named."""
    sign(repository)
    for hook in HOOKS:
        trap(repository, marks, f"hook-{hook}").rename(repository / ".git/hooks" / hook)
    settings: list[tuple[str, str]] = [
        (name, str(trap(repository, marks, name))) for name in NAMES_A_PROGRAM
    ]
    settings += [
        ("alias.st", f"!touch {marks}/alias"),
        ("alias.status", f"!touch {marks}/alias"),
        ("core.hooksPath", str(repository / ".git/hooks")),
        ("filter.f.required", "true"),
        ("log.showSignature", "true"),
        ("commit.gpgSign", "true"),
        ("status.submoduleSummary", "true"),
        ("diff.submodule", "diff"),
        ("submodule.recurse", "true"),
        ("include.path", "../included"),
        ("core.attributesFile", str(repository / "attributes")),
    ]
    for name, value in settings:
        git(repository, "config", name, value)
    included = trap(repository, marks, "included")
    (repository / "included").write_text(
        f'[filter "i"]\n\tclean = {included}\n\tsmudge = {included}\n'
        f'[diff "j"]\n\ttextconv = {included}\n\tcommand = {included}\n'
    )
    (repository / ".gitattributes").write_text(
        "*.txt filter=f diff=d merge=m\n*.md filter=g\n*.py filter=i diff=j\n"
    )
    (repository / "attributes").write_text("*.rst filter=f diff=d\n")
    for name in ("a.txt", "readme.md", "src/main.py"):
        path = repository / name
        path.write_text(path.read_text().replace("e", "E"))
        os.utime(path, (1, 1))
    return repository


def add_submodule(hostile: Path, marks: Path) -> None:
    """A repository inside, as hostile as the other one."""
    inner = hostile / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    (inner / "x.txt").write_text("x\n")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "x")
    commit = git(inner, "rev-parse", "HEAD").strip()
    git(
        hostile,
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "update-index",
        "--add",
        "--cacheinfo",
        f"160000,{commit},inner",
    )
    for name in ("core.fsmonitor", "filter.s.clean", "diff.s.textconv"):
        git(inner, "config", name, str(trap(hostile, marks, f"inner-{name}")))
    (inner / ".gitattributes").write_text("*.txt filter=s diff=s\n")
    (inner / "x.txt").write_text("y\n")
    os.utime(inner / "x.txt", (1, 1))


def tool(folder: Path) -> Git:
    return Git(Scope(folder), ENVIRONMENT | {"GIT_EXTERNAL_DIFF": "false", "GIT_PAGER": "x"}, 20.0)


@some(6, "line", READING)
async def test_no_program_of_a_hostile_repository_is_run_by_looking(
    hostile: Path, marks: Path, line: str
) -> None:
    add_submodule(hostile, marks)
    for path in marks.iterdir():
        path.unlink()
    called = await call(tool(hostile), args=line.split())
    assert not called.outcome.is_error, called.text
    assert called.action.effect == "read" and called.outcome.changed is False
    assert [path.name for path in marks.iterdir()] == []


def test_the_traps_work(hostile: Path, marks: Path) -> None:
    plain = ("-c", "filter.f.process=", "-c", "filter.f.required=false")
    for line in ("status", "diff", "-c diff.external= diff", "diff --no-ext-diff", "log -1", "st"):
        for before in ((), plain):
            words = ("git", *before, *line.split())
            subprocess.run(words, cwd=hostile, env=ENVIRONMENT, capture_output=True, check=False)
    left = {path.name for path in marks.iterdir()}
    assert {"core.fsmonitor", "filter.f.process", "filter.g.clean"} <= left
    assert {"diff.external", "diff.d.command", "diff.d.textconv", "included", "alias"} <= left
    assert {"gpg.openpgp.program", "hook-post-index-change"} <= left


@some(2, "line", ["add a.txt", "commit -am words", "stash", "reset --hard", "checkout -- a.txt"])
async def test_what_would_leave_filters_out_is_refused(
    hostile: Path, marks: Path, line: str
) -> None:
    for path in marks.iterdir():
        path.unlink()
    with pytest.raises(ToolError, match="uses git filters"):
        await call(tool(hostile), args=line.split())
    assert not list(marks.iterdir())


async def test_no_program_is_run_by_changing_either(hostile: Path, marks: Path) -> None:
    (hostile / ".gitattributes").write_text("*.txt diff=d merge=m\n")
    (hostile / "attributes").unlink()
    git(hostile, "config", "core.attributesFile", "")
    for path in marks.iterdir():
        path.unlink()
    use = tool(hostile)
    for line in (
        *(
            "add -A",
            "commit -m first",
            "switch -c other",
            "mv readme.md read.md",
            "commit -am moved",
        ),
        *(
            "switch main",
            "tag -a v1 -m one",
            "branch new",
            "merge --no-ff other",
            "reset --soft HEAD~1",
        ),
        *("stash", "stash pop", "restore --staged .", "checkout -b third"),
        *("add -A", "commit -m more", "revert --no-edit HEAD", "cherry-pick -x HEAD~1"),
    ):
        called = await call(use, args=line.split())
        assert called.action.effect == "run" and called.action.subject == f"git {line}".replace(
            "HEAD~1", "'HEAD~1'"
        )
        assert not called.outcome.is_error, (line, called.text)
        assert [path.name for path in marks.iterdir()] == [], line


async def test_a_merge_driver_is_not_run(hostile: Path, marks: Path) -> None:
    (hostile / ".gitattributes").write_text("*.txt merge=m\n")
    git(hostile, "config", "core.attributesFile", "")
    use = tool(hostile)
    await call(use, args=["commit", "-am", "attributes"])
    for branch, text in (("left", "LEFT\n"), ("right", "RIGHT\n")):
        await call(use, args=["switch", "-c", branch, "main"])
        (hostile / "a.txt").write_text(text)
        await call(use, args=["commit", "-am", branch])
    for path in marks.iterdir():
        path.unlink()
    called = await call(use, args="merge left".split())
    assert called.outcome.is_error and "CONFLICT" in called.text
    assert not list(marks.iterdir())


async def test_what_git_says_is_told_without_controls(repository: Path) -> None:
    (repository / "a.txt").write_bytes(b"one\n\x1b]52;c;aGk=\x07\x1b[31mred\n")
    called = await call(tool(repository), args=["diff"])
    assert "+red\n" in called.text and "\x1b" not in called.text
    assert called.action.subject == "git diff" and called.outcome.summary.endswith("lines")
    log = await call(tool(repository), args="log --oneline -1")
    assert log.text.endswith("the second one\n") and log.outcome.summary == "1 line"


async def test_what_git_refuses_is_an_error(repository: Path) -> None:
    called = await call(tool(repository), args=["show", "nothing-like-it"])
    assert called.outcome.is_error and called.text.endswith("[exit 128]")
    with pytest.raises(ToolError, match="args cannot be read"):
        await call(tool(repository), args="log 'x")


async def test_a_folder_without_a_repository_is_said(project: Path) -> None:
    with pytest.raises(ToolError, match="no git repository"):
        await call(tool(project), args=["status"])


def private(outside: Path) -> Path:
    """Another repository of the user, which the project has no business with."""
    git(outside, "init", "-q", "-b", "main")
    git(outside, "add", ".")
    git(outside, "commit", "-qm", SECRET)
    return outside


def borrowed_by_file(project: Path, outside: Path) -> None:
    (project / ".git").write_text(f"gitdir: {outside}/.git\n")


def borrowed_by_link(project: Path, outside: Path) -> None:
    (project / ".git").symlink_to(outside / ".git")


def borrowed_parts(project: Path, outside: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    for name in ("objects", "refs"):
        subprocess.run(("rm", "-r", project / ".git" / name), check=True)
        (project / ".git" / name).symlink_to(outside / ".git" / name)


def borrowed_objects(project: Path, outside: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    (project / ".git/objects/info/alternates").write_text(f"{outside}/.git/objects\n")


@some(2, "borrow", [borrowed_by_file, borrowed_by_link, borrowed_parts, borrowed_objects])
async def test_a_repository_that_lies_elsewhere_is_asked_for(
    project: Path, outside: Path, borrow: object
) -> None:
    private(outside)
    assert callable(borrow)
    borrow(project, outside)
    planned = await tool(project).plan({"args": ["log"]})
    assert planned.action.effect == "run"


async def test_a_project_inside_of_a_repository_is_asked_for(repository: Path) -> None:
    planned = await tool(repository / "src").plan({"args": ["status"]})
    assert planned.action.effect == "run"


async def test_a_work_tree_that_lies_elsewhere_is_not_looked_at(
    repository: Path, outside: Path
) -> None:
    (repository / "secret.txt").write_text("mine\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "more")
    git(repository, "config", "core.worktree", str(outside))
    called = await call(tool(repository), args=["diff"])
    assert SECRET not in called.text


async def test_files_behind_a_link_that_leads_out_are_not_read(
    repository: Path, outside: Path
) -> None:
    (repository / "src" / "main.py").unlink()
    (repository / "src").rmdir()
    (repository / "src").symlink_to(outside / "src")
    for line in ("grep -n .", "diff", "status", "ls-files -m", "diff HEAD"):
        called = await call(tool(repository), args=line.split())
        assert SECRET not in called.text, line
    blob = git(repository, "rev-parse", "HEAD:src/main.py").strip()
    for line in (
        "blame src/main.py",
        "diff HEAD:src/main.py src/main.py",
        f"diff {blob} src/main.py",
    ):
        with pytest.raises(ToolError, match="outside of what tools may touch"):
            await call(tool(repository), args=line.split())


@some(
    2,
    "line",
    [
        *("diff {outside}/secret.txt {outside}/main.py", "diff ../outside/main.py a.txt"),
        *("diff -- {outside}/main.py", "diff a.txt src/../../outside/main.py"),
    ],
)
async def test_files_elsewhere_are_not_compared(repository: Path, outside: Path, line: str) -> None:
    with pytest.raises(ToolError, match="outside of what tools may touch"):
        await call(tool(repository), args=line.format(outside=outside).split())


async def test_settings_that_cannot_be_switched_off_stop_everything(
    repository: Path, marks: Path
) -> None:
    program = trap(repository, marks, "filter")
    with (repository / ".git/config").open("a") as config:
        config.write(f'[filter "a=b"]\n\tclean = {program}\n')
    (repository / ".gitattributes").write_text('*.txt "filter=a=b"\n')
    os.utime(repository / "a.txt", (1, 1))
    with pytest.raises(ToolError, match="cannot be switched off"):
        await call(tool(repository), args=["status"])
    assert not list(marks.iterdir())
