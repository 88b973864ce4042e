"""Files for the @ of the prompt: found while one types, shown with their cost, read when taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.errors import ProviderError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Attachment
from ollm_tui.services.files.fuzzy import PathIndex
from ollm_tui.services.files.mentioned_file import (
    FilePreview,
    folders_of,
    glance_at_file,
    glance_at_folder,
    listing,
    name_of,
    place_of,
    read_mention,
)
from ollm_tui.tui.prompt.completion import Option
from ollm_tui.tui.prompt.completion_list import WIDEST_LABEL

if TYPE_CHECKING:
    from ollm_tui.tui.chat.port import ChatPort

MOST_OPTIONS = 20
SOON_SECONDS = 0.2
"""After that the files found so far are shown, until all of them are known."""
FRESH_SECONDS = 2.0
"""So old a list may be when a name is begun; it is looked through again otherwise."""
COST_CELLS = 5


class Mentions:
    """The files of the open project."""

    def __init__(self, chat: ChatPort) -> None:
        self._chat = chat
        self._project = chat.app.workspace.project
        self._listing: asyncio.Task[None] | None = None
        self._listed_at = 0.0
        self._unreadable = 0
        """Folders, as was told last."""
        self._paths: Sequence[str] = ()
        self._index = PathIndex(())
        # One thread: an index is asked for one query after the other.
        self._thread = ThreadPoolExecutor(1, "mentions")

    async def options(self, query: str) -> AsyncGenerator[tuple[Option, ...], None]:
        """The files and folders that fit; a path outside of the project if it is all there."""
        listing = self._list_files(is_begun=not query)
        done, _ = await asyncio.wait({listing}, timeout=SOON_SECONDS)
        if not done:
            yield await self._in_thread(query)
            await asyncio.shield(listing)
        yield await self._in_thread(query)

    async def exists(self, name: str) -> bool:
        """Whether a name that was typed in full leads to a file or folder."""
        return await asyncio.to_thread(place_of, self._project.root, name) is not None

    async def attachment(self, name: str) -> Attachment:
        """A file, or the list of a folder. UsageError if it cannot be sent."""
        path = await asyncio.to_thread(place_of, self._project.root, name)
        if path is None:
            raise UsageError(f"there is no file {visible(name)}", "@ and some letters find one")
        if await asyncio.to_thread(path.is_dir):
            return await self._folder(path)
        found = await asyncio.to_thread(read_mention, self._project.root, path)
        if found.media_type.startswith("image/"):
            await self._check_images(found.name)
        return found

    async def _check_images(self, name: str) -> None:
        choice = self._chat.front().conversation.choice
        try:
            able = await choice.provider.capabilities(choice.model)
        except ProviderError:
            return  # whoever cannot be asked now may be able to
        if able.images is False:
            hint = "F7 chooses another model, or describe the picture in words"
            raise UsageError(f"{visible(choice.model)} cannot look at images: {name}", hint)

    async def _folder(self, path: Path) -> Attachment:
        root = self._project.root
        if path.is_relative_to(root) and ".." not in path.parts:
            inside = path.relative_to(root).as_posix()
            below = "" if inside == "." else f"{inside}/"
            files = [name for name in await self._project.files.paths() if name.startswith(below)]
            return listing(name_of(root, path) or "./", path, sorted(files))
        # A foreign folder may be anything, also all of a disk: only what lies right there.
        entries = await asyncio.to_thread(lambda: sorted(path.iterdir()))
        return listing(name_of(root, path), path, [name_of(path, entry) for entry in entries])

    def _list_files(self, *, is_begun: bool) -> asyncio.Task[None]:
        """One listing at a time, which no key that is typed meanwhile interrupts."""
        known = self._listing
        is_old = is_begun and time.monotonic() - self._listed_at > FRESH_SECONDS
        # Of files that are watched, to ask again takes next to nothing.
        if known is None or (known.done() and (is_old or self._project.files.is_watched)):
            self._listed_at = time.monotonic()
            self._listing = known = asyncio.create_task(self._look_for_files())
        return known

    async def _look_for_files(self) -> None:
        found: list[str] = []
        async for batch in self._project.files.batches():
            found += batch
            if not self._paths:
                await self._take_paths(list(found))
        await self._take_paths(found)
        if (count := self._project.files.unreadable) != self._unreadable:
            self._unreadable = count
            self._chat.tell(f"{counted(count, 'folder')} of the project could not be read")

    async def _take_paths(self, found: list[str]) -> None:
        def make() -> PathIndex:
            return PathIndex((*found, *folders_of(found)))

        if found != self._paths:
            loop = asyncio.get_running_loop()
            self._index = await loop.run_in_executor(self._thread, make)
            self._paths = found

    async def _in_thread(self, query: str) -> tuple[Option, ...]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._found, query)

    def _found(self, query: str) -> tuple[Option, ...]:
        names = [match.path for match in self._index.rank(query, MOST_OPTIONS)]
        place = place_of(self._project.root, query) if query else None
        if place is not None and not {query, f"{query.rstrip('/')}/"} & set(names):
            names.insert(0, query)
        return tuple(self._option(name) for name in names)

    def _option(self, name: str) -> Option:
        glance = self._glance(name)
        cost = "" if glance.tokens is None else f"≈{short_count(glance.tokens)}"
        label = " ".join(visible(name).split())
        if len(label) > WIDEST_LABEL:
            label = f"…{label[1 - WIDEST_LABEL :]}"
        return Option(label, description=f"{cost:>{COST_CELLS}}  {glance.words}", value=name)

    def _glance(self, name: str) -> FilePreview:
        path = self._project.root / Path(name).expanduser()
        if not path.is_dir():
            return glance_at_file(path)
        below = f"{name.rstrip('/')}/"
        return glance_at_folder([each for each in self._paths if each.startswith(below)])
