"""Which files of a project are found."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ollm_tui.core.errors import UsageError
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.services.files.tree import Changes, Tree
from ollm_tui.settings.schema import FileDiscovery, Settings
from tests.services.files.project import as_user, found, git, repository, write

NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def open_root() -> Iterator[Path]:
    """A folder that every user may enter, unlike those of pytest."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


async def test_files_come_in_batches_those_near_to_the_root_first(root: Path) -> None:
    write(root, " ".join(f"a/b/{n}" for n in range(400)) + " top a/near")
    batches = [batch async for batch in ProjectFiles(root).batches()]
    assert batches[0] == ["top"] and batches[1][0] == "a/near"
    assert sum(map(len, batches)) == 402


async def test_a_root_that_is_no_folder_is_said(root: Path) -> None:
    with pytest.raises(UsageError, match="nowhere is not a folder"):
        await found(root / "nowhere")


async def test_built_in_names_are_ignored_whatever_ignore_files_say(root: Path) -> None:
    write(root, "node_modules/x .git/x dist/x a/build/x .next/x .cache/x kept")
    write(root, {".gitignore": "!dist\n!build\n", ".ollmignore": "!node_modules/\n"})
    assert await found(root) == [".gitignore", ".ollmignore", "kept"]


async def test_the_git_folder_is_never_listed(root: Path) -> None:
    repository(root, "a")
    assert await found(root, DiscoveryOptions(builtin_ignores=())) == ["a"]


async def test_our_own_ignore_files_hold_at_every_level_and_apart_from_those_of_git(
    root: Path,
) -> None:
    repository(root, "a.txt sub/b.txt sub/c.md sub/keep.txt secret.log")
    write(root, {".gitignore": "*.log\n", ".ollmignore": "*.txt\n!secret.log\n"})
    write(root, {"sub/.ollmignore": "!keep.txt\n"})
    names = [path for path in await found(root) if "ignore" not in path]
    assert names == ["sub/c.md", "sub/keep.txt"]


async def test_our_own_ignore_file_holds_for_files_in_the_index_too(root: Path) -> None:
    repository(root, "ignored/in_index ignored/private ignored/loose")
    write(root, {".gitignore": "ignored/\n", "ignored/.ollmignore": "private\n"})
    git(root, "add", "-f", "ignored/in_index", "ignored/private")
    assert await found(root) == [".gitignore", "ignored/in_index"]


async def test_a_file_in_the_index_that_was_deleted_is_not_found(root: Path) -> None:
    repository(root, {"gone": "", "here": "", "x.log": "", "y.log": "", ".gitignore": "*.log"})
    git(root, "add", "-f", ".")
    (root / "gone").unlink()
    (root / "x.log").unlink()
    assert await found(root) == [".gitignore", "here", "y.log"]


async def test_only_so_many_folders_down_are_looked_into(root: Path) -> None:
    write(root, "0 a/1 a/b/2 a/b/c/3")
    assert await found(root, DiscoveryOptions(max_depth=0)) == ["0"]
    assert await found(root, DiscoveryOptions(max_depth=2)) == ["0", "a/1", "a/b/2"]


async def test_the_depth_counts_for_files_in_the_index_too(root: Path) -> None:
    repository(root, {".gitignore": "a/", "a/b/c/deep": "", "a/near": ""})
    git(root, "add", "-f", ".")
    assert await found(root, DiscoveryOptions(max_depth=1)) == [".gitignore", "a/near"]


async def test_links_are_listed_and_not_followed(root: Path) -> None:
    write(root, "real/file")
    (root / "to_folder").symlink_to("real")
    (root / "to_file").symlink_to("real/file")
    (root / "broken").symlink_to("nowhere")
    assert await found(root) == ["broken", "real/file", "to_file", "to_folder"]


async def test_followed_links_end_where_they_began(root: Path, tmp_path: Path) -> None:
    write(root, "real/file")
    write(tmp_path, "outside/there")
    (root / "a_loop").symlink_to(".")
    (root / "real/up").symlink_to("..")
    (root / "again").symlink_to("real")
    (root / "away").symlink_to(tmp_path / "outside")
    (tmp_path / "outside/back").symlink_to(root)
    (root / "itself").symlink_to("itself")
    options = DiscoveryOptions(follow_symlinks=True, max_depth=1000)
    assert await found(root, options) == ["away/there", "itself", "real/file"]


async def test_pipes_and_sockets_are_no_files(root: Path) -> None:
    write(root, "file")
    os.mkfifo(root / "pipe")
    os.mkfifo(root / ".gitignore")
    assert await found(root) == ["file"]


async def test_what_may_not_be_read_is_skipped_and_counted(open_root: Path) -> None:
    write(open_root, "a/file closed/file closed/below/file z/file")
    (open_root / "closed").chmod(0)
    as_user(NOBODY)
    try:
        files = ProjectFiles(open_root)
        names = sorted(await files.paths())
    finally:
        as_user(0)
    assert names == ["a/file", "z/file"]
    assert files.unreadable == 1


