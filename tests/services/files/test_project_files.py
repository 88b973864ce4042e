"""A list of files that stays right: asked again, and told what happens."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from ollm_tui.services.files.folder_events import FolderEvents
from ollm_tui.services.files.inotify_events import InotifyEvents
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.services.files.tree import Tree
from ollm_tui.services.files.watcher import POLLING_NOTICE, FileEvent, Polling, Watcher
from tests.services.files.project import git, repository, write

PATIENCE_SECONDS = 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "project", "a/x a/y b/z")


class Watched:
    """A project that is watched, and everything it told."""

    def __init__(self, files: ProjectFiles) -> None:
        self.files = files
        self.told: list[tuple[str, str]] = []
        files.events.subscribe(self.told.extend)

    async def tells(self, *expected: tuple[str, str]) -> None:
        """Wait for exactly these events, in any order; then forget them."""
        end = time.monotonic() + PATIENCE_SECONDS
        while len(self.told) < len(expected) and time.monotonic() < end:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)  # what comes on top of it would be wrong
        told, self.told[:] = [*self.told], []
        assert Counter(told) == Counter(expected)


@pytest.fixture
async def watched(root: Path) -> AsyncIterator[Watched]:
    files = ProjectFiles(root)
    await files.watch()
    yield Watched(files)
    await files.close()


def settle(root: Path) -> None:
    """Make all folders old, so that only their times tell what changes afterwards."""
    for place, _, _ in os.walk(root):
        os.utime(place, (1, 1))


class TestWithoutWatching:
    """The times of folders and ignore files tell where to look again."""

    async def test_nothing_is_read_again_when_nothing_changed(self, root: Path) -> None:
        settle(root)
        files = ProjectFiles(root)
        assert await files.paths() is await files.paths()

    @pytest.mark.parametrize("old", (True, False))
    async def test_every_change_is_seen_at_the_next_time(self, root: Path, old: bool) -> None:
        if old:
            settle(root)
        files = ProjectFiles(root)
        assert sorted(await files.paths()) == ["a/x", "a/y", "b/z"]
        write(root, "a/new c/d/e/new")
        (root / "b/z").unlink()
        assert sorted(await files.paths()) == ["a/new", "a/x", "a/y", "c/d/e/new"]
        shutil.rmtree(root / "c")
        (root / "a").rename(root / "moved")
        assert sorted(await files.paths()) == ["moved/new", "moved/x", "moved/y"]

    async def test_a_file_in_an_empty_folder_is_seen(self, root: Path) -> None:
        (root / "empty/inner").mkdir(parents=True)
        files = ProjectFiles(root)
        await files.paths()
        write(root, "empty/inner/new")
        assert "empty/inner/new" in await files.paths()

    async def test_a_changed_ignore_file_holds_for_all_below_it(self, root: Path) -> None:
        write(root, {"a/.gitignore": "x\n", "a/deep/x": "", "a/deep/y": ""})
        files = ProjectFiles(root)
        assert sorted(await files.paths()) == ["a/.gitignore", "a/deep/y", "a/y", "b/z"]
        write(root, {"a/.gitignore": "yy\ny\n"})
        assert sorted(await files.paths()) == ["a/.gitignore", "a/deep/x", "a/x", "b/z"]
        (root / "a/.gitignore").unlink()
        assert sorted(await files.paths()) == ["a/deep/x", "a/deep/y", "a/x", "a/y", "b/z"]

    async def test_a_folder_that_became_a_repository_gets_its_rules(self, root: Path) -> None:
        files = ProjectFiles(root)
        await files.paths()
        repository(root)
        (root / ".git/info/exclude").write_text("x\n")
        assert sorted(await files.paths()) == ["a/y", "b/z"]
        (root / ".git/info/exclude").write_text("y\nz\n")
        assert sorted(await files.paths()) == ["a/x"]

    async def test_an_ignored_file_is_seen_once_it_is_in_the_index(self, root: Path) -> None:
        repository(root, {".gitignore": "x\nb/\n"})
        files = ProjectFiles(root)
        assert sorted(await files.paths()) == [".gitignore", "a/y"]
        git(root, "add", "-f", "a/x", "b/z")
        assert sorted(await files.paths()) == [".gitignore", "a/x", "a/y", "b/z"]
        git(root, "rm", "-q", "--cached", "b/z", "a/x")
        assert sorted(await files.paths()) == [".gitignore", "a/y"]

    async def test_a_listing_that_was_left_early_begins_anew(self, root: Path) -> None:
        files = ProjectFiles(root)
        async for _ in files.batches():
            break
        assert sorted(await files.paths()) == ["a/x", "a/y", "b/z"]


class TestWatching:
    """Add, change, unlink: each once, and only of files that count."""

    async def test_a_file_is_added_changed_and_unlinked(self, root: Path, watched: Watched) -> None:
        write(root, {"a/new": "1"})
        await watched.tells(("add", "a/new"))
        write(root, {"a/new": "2"})
        await watched.tells(("change", "a/new"))
        (root / "a/new").unlink()
        await watched.tells(("unlink", "a/new"))

    async def test_a_file_that_came_and_went_is_not_told(
        self, root: Path, watched: Watched
    ) -> None:
        write(root, "a/short")
        (root / "a/short").unlink()
        write(root, "a/next")
        await watched.tells(("add", "a/next"))

    async def test_an_editor_that_writes_by_renaming_makes_one_change(
        self, root: Path, watched: Watched
    ) -> None:
        write(root, {"a/.x.tmp": "new"})
        (root / "a/.x.tmp").replace(root / "a/x")
        await watched.tells(("change", "a/x"))
        (root / "a/y").rename(root / "a/y~")
        write(root, {"a/y": "new"})
        (root / "a/y~").unlink()
        await watched.tells(("change", "a/y"))

    async def test_renames_of_files_and_folders_are_an_unlink_and_an_add(
        self, root: Path, watched: Watched
    ) -> None:
        (root / "b/z").rename(root / "b/zz")
        await watched.tells(("unlink", "b/z"), ("add", "b/zz"))
        (root / "a").rename(root / "b/a")
        await watched.tells(
            *(("unlink", "a/x"), ("unlink", "a/y")), *(("add", "b/a/x"), ("add", "b/a/y"))
        )
        write(root, {"b/a/x": "after the move"})
        await watched.tells(("change", "b/a/x"))

    async def test_a_folder_replaced_by_another_of_its_name_is_watched(
        self, root: Path, watched: Watched
    ) -> None:
        (root / "a").rename(root / "old")
        write(root, "a/x a/other")
        await watched.tells(
            *(("add", "old/x"), ("add", "old/y"), ("add", "a/other")),
            *(("change", "a/x"), ("unlink", "a/y")),
        )
        write(root, {"a/x": "again", "old/x": "again"})
        await watched.tells(("change", "a/x"), ("change", "old/x"))

    async def test_a_tree_that_appears_at_once_is_told_file_by_file(
        self, root: Path, watched: Watched
    ) -> None:
        names = [f"{'n/' * depth}{number}" for depth in range(1, 9) for number in range(5)]
        write(root, " ".join(names))
        await watched.tells(*(("add", name) for name in names))

    async def test_a_burst_is_told_completely_and_once(self, root: Path, watched: Watched) -> None:
        names = [f"burst/{number % 40}/{number}" for number in range(2_000)]
        write(root, " ".join(names))
        await watched.tells(*(("add", name) for name in names))
        shutil.rmtree(root / "burst")
        await watched.tells(*(("unlink", name) for name in names))

    async def test_what_is_ignored_is_not_told_until_the_rules_change(
        self, root: Path, watched: Watched
    ) -> None:
        write(root, {".gitignore": "*.log\n"})
        await watched.tells(("add", ".gitignore"))
        write(root, "a/x.log node_modules/x a/kept")
        await watched.tells(("add", "a/kept"))
        write(root, {".gitignore": "a/x\n"})
        await watched.tells(("change", ".gitignore"), ("add", "a/x.log"), ("unlink", "a/x"))

    async def test_what_happened_before_watching_began_is_in_the_list(self, root: Path) -> None:
        files = ProjectFiles(root)
        await files.paths()
        write(root, "a/between")
        await files.watch()
        assert "a/between" in await files.paths()
        await files.close()

    async def test_the_list_is_right_at_once_before_anything_was_told(
        self, root: Path, watched: Watched
    ) -> None:
        for number in range(50):
            write(root, f"a/{number}/file")
            assert f"a/{number}/file" in await watched.files.paths()
        await watched.tells(*(("add", f"a/{number}/file") for number in range(50)))

    @pytest.mark.parametrize("in_git", (True, False))
    async def test_the_root_may_go_away(self, root: Path, watched: Watched, in_git: bool) -> None:
        if in_git:
            git(root, "init", "-q")
            await watched.files.paths()
        shutil.rmtree(root)
        await watched.tells(("unlink", "a/x"), ("unlink", "a/y"), ("unlink", "b/z"))
        assert await watched.files.paths() == []

    async def test_closing_leaves_no_thread_and_no_descriptor(self, root: Path) -> None:
        descriptors = Path("/proc/self/fd")
        before = len(list(descriptors.iterdir()))
        for _ in range(3):
            files = ProjectFiles(root)
            await files.watch()
            await files.close()
        assert "file watcher" not in [thread.name for thread in threading.enumerate()]
        assert len(list(descriptors.iterdir())) == before


class FewWatches(InotifyEvents):
    """The real thing on a system that allows only two folders."""

    def entering(self, folder: str) -> None:
        if len(self._watches) < 2 or folder in self._watches:
            super().entering(folder)
        else:
            self.exhausted = True


class TestWhereTheSystemCannotWatch:
    """Looking from time to time finds the same."""

    async def told_by(self, root: Path, events: FolderEvents) -> tuple[Watcher, list[FileEvent]]:
        told: list[FileEvent] = []
        tree = Tree(root, DiscoveryOptions(), os.environ)
        assert list(tree.walk())

        def report(events: Sequence[FileEvent]) -> None:
            told.extend(events)

        watcher = Watcher(tree, threading.Lock(), report, events, quiet_seconds=0.01)
        watcher.start()
        return watcher, told

    async def until(self, told: list[FileEvent], expected: set[tuple[str, str]]) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while set(told) != expected and time.monotonic() < end:
            await asyncio.sleep(0.01)
        assert set(told) == expected
        assert len(told) == len(expected)
        told.clear()

    async def test_polling_tells_add_change_and_unlink(self, root: Path) -> None:
        watcher, told = await self.told_by(root, Polling(least_seconds=0.02))
        write(root, {"a/new": "1", "b/z": "changed"})
        await self.until(told, {("add", "a/new"), ("change", "b/z")})
        (root / "b/z").unlink()
        await self.until(told, {("unlink", "b/z")})
        watcher.close()

    async def test_more_folders_than_may_be_watched_are_polled_and_that_is_said(
        self, root: Path
    ) -> None:
        watcher, told = await self.told_by(root, FewWatches(f"{root}/"))
        assert watcher.notice == POLLING_NOTICE
        write(root, "b/new")
        await self.until(told, {("add", "b/new")})
        watcher.close()

    async def test_running_out_of_watches_later_is_noticed_then(self, root: Path) -> None:
        shutil.rmtree(root / "b")
        watcher, told = await self.told_by(root, FewWatches(f"{root}/"))
        assert watcher.notice == ""
        write(root, "c/d/new")
        await self.until(told, {("add", "c/d/new")})
        assert watcher.notice == POLLING_NOTICE
        write(root, "c/d/later")
        await self.until(told, {("add", "c/d/later")})
        watcher.close()


async def test_watching_begins_when_the_files_were_first_asked_for(root: Path) -> None:
    files = ProjectFiles(root, watches=True)
    assert not _watching()
    await files.paths()
    while not files.is_watched:
        await asyncio.sleep(0.01)
    before = time.process_time()
    await asyncio.sleep(1)
    assert time.process_time() - before < 0.02, "nothing happens: nothing is done"
    write(root, "a/new")
    assert "a/new" in await files.paths()
    await files.close()
    assert not _watching() and not files.is_watched
    write(root, "a/newer")
    assert "a/newer" in await files.paths()


async def test_what_is_closed_while_watching_begins_leaves_nothing_behind(root: Path) -> None:
    files = ProjectFiles(root, watches=True)
    await files.paths()
    await files.close()
    assert not _watching()


def _watching() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "file watcher"]
