"""On random trees with nasty ignore files the result is that of git, path by path."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from ollm_tui.services.file_discovery.options import DiscoveryOptions
from ollm_tui.services.file_discovery.tree import Tree
from tests.services.file_discovery.generated_trees import (
    git,
    listed_by_git,
    without,
    write_repository,
    write_tree,
)

TREES = 1_000 if os.environ.get("OLLM_LONG") else 80
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
