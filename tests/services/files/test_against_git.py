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
    NAMES,
    git,
    listed_by_git,
    without,
    write_ignore_file,
    write_repository,
    write_tree,
)

TREES = 1_000 if LONG else 36
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
    for seed in range(2_000, 2_000 + TREES // 4):
        root = tmp_path / str(seed)
        root.mkdir()
        write_tree(root, random.Random(seed))
        outside = walked(root, environ)
        git(root, environ, "init", "-q")
        assert set(outside) == without(listed_by_git(root, environ), OPTIONS.builtin_ignores)


def test_our_own_ignore_files_are_read_as_git_reads_its_own(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    wrong: dict[int, set[str]] = {}
    for seed in range(4_000, 4_000 + TREES // 4):
        root = tmp_path / str(seed)
        root.mkdir()
        write_tree(root, random.Random(seed))
        expected = without(set(walked(root, environ)), (".gitignore",))
        for path in [*root.rglob(".gitignore")]:
            path.rename(path.with_name(".ollmignore"))
        found = without(set(walked(root, environ)), (".ollmignore",))
        if difference := expected ^ found:
            wrong[seed] = difference
        shutil.rmtree(root)
    assert wrong == {}


def test_what_is_kept_up_to_date_is_what_is_found_anew(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    for seed in range(5_000, 5_000 + TREES // 8):
        chance, root = random.Random(seed), tmp_path / str(seed)
        write_repository(root, chance, environ)
        tree = Tree(root, OPTIONS, environ)
        list(tree.walk())
        for _ in range(3):
            change(root, chance)
            tree.refresh()
            assert sorted(tree.paths()) == walked(root, environ), seed
        shutil.rmtree(root)


def change(root: Path, chance: random.Random) -> None:
    """Delete or add some files and folders, and rewrite ignore files, all at random places."""
    folders = [path for path in (root, *root.rglob("*")) if path.is_dir() and not path.is_symlink()]
    folders = [path for path in folders if ".git" not in path.parts]
    for _ in range(chance.randint(1, 4)):
        place = chance.choice(folders)
        if not place.is_dir():
            continue
        kind = chance.random()
        if kind < 0.3 and place != root:
            shutil.rmtree(place)
        elif kind < 0.6:
            fresh = place / f"new {chance.choice(NAMES)}"
            fresh.mkdir(exist_ok=True)
            write_tree(fresh, chance, 1) if not any(fresh.iterdir()) else None
        elif kind < 0.8:
            write_ignore_file(place / ".gitignore", chance, chance.sample(NAMES, 3))
        else:
            path = place / chance.choice(NAMES)
            if not path.is_dir():
                path.unlink(missing_ok=True)
                path.write_text("")


EVERYDAY_RULES = """
# what most projects ignore
*.o
*.py[cod]
/target/
__pycache__/
docs/_build
**/*.tmp
logs/**/debug
.env*
!.env.example
"""


def test_without_the_git_program_everyday_rules_hold(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    names = (
        *("a.o", "a.pyc", "a.py", "target/x", "sub/target/x", "sub/__pycache__/x", "docs/_build/x"),
        *("docs/x", "x.tmp", "sub/deep/x.tmp", "logs/debug", "logs/1/2/debug", "logs/x"),
        *(".env", ".env.local", ".env.example", "sub/own.txt", "sub/own.md", ".ollm"),
    )
    for name in names:
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text("")
    root = tmp_path / "root"
    (root / ".gitignore").write_text(EVERYDAY_RULES)
    (root / "sub/.gitignore").write_text("own.*\n!own.md\n")
    (root / ".ollmignore").write_text(".ollm\n")
    git(root, environ, "init", "-q")
    listed = walked(root, environ)
    assert "sub/own.md" in listed and ".ollm" not in listed
    assert walked(root, environ | {"PATH": "/nowhere"}) == listed
