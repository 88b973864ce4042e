"""Which git commands are offered: nothing that runs programs, writes files or looks elsewhere."""

from __future__ import annotations

import shlex

import pytest

from ollm_tui.core.errors import ToolError
from ollm_tui.tools.git import SUBCOMMANDS, git_command
from tests.cases import every

READING = (
    *("status", "status -sb", "status --porcelain -uno", "status --short src"),
    *("diff", "diff --cached", "diff HEAD~1 HEAD -- src/main.py", "diff -U10 --stat main..dev"),
    *("diff -S word", "diff --word-diff a...b", "log", "log -5", "log --oneline -n 3 -- a.py"),
    *("log -p --since=yesterday --author me", "log --format=%h%x09%s", "show", "show HEAD:a.py"),
    *("show --stat HEAD~2", "blame a.py", "blame -L 1,5 a.py", "blame -w HEAD~1 -- a.py"),
    *("ls-files", "ls-files -co --exclude-standard", "grep -n word", "grep -i -e a --and -e b"),
    *("branch", "branch -a", "branch -vv", "branch --list x*", "branch --show-current"),
    *("branch --contains HEAD", "branch --sort=-committerdate -r"),
)
CHANGING = (
    *("add .", "add -A", "commit -m words", "commit -am 'fix: -x /y'", "commit --amend --no-edit"),
    *("switch main", "switch -c new", "checkout -b new", "checkout -- a.py", "restore --staged a"),
    *("stash", "stash pop", "stash push -m words", "reset --hard HEAD~1", "rm -r x", "mv a b"),
    *("merge --no-ff dev", "cherry-pick abc", "revert --no-edit abc", "tag -a v1 -m one"),
    *("branch new", "branch -d old", "branch -m a b", "branch -f main HEAD~1", "branch -u o/m"),
)
REFUSED = (
    *("", "-c core.pager=x status", "--exec-path=. status", "-C .. status", "--git-dir=x log"),
    *("-p log", "--paginate log", "config core.pager x", "push", "fetch", "pull", "clone x"),
    *("rebase -x cmd main", "difftool", "mergetool", "filter-branch", "submodule update", "gc"),
    *("bisect run x", "daemon", "archive --output=x", "archive --remote=x", "bundle create x"),
    *("diff --output=x", "diff --output x", "diff --outp=x", "diff --ext-diff", "diff --ext"),
    *("diff --textconv", "diff --textc", "diff -Oorder", "diff --no-index /etc/passwd /dev/null"),
    *(
        "diff --no-ind a b",
        "blame ^HEAD a",
        "commit -m -- --gpg-sign",
        "log --author -- --output=x",
    ),
    *("diff --submodule=diff", "diff --ignore-submodules=none", "diff -I x"),
    *(
        "log --output=x",
        "log --ext-diff -p",
        "log --textconv",
        "log --show-signature",
        "log -L 1:a",
    ),
    *("log --stdin", "log -O x", "show --output=x", "show --textconv", "show --show-signature"),
    *("blame --contents /etc/passwd a", "blame -S revs a", "blame --ignore-revs-file x a"),
    *(
        "blame --textconv a",
        "grep -O x",
        "grep -Ovi x",
        "grep --open-files-in-pager x",
        "grep -f x",
    ),
    *("grep --open x", "grep --no-index x", "grep --textconv x", "grep --untracked x"),
    *("grep --recurse-submodules x", "ls-files -X x", "ls-files --exclude-from=x"),
    *("ls-files --recurse-submodules", "branch --edit-description", "status -v", "status --ver"),
    *("commit -S -m x", "commit --gpg-sign", "commit -e", "commit --edit", "commit --trailer a:b"),
    *("commit -F /etc/passwd", "commit --file=/etc/passwd", "commit -t x", "commit -p", "add -i"),
    *("add -p", "add --edit", "add --pathspec-from-file=x", "checkout -p", "stash -p", "tag -s x"),
    *("merge -s evil dev", "merge --strategy=evil dev", "merge -S dev", "merge -X theirs dev"),
    *(
        "cherry-pick -S x",
        "revert -e x",
        "tag -u key x",
        "tag -F /etc/passwd x",
        "status -u no -z -x",
    ),
)


@every("line", READING)
def test_what_only_looks_is_reading(line: str) -> None:
    assert git_command(line.split()).effect == "read"


@every("line", CHANGING)
def test_what_changes_something_is_running(line: str) -> None:
    assert git_command(shlex.split(line)).effect == "run"


@every("line", REFUSED)
def test_what_could_run_programs_or_look_elsewhere_is_not_offered(line: str) -> None:
    with pytest.raises(ToolError, match="git"):
        git_command(line.split())


def test_a_value_that_looks_like_a_path_is_no_path() -> None:
    assert git_command(["commit", "-m", "/etc is fine"]).argv == ("commit", "-m", "/etc is fine")
    assert git_command(["diff", "-S", "/etc/passwd"]).paths == ()


def test_a_value_that_looks_like_an_option_is_refused_rather_than_guessed() -> None:
    with pytest.raises(ToolError):
        git_command(["log", "--author", "--output=x"])


def test_the_word_git_may_stand_first() -> None:
    assert git_command(["git", "status"]).shown == ("status",)


def test_blame_looks_at_a_commit_and_grep_at_the_index() -> None:
    """Of the working tree both read what lies behind a link that leads out."""
    assert git_command(["blame", "-w", "a"]).argv[-4:] == ("-w", "HEAD", "--", "a")
    assert git_command(["blame", "--", "a"]).argv[-3:] == ("HEAD", "--", "a")
    assert git_command(["blame", "dev", "a"]).argv[-2:] == ("dev", "a")
    assert "--cached" in git_command(["grep", "x"]).argv


def test_no_option_on_the_lists_runs_a_program_or_writes_a_file() -> None:
    offered = {word.rstrip("=") for about in SUBCOMMANDS.values() for word in about.long.split()}
    assert not offered & {
        *("output", "ext-diff", "textconv", "exec", "upload-pack", "open-files-in-pager"),
        *("no-index", "show-signature", "gpg-sign", "edit", "trailer", "file", "contents"),
        *("recurse-submodules", "submodule", "ignore-submodules", "strategy", "interactive"),
    }
