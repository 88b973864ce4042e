"""On random trees with nasty ignore files the result is that of git, path by path."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.tree import Tree
from tests.conftest import LONG
from tests.services.files.generated_trees import (
    git,
    listed_by_git,
    without,
    write_repository,
    write_tree,
)

TREES = 1_000 if LONG else 80
OPTIONS = DiscoveryOptions(max_depth=50)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}


def walked(root: Path, environ: dict[str, str]) -> list[str]:
    return sorted(path for batch in Tree(root, OPTIONS, environ).walk() for path in batch)


def test_random_repositories_are_listed_as_git_lists_them(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    wrong: dict[int, list[str]] = {}
    for seed in range(TREES):
        root = tmp_path / str(seed)
        write_repository(root, random.Random(seed), environ)
        expected = without(listed_by_git(root, environ), OPTIONS.builtin_ignores)
        if difference := expected.symmetric_difference(walked(root, environ)):
            wrong[seed] = sorted(difference)
        shutil.rmtree(root)
    assert wrong == {}


ODD_PATTERNS = (
    *(
        "foo**/bar",
        "fo\\o**/bar",
        "foo**",
        "a/foo**",
        "**\\/bar",
        "a/**\\/bar",
        "a\\/bar",
        "**/a/**/bar",
    ),
    *(
        "a/**",
        "a/**/",
        "/**/bar",
        "a/*/bar",
        "***/bar",
        "a/***",
        "**",
        "/**",
        "*/",
        "**/",
        "a//bar",
    ),
    *(
        "[A]",
        "[a]",
        "\\A",
        "A",
        "[A-C]",
        "[[:upper:]]",
        "[![:lower:]]*",
        "[[:alpha:]",
        "[[:nope:]]",
    ),
    *(
        "[]]",
        "[!]]",
        "[]-a]",
        "[a-]",
        "[-a]",
        "[\\]]",
        "[a\\-z]",
        "[",
        "[a",
        "[!a",
        "b[/]x",
        "[c-a]",
    ),
    *(
        "[[:x]",
        "[[:]",
        "[[:]]",
        "[[.a.]]",
        "[a-[:digit:]]",
        "[^a]",
        "[!^]",
        "[é]",
        "?",
        "??",
        "é",
        "\xc3?",
    ),
    *(
        "sp ",
        "sp\\ ",
        "sp\\  ",
        "sp\\\\ ",
        "\\",
        "a\\",
        "\\!x",
        "\\#x",
        "#x",
        "!x",
        "!!x",
        "tab\t",
        "a\r",
        "/",
    ),
)
ODD_FILES = (
    *(
        "foobar",
        "fooX/bar",
        "foo/bar",
        "foo/x/bar",
        "fooX/y/bar",
        "bar",
        "A",
        "a",
        "b",
        "B",
        "C",
        "]",
        "-",
    ),
    *(
        "^",
        "[",
        "\\",
        "z",
        "é",
        "É",
        "bx",
        "b/x",
        "ax/bar",
        "c/foo/bar",
        "c/a/bar",
        "c/d/bar",
        "c/a/d/bar",
    ),
    *(
        "sp",
        "sp ",
        "sp\\",
        "!x",
        "#x",
        "x",
        "!!x",
        "tab\t",
        "tab",
        "a\r",
        ":",
        "[a",
        "[[:alpha:]",
        "1",
        "11",
    ),
)


@pytest.mark.parametrize("ignore_case", ("true", "false"))
def test_odd_patterns_mean_what_they_mean_to_git(
    tmp_path: Path, environ: dict[str, str], ignore_case: str
) -> None:
    root = tmp_path / "odd"
    for number, pattern in enumerate(ODD_PATTERNS):
        for name in ODD_FILES:
            path = root / str(number) / name
            if not any(parent.is_file() for parent in path.parents):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("")
        (root / str(number) / ".gitignore").write_text(f"{pattern}\n", newline="\n")
    git(root, environ, "init", "-q")
    git(root, environ, "config", "core.ignoreCase", ignore_case)
    assert set(walked(root, environ)) == listed_by_git(root, environ)


def test_a_tree_outside_of_any_repository_is_listed_as_if_it_were_one(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    for seed in range(2_000, 2_020):
        root = tmp_path / str(seed)
        root.mkdir()
        write_tree(root, random.Random(seed))
        outside = walked(root, environ)
        git(root, environ, "init", "-q")
        assert set(outside) == without(listed_by_git(root, environ), OPTIONS.builtin_ignores)


def test_without_the_git_program_a_repository_is_listed_the_same(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    for seed in range(3_000, 3_030):
        root = tmp_path / str(seed)
        write_repository(root, random.Random(seed), environ)
        (root / ".git/config").unlink()
        (root / ".git/index").unlink(missing_ok=True)
        assert walked(root, environ | {"PATH": "/nowhere"}) == walked(root, environ)
