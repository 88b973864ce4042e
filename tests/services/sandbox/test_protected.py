"""Repositories below a directory are found at once, and cheaply from then on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ollm_tui.services.sandbox.protected import MOST_FOLDERS, nested_repositories, protected_in


def found(root: Path) -> list[str]:
    return [str(path.relative_to(root)) for path in nested_repositories(root)]


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Folders with a repository in some of them."""
    for place in ("a/b/c", ".git/modules/m/.git", "clone/.git", "node_modules/p/.git", "vendor"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "vendor" / ".git").write_text("gitdir: elsewhere")
    for place in ("bare.git/objects", "bare.git/refs"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "bare.git" / "HEAD").write_text("ref: refs/heads/main")
    (tmp_path / "link").symlink_to(tmp_path / "clone")
    return tmp_path


def test_every_kind_of_repository_is_found_but_for_its_own(tree: Path) -> None:
    assert sorted(found(tree)) == ["bare.git", "clone/.git", "vendor/.git"]


def test_what_comes_and_goes_is_noticed_also_where_times_are_set_back(tree: Path) -> None:
    assert "a/b/c/.git" not in found(tree)
    time.sleep(0.15)  # so that the folders are known for certain
    found(tree)
    before = (tree / "a" / "b" / "c").stat()
    (tree / "a" / "b" / "c" / ".git").mkdir()
    os.utime(tree / "a" / "b" / "c", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "a/b/c/.git" in found(tree)
    (tree / "a").rename(tree / "z")
    assert "z/b/c/.git" in found(tree) and "a/b/c/.git" not in found(tree)


def test_a_folder_that_cannot_be_listed_hides_nothing_else(tree: Path) -> None:
    (tree / "a").chmod(0)
    assert "clone/.git" in found(tree)
    (tree / "a").chmod(0o755)


@pytest.mark.more
def test_ten_thousand_files_are_not_walked_for_every_command(tmp_path: Path) -> None:
    for number in range(1_000):
        folder = tmp_path / f"package{number % 10}" / f"part{number}"
        folder.mkdir(parents=True)
        for name in range(10):
            (folder / f"{name}.py").touch()
    time.sleep(0.15)
    found(tmp_path)
    walking = min(seconds(lambda: list(os.walk(tmp_path))) for _ in range(5))
    assert min(seconds(lambda: found(tmp_path)) for _ in range(5)) < walking * 0.6


def test_more_folders_than_can_be_looked_at_leave_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "near" / ".git").mkdir(parents=True)
    for number in range(MOST_FOLDERS):
        (tmp_path / "many" / str(number)).mkdir(parents=True)
    assert found(tmp_path) == ["near/.git"]


def test_a_nested_repository_with_links_is_read_only_as_a_whole(tmp_path: Path) -> None:
    git = tmp_path / "sub" / ".git"
    git.mkdir(parents=True)
    (git / "hooks").symlink_to(tmp_path / "shared")
    protected = protected_in([tmp_path], [])
    assert git in protected.read_only and git not in protected.fixed
