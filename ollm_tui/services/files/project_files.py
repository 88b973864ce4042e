"""The files of one project: found once, then kept up to date by watching or comparing."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from threading import Event, Lock

from ollm_tui.core.errors import UsageError
from ollm_tui.services.files.file_entry import FileEntry
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.tree import Tree
from ollm_tui.services.files.watcher import FileEvent, Watcher
from ollm_tui.services.topic import Topic

log = logging.getLogger(__name__)


class ProjectFiles:
    """The list of a project's files, as they are on disk whenever it is asked for.

    Without watching, the times of all folders are compared each time; while watching, only what
    the system reported is looked at. With `watches`, watching begins after the files were first
    asked for, if the system can report changes. Every path is relative to the root, with slashes.
    A repository inside another one is not entered: it is one path that ends with a slash.
    """

    def __init__(
        self,
        root: Path,
        options: DiscoveryOptions | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        watches: bool = False,
    ) -> None:
        self._options = options or DiscoveryOptions()
        self._environ = os.environ if environ is None else environ
        self._tree = Tree(root, self._options, self._environ)
        self._watches = watches
        self._starting: asyncio.Task[None] | None = None
        self._lock = Lock()
        self._one_at_a_time = asyncio.Lock()
        self._paths: Sequence[str] = ()
        self._version = -1
        self._watcher: Watcher | None = None
        self.events = Topic[Sequence[FileEvent]]()
        """Events of files, published in the event loop while watching."""

    @property
    def unreadable(self) -> int:
        """How many folders could not be read."""
        return self._tree.unreadable

    @property
    def is_watched(self) -> bool:
        """Whether changes are watched, so that asking again costs next to nothing."""
        return self._watcher is not None

    def elsewhere(self, root: Path) -> ProjectFiles:
        """Return the files of another folder, with the same options; they are not watched."""
        return ProjectFiles(root, self._options, environ=self._environ)

    def entry(self, path: str) -> FileEntry:
        """Return a path with its kind, size and time, of which nothing is read before it is asked.

        A path outside of the root is given in full.
        """
        return FileEntry(self._tree.root, path)

    @property
    def notice(self) -> str:
        """A notice for the user about how changes are watched; mostly empty."""
        return self._watcher.notice if self._watcher else ""

    async def batches(self) -> AsyncIterator[Sequence[str]]:
        """Yield all files that are not ignored. UsageError if the root is no folder.

        The first time they come as they are found, those near to the root first; later all at
        once.
        """
        async with self._one_at_a_time:
            if self._version >= 0:
                yield await asyncio.to_thread(self._fresh_paths)
                return
            found, version = list[str](), self._tree.version
            async with aclosing(_walked(self._tree)) as batches:
                async for batch in batches:
                    found += batch
                    yield batch
            # The walk was begun anew for a part of the tree if it has another version now.
            self._paths = found if version == self._tree.version else self._tree.paths()
            self._version = self._tree.version
            if self._watches and self._starting is None:
                self._starting = asyncio.create_task(self._watch_if_told())

    async def paths(self) -> Sequence[str]:
        """Return all files as they are on disk now, in no particular order."""
        async for _ in self.batches():
            pass
        return self._paths

    async def watch(self) -> None:
        """Publish the events of files from now on, until `close`."""
        if self._watcher is None:
            await self.paths()
            loop = asyncio.get_running_loop()

            def report(events: Sequence[FileEvent]) -> None:
                try:
                    loop.call_soon_threadsafe(self.events.publish, events)
                except RuntimeError:
                    pass  # the loop has ended: there are no listeners any more

            def begin() -> Watcher:
                watcher = Watcher(self._tree, self._lock, report)
                watcher.start()
                return watcher

            self._watcher = await asyncio.to_thread(begin)

    async def close(self) -> None:
        """Stop watching; the thread has ended when this returns."""
        self._watches = False
        if self._starting is not None:
            await asyncio.gather(self._starting, return_exceptions=True)
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            await asyncio.to_thread(watcher.close)

    async def _watch_if_told(self) -> None:
        """Watch, unless that means polling: looking when somebody asks is cheaper."""
        await self.watch()
        if self.notice:
            watcher, self._watcher = self._watcher, None
            if watcher is not None:
                await asyncio.to_thread(watcher.close)

    def _fresh_paths(self) -> Sequence[str]:
        """Bring the tree up to date and return its files; runs in a thread."""
        with self._lock:
            if self._watcher:
                self._watcher.catch_up()
            else:
                self._tree.refresh()
            if self._tree.version != self._version:
                self._paths, self._version = self._tree.paths(), self._tree.version
                log.info("%d files found in the project", len(self._paths))
        return self._paths


async def _walked(tree: Tree) -> AsyncGenerator[list[str]]:
    """Walk a tree in a thread and yield its batches. UsageError if the root is no folder.

    When the generator is closed early, the thread ends after its current batch.
    """
    loop = asyncio.get_running_loop()
    found = asyncio.Queue[list[str] | None]()
    left = Event()

    def walk() -> None:
        try:
            if not tree.root.is_dir():
                raise UsageError(f"{tree.root} is not a folder", "give the path of a folder")
            for batch in tree.walk():
                loop.call_soon_threadsafe(found.put_nowait, batch)
                if left.is_set():
                    break
        finally:
            loop.call_soon_threadsafe(found.put_nowait, None)

    walking = asyncio.create_task(asyncio.to_thread(walk))
    try:
        while batch := await found.get():
            yield batch
        await walking
    finally:
        left.set()
        await asyncio.wait((walking,))
