"""Finding the files below a folder while the program goes on: batches, as they are found."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from threading import Event

from ollm_tui.core.errors import UsageError
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.tree import Tree


class Discovery:
    """Batches of paths relative to the root, with slashes; those near to the root come first.

    A repository inside of another one is not entered: it is one path with a slash at its end.
    The work is done in a thread, which ends soon when the batches are not wanted any more.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @property
    def unreadable(self) -> int:
        """How many folders could not be read so far."""
        return self._tree.unreadable

    async def __aiter__(self) -> AsyncGenerator[list[str]]:
        loop = asyncio.get_running_loop()
        found = asyncio.Queue[list[str] | None]()
        left = Event()

        def walk() -> None:
            try:
                if not self._tree.root.is_dir():
                    raise UsageError(f"{self._tree.root} is not a folder", "give the path of one")
                for batch in self._tree.walk():
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


def discover(
    root: Path,
    options: DiscoveryOptions | None = None,
    *,
    environ: Mapping[str, str] | None = None,
) -> Discovery:
    """All files of a project that are not ignored; UsageError if that cannot be looked for.

    Of `environ`, or else of this process's environment, git gets what it needs to be found and
    to find its settings.
    """
    environ = os.environ if environ is None else environ
    return Discovery(Tree(root, options or DiscoveryOptions(), environ))
