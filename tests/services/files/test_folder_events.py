"""Watching by watchdog: single folders on Linux, all below the root elsewhere."""

from __future__ import annotations

import inspect
import os
import select
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileOpenedEvent,
    FileSystemEvent,
)
from watchdog.observers.api import BaseObserver, EventEmitter
from watchdog.observers.inotify_c import InotifyFD
from watchdog.observers.polling import PollingObserver

from ollm_tui.services.files.folder_events import Hints
from ollm_tui.services.files.inotify_events import InotifyEvents
from ollm_tui.services.files.observer_events import ObserverEvents
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.services.files.tree import Tree
from ollm_tui.services.files.watcher import (
    NO_EVENTS_NOTICE,
    FileEvent,
    Polling,
    Watcher,
    best_events,
)
from tests.services.files.project import write

PATIENCE_SECONDS = 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "project", "a/x a/y b/z")


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


class TestInotify:
    """One instance of the kernel's, with the folders that are looked into and no others."""

    async def test_ignored_folders_cost_no_watches(self, root: Path) -> None:
        write(root, {".gitignore": "ignored\n"})
        write(root, " ".join(f"node_modules/{number}/x ignored/{number}/x" for number in range(99)))
        files = ProjectFiles(root)
        await files.watch()
        assert kernel_watches() == 3  # the root, a and b
        write(root, " ".join(f"node_modules/later/{number}/x" for number in range(99)))
        write(root, "c/x")
        assert "c/x" in await files.paths()
        assert kernel_watches() == 4
        await files.close()

    def test_a_renamed_folder_has_one_watch_that_ends_with_its_last_name(self, root: Path) -> None:
        events, hints = InotifyEvents(f"{root}/"), Hints()
        events.entering("a/")
        (root / "a").rename(root / "c")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            events.entering("c/")
            events.entering("c/")
            assert kernel_watches() == 1
            events.left("a/")
        write(root, {"c/x": "written"})
        assert events.collect(hints)
        assert hints == Hints(files={"c/x"})
        events.left("c/")
        assert kernel_watches() == 0
        events.close()

    def test_a_folder_that_is_entered_again_misses_nothing(self, root: Path) -> None:
        events, hints = InotifyEvents(f"{root}/"), Hints()
        events.entering("a/")
        write(root, {"a/x": "written"})
        events.entering("a/")
        assert events.collect(hints) and hints.files == {"a/x"}
        events.close()

    def test_more_events_than_the_system_keeps_mean_looking_at_everything(self, root: Path) -> None:
        most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
        events, hints = InotifyEvents(f"{root}/"), Hints()
        events.entering("a/")
        with (root / "a/x").open("ab", buffering=0) as one, (root / "a/y").open("ab", 0) as other:
            for _ in range(most // 2 + 1):  # equal events in a row would be one
                one.write(b".")
                other.write(b".")
        assert events.collect(hints) and hints.everything
        events.close()

    def test_what_is_private_to_watchdog_is_still_there(self) -> None:
        instance = InotifyFD()
        readable = select.poll()
        descriptors = {"_inotify_fd", "_kill_r", "_kill_w"}
        for name in descriptors:
            readable.register(vars(instance)[name], select.POLLIN)
        assert not readable.poll(0) and not instance.is_alive()
        closing = inspect.getsource(InotifyFD._close_resources)  # pyright: ignore[reportPrivateUsage] # what we use ourselves
        assert closing.count("os.close") == len(descriptors)
        assert all(f"os.close(self.{name})" in closing for name in descriptors)
        InotifyFD._close_resources(instance)  # pyright: ignore[reportPrivateUsage] # as above


def kernel_watches() -> int:
    """How many folders the kernel watches for this process."""
    return sum(
        (Path("/proc/self/fdinfo") / descriptor).read_text().count("inotify wd:")
        for descriptor in _inotify_descriptors()
    )


def _inotify_descriptors() -> Iterator[str]:
    for place in Path("/proc/self/fd").iterdir():
        try:
            if str(place.readlink()) == "anon_inode:inotify":
                yield place.name
        except FileNotFoundError:
            pass  # the descriptor of the listing itself


class _Silent(EventEmitter):
    """Reports nothing by itself."""

    def queue_events(self, timeout: float) -> None:
        self.stopped_event.wait()


class Told(BaseObserver):
    """An observer that reports what a test tells it, as FSEvents would."""

    def __init__(self) -> None:
        super().__init__(_Silent)

    def tell(self, *events: FileSystemEvent) -> None:
        (emitter,) = self.emitters
        for event in events:
            emitter.queue_event(event)


@pytest.fixture
def observer() -> Told:
    return Told()


@pytest.fixture
def events(root: Path, observer: Told) -> Iterator[ObserverEvents]:
    events = ObserverEvents(root, lambda: observer)
    for folder in ("", "a/", "b/"):
        events.entering(folder)
    yield events
    events.close()


class TestObserver:
    """The way of macOS and Windows: all below the root is reported."""

    def told(self, events: ObserverEvents, last: str = "a/last") -> Hints:
        """Return the hints without that of the last file that was told."""
        hints = Hints()
        until(lambda: events.collect(hints) and last in hints.files)
        hints.files.remove(last)
        return hints

    def test_what_happens_in_folders_that_nobody_looks_into_is_dropped(
        self, root: Path, observer: Told, events: ObserverEvents
    ) -> None:
        below = root / "node_modules"
        for number in range(500):
            observer.tell(
                DirCreatedEvent(f"{below}/{number}"),
                FileCreatedEvent(f"{below}/{number}/x"),
                FileMovedEvent(f"{below}/{number}/x", f"{below}/{number}/y"),
                DirModifiedEvent(f"{below}/{number}"),
            )
        observer.tell(FileModifiedEvent(f"{root}-beside/x"), FileOpenedEvent(f"{root}/a/x"))
        observer.tell(FileModifiedEvent(f"{root}/a/last"))
        assert self.told(events) == Hints()

    def test_events_are_hints_where_to_look(
        self, root: Path, observer: Told, events: ObserverEvents
    ) -> None:
        observer.tell(
            DirCreatedEvent(f"{root}/c"),
            DirMovedEvent(f"{root}/b/d", f"{root}/b/e"),
            FileMovedEvent(f"{root}/elsewhere/x", f"{root}/a/x"),
            FileModifiedEvent(f"{root}/b/.gitignore"),
            FileModifiedEvent(f"{root}/a/last"),
        )
        assert self.told(events) == Hints(
            folders={"", "a/", "b/"}, replaced={"c/", "b/e/"}, files={"a/x", "b/.gitignore"}
        )

    def test_the_root_may_be_a_link(self, tmp_path: Path, root: Path, observer: Told) -> None:
        (tmp_path / "link").symlink_to(root)
        events = ObserverEvents(tmp_path / "link", lambda: observer)
        events.entering("")
        observer.tell(FileDeletedEvent(f"{root}/x"), FileModifiedEvent(f"{root}/last"))
        assert self.told(events, "last") == Hints(folders={""})
        observer.tell(DirDeletedEvent(str(root)), FileModifiedEvent(f"{root}/last"))
        assert self.told(events, "last") == Hints(folders={""})
        events.close()

    def test_a_folder_that_was_left_is_no_longer_told_about(
        self, root: Path, observer: Told, events: ObserverEvents
    ) -> None:
        events.left("b/")
        observer.tell(FileModifiedEvent(f"{root}/b/z"), FileModifiedEvent(f"{root}/a/last"))
        assert self.told(events) == Hints()


class Watching(NamedTuple):
    tree: Tree
    lock: threading.Lock
    watcher: Watcher
    told: list[FileEvent]


def watching(root: Path, observer: Callable[[], BaseObserver]) -> Watching:
    told: list[FileEvent] = []
    tree, lock = Tree(root, DiscoveryOptions(), os.environ), threading.Lock()
    assert list(tree.walk())
    watcher = Watcher(tree, lock, told.extend, ObserverEvents(root, observer))
    watcher.start()
    return Watching(tree, lock, watcher, told)


class TestWatchingByAnObserver:
    """The whole watcher on top of it."""

    def test_changes_on_disk_are_told(self, root: Path) -> None:
        write(root, "node_modules/x")
        _, _, watcher, told = watching(root, lambda: PollingObserver(timeout=0.02))
        write(root, "a/new c/d/e/new node_modules/new")
        until(lambda: {("add", "a/new"), ("add", "c/d/e/new")} <= set(told))
        write(root, {"c/d/e/new": "changed"})
        until(lambda: ("change", "c/d/e/new") in told)
        (root / "a").rename(root / "b/a")
        gone, there = ("a/x", "a/y", "a/new"), ("b/a/x", "b/a/y", "b/a/new")
        until(lambda: {("unlink", path) for path in gone} <= set(told))
        until(lambda: {("add", path) for path in there} <= set(told))
        write(root, {"b/a/x": "after the move"})
        until(lambda: ("change", "b/a/x") in told)
        assert not [path for _, path in told if "node_modules" in path]
        watcher.close()
        assert not [thread for thread in threading.enumerate() if "Polling" in repr(thread)]

    def test_a_write_by_renaming_is_one_change(self, root: Path, observer: Told) -> None:
        _, _, watcher, told = watching(root, lambda: observer)
        write(root, {"a/.x.tmp": "new"})
        (root / "a/.x.tmp").replace(root / "a/x")
        observer.tell(
            FileCreatedEvent(f"{root}/a/.x.tmp"),
            FileModifiedEvent(f"{root}/a/.x.tmp"),
            FileMovedEvent(f"{root}/a/.x.tmp", f"{root}/a/x"),
            DirModifiedEvent(f"{root}/a"),
        )
        until(lambda: told)
        watcher.close()
        assert told == [("change", "a/x")]

    def test_the_list_is_right_before_the_system_has_reported(
        self, root: Path, observer: Told
    ) -> None:
        tree, lock, watcher, told = watching(root, lambda: observer)
        write(root, "a/new c/new")
        (root / "b/z").unlink()
        with lock:
            watcher.catch_up()
        assert sorted(tree.paths()) == ["a/new", "a/x", "a/y", "c/new"]
        until(lambda: len(told) == 3)
        watcher.close()

    def test_without_an_observer_folders_are_polled(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "platform", "darwin")  # where FSEvents is missing here
        events = best_events(root)
        assert isinstance(events, Polling) and events.notice == NO_EVENTS_NOTICE