async def test_names_that_are_no_text_survive(root: Path) -> None:
    root.mkdir(exist_ok=True)
    names = [os.fsdecode(b"\xff\xfe"), "new\nline", "tab\t", "é", "trailing "]
    for name in names:
        (root / name).write_text("")
    assert await found(root) == sorted(names)
    repository(root, {".gitignore": "*.log"})
    assert set(names) < set(await found(root))


async def test_a_repository_inside_of_another_is_one_entry_and_not_entered(root: Path) -> None:
    repository(root, "mine not_one/.git/x not_one/file")
    repository(root / "other", "theirs")
    assert await found(root) == ["mine", "not_one/file", "other/"]


async def test_outside_of_a_repository_those_below_are_entered_with_their_own_rules(
    root: Path,
) -> None:
    write(root, {".gitignore": "*.md\n", "a.md": "", "b.txt": ""})
    repository(root / "one", {".gitignore": "*.txt\n", "a.md": "", "b.txt": ""})
    (root / "one/.git/info/exclude").write_text("private\n")
    write(root / "one", "private")
    assert await found(root) == [".gitignore", "b.txt", "one/.gitignore", "one/a.md"]


async def test_below_the_top_of_a_repository_its_rules_hold_from_there(root: Path) -> None:
    repository(root, "in/the/x.o in/the/y in/the/z in/the/deep/z")
    write(root, {".gitignore": "*.o\n/in/the/y\n", "in/.gitignore": "the/z\n"})
    assert await found(root / "in/the") == ["deep/z"]


async def test_a_project_in_a_folder_that_its_repository_ignores_is_found(root: Path) -> None:
    repository(root, {".gitignore": "*\n", "project/a": "", "project/b.log": ""})
    write(root, {"project/.gitignore": "*.log\n"})
    assert await found(root / "project") == [".gitignore", "a"]


async def test_a_linked_work_tree_uses_the_rules_of_its_repository(root: Path) -> None:
    repository(root, {"a": ""})
    git(root, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "m")
    (root / ".git/info/exclude").write_text("*.log\n")
    tree = root.parent / "linked"
    git(root, "worktree", "add", "-q", str(tree))
    write(tree, "x.log y")
    assert await found(tree) == ["y"]


async def test_the_users_own_excludes_hold_in_repositories(root: Path, home: Path) -> None:
    write(home.parent, {".config/git/ignore": "*.swp\n"})
    repository(root, "a a.swp b.bak")
    assert await found(root) == ["a", "b.bak"]
    write(home.parent, {".gitconfig": "[core]\nexcludesFile = ~/mine\n", "mine": "*.bak\n"})
    assert await found(root) == ["a", "a.swp"]


async def test_a_repository_of_another_user_is_listed_as_if_it_were_new(open_root: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    repository(open_root, {".gitignore": "*.log\n", "a": "", "x.log": ""})
    for path in (open_root, *open_root.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    assert await found(open_root) == [".gitignore", "a"]


async def test_a_repository_cannot_make_us_run_a_program(root: Path, tmp_path: Path) -> None:
    repository(root, {".gitignore": "*.log\n", "a": "", "x.log": ""})
    git(root, "add", "-f", ".")
    program = write(tmp_path, {"evil": f"#!/bin/sh\ntouch {tmp_path}/ran\n"}) / "evil"
    program.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor"):
        git(root, "config", key, str(program))
    git(root, "config", "core.hooksPath", str(tmp_path))
    assert await found(root) == [".gitignore", "a", "x.log"]
    assert not (tmp_path / "ran").exists()


async def test_globs_choose_files_and_folders(root: Path) -> None:
    write(root, "a.py b.ts c.tsx src/a.py src/gen/d.py docs/x.md docs/y/z.md")
    include = DiscoveryOptions(include=("*.{ts,tsx}", "docs/", "./src/*.py"))
    assert await found(root, include) == ["b.ts", "c.tsx", "docs/x.md", "docs/y/z.md", "src/a.py"]
    exclude = DiscoveryOptions(exclude=("*.py", "docs/y"))
    assert await found(root, exclude) == ["b.ts", "c.tsx", "docs/x.md"]
    both = DiscoveryOptions(include=("**/*.py", "!src/gen/**"), exclude=("/a.py",))
    assert await found(root, both) == ["src/a.py"]


def test_the_settings_say_how_to_look() -> None:
    wanted = FileDiscovery(max_depth=3, follow_symlinks=True, builtin_ignores=("x",))
    options = DiscoveryOptions.from_settings(Settings(file_discovery=wanted))
    assert options == DiscoveryOptions(3, True, ("x",))


class Entered:
    """A listener that notes which folders are looked into."""

    def __init__(self) -> None:
        self.folders: set[str] = set()

    def entering(self, folder: str) -> None:
        self.folders.add(folder)

    def left(self, folder: str) -> None:
        self.folders.discard(folder)


@pytest.mark.parametrize("git_is_there", (True, False))
def test_ignored_folders_are_never_entered_and_empty_ones_are(
    root: Path, git_is_there: bool
) -> None:
    repository(root, "src/a node_modules/x/y target/x/y own/x/y empty/x/y.log")
    write(root, {".gitignore": "target/\n*.log\n", ".ollmignore": "own\n"})
    environ = dict(os.environ) if git_is_there else {"PATH": "/nowhere"}
    tree = Tree(root, DiscoveryOptions(), environ)
    tree.listener = entered = Entered()
    list(tree.walk())
    assert entered.folders == set(tree.folders) == {"", "src/", "empty/", "empty/x/"}
    write(root, "target/new own/new node_modules/new src/target/x")
    assert tree.refresh() == Changes()
    assert entered.folders == {"", "src/", "empty/", "empty/x/"}


async def test_git_does_not_look_into_what_is_left_out_anyway(root: Path) -> None:
    """It would wait for ever at this pipe, which stands where it reads its rules."""
    write(root, "node_modules/x a/b/c/x kept")
    os.mkfifo(root / "node_modules/.gitignore")
    os.mkfifo(root / "a/b/.gitignore")
    assert await found(root, DiscoveryOptions(max_depth=1)) == ["kept"]


async def test_a_pipe_in_place_of_an_ignore_file_does_not_stop_a_listing(root: Path) -> None:
    repository(root, {".gitignore": "*.log\n", "x.log": "", "top": "", "a/b/c/d/e": ""})
    os.mkfifo(root / "a/b/c/.gitignore")
    files = ProjectFiles(root)
    assert sorted(await files.paths()) == [".gitignore", "a/b/c/d/e", "top"]
    write(root, "a/new")
    assert sorted(await files.paths()) == [".gitignore", "a/b/c/d/e", "a/new", "top"]


async def test_a_submodule_is_one_entry_also_where_it_is_ignored(root: Path) -> None:
    repository(root, {".gitignore": "ignored/\n", "mine": ""})
    for name in ("plain", "ignored/one"):
        repository(root / name, "theirs")
        commit = ("commit", "-q", "--allow-empty", "-m", "m")
        git(root / name, "-c", "user.name=n", "-c", "user.email=e", *commit)
        git(root, "add", "-f", name)
    assert await found(root) == [".gitignore", "ignored/one/", "mine", "plain/"]


async def test_a_repository_that_claims_another_place_is_listed_where_it_is(
    root: Path, tmp_path: Path
) -> None:
    write(tmp_path, "elsewhere/secret")
    repository(root, {".gitignore": "*.log\n", "x.log": "", "kept": ""})
    git(root, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert await found(root) == [".gitignore", "kept"]


async def test_the_users_own_excludes_hold_outside_of_repositories_too(
    root: Path, home: Path
) -> None:
    write(home.parent, {".gitconfig": "[core]\nexcludesFile = ~/mine\n", "mine": "*.bak\n"})
    write(root, "a a.bak")
    files = ProjectFiles(root)
    assert list(await files.paths()) == ["a"]
    write(home.parent, {"mine": "a\n"})
    assert list(await files.paths()) == ["a.bak"]


async def test_nothing_is_left_behind_for_asking_git(root: Path, tmp_path: Path) -> None:
    write(root, {"a": "", "b/c": "", ".ollmignore": "x\n"})
    (tmp_path / "scratch").mkdir()
    tempfile.tempdir = str(tmp_path / "scratch")
    try:
        files = ProjectFiles(root)
        await files.paths()
        write(root, "b/new")
        assert "b/new" in await files.paths()
    finally:
        tempfile.tempdir = None
    assert not [*(tmp_path / "scratch").iterdir()]


async def test_without_git_a_rule_that_would_take_too_long_is_left_out(root: Path) -> None:
    write(root, {".gitignore": "**/a/" * 11 + "b\n*.log\n", "a/" * 9 + "c": "", "x.log": ""})
    files = ProjectFiles(root, environ={"PATH": "/nowhere"})
    assert sorted(await files.paths()) == [".gitignore", "a/" * 9 + "c"]


async def test_kind_size_and_time_are_read_when_they_are_asked_for(root: Path) -> None:
    write(root, {"file": "12345"})
    (root / "link").symlink_to("file")
    (root / "broken").symlink_to("nowhere")
    repository(root / "sub")
    files = ProjectFiles(root)
    entries = {path: files.entry(path) for path in await files.paths()}
    os.utime(root / "file", (86_400, 86_400))
    assert {path: entry.kind for path, entry in entries.items()} == {
        "file": "file",
        "link": "link",
        "broken": "link",
    }
    assert entries["file"].path == root / "file" and entries["file"].relative_path == "file"
    assert entries["link"].size == 5 and not entries["broken"].is_folder
    assert entries["file"].modified == datetime(1970, 1, 2, tzinfo=UTC)
    assert files.entry("sub").kind == "folder"
