"""Files for the @ of the prompt: found while typing, shown with their cost, read when taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.errors import ProviderError, StoreError, ToolError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Attachment
from ollm_tui.engine.project.file_passages import FoundInFile
from ollm_tui.engine.project.mentioned import mentioned
from ollm_tui.services.files.fuzzy import PathIndex
from ollm_tui.services.files.mentioned_file import (
    FilePreview,
    folders_of,
    glance_at_file,
    glance_at_folder,
    place_of,
)
from ollm_tui.tui.prompt.completion import Option
from ollm_tui.tui.prompt.completion_list import WIDEST_LABEL
from ollm_tui.tui.prompt.words import (
    CHOOSE_ANOTHER_MODEL,
    HOW_TO_FIND_A_FILE,
    MCP_LISTS_THE_SERVERS,
)

if TYPE_CHECKING:
    from ollm_tui.services.mcp.server_connection import ServerConnection
    from ollm_tui.tui.chat.port import ChatPort

ASKS_FOR_PASSAGES = "?"
"""What follows the @ where words in files are looked for, and not names of files."""
SHORTEST_WORDS = 3
MOST_OPTIONS = 20
SOON_SECONDS = 0.2
"""How long to wait for all files before those found so far are shown."""
FRESH_SECONDS = 2.0
"""How old the list of files may be when a name is begun; an older one is made anew."""
COST_CELLS = 5
"""The width of the cost, so that what follows it is aligned."""


class Mentions:
    """Finds and reads the files of the open project, and paths outside of it."""

    def __init__(self, chat: ChatPort) -> None:
        self._chat = chat
        self._project = chat.app.workspace.project
        self._listing: asyncio.Task[None] | None = None
        self._listed_at = 0.0
        self._unreadable = 0
        """How many folders could not be read, as the user was told last."""
        self._offered: dict[str, FoundInFile] = {}
        """The passages that were offered last, by their names."""
        self._paths: Sequence[str] = ()
        self._index = PathIndex(())
        # One thread only: an index answers one query after the other.
        self._thread = ThreadPoolExecutor(1, "mentions")

    async def options(self, query: str) -> AsyncGenerator[tuple[Option, ...], None]:
        """Yield the files and folders that fit; a path outside of the project if it is complete."""
        if query.startswith(ASKS_FOR_PASSAGES):
            yield await self._passages(query.removeprefix(ASKS_FOR_PASSAGES))
            return
        listing = self._list_files(is_begun=not query)
        done, _ = await asyncio.wait({listing}, timeout=SOON_SECONDS)
        if not done:
            yield await self._in_thread(query)
            # The next key cancels this search, but not the listing, which the next search needs.
            await asyncio.shield(listing)
        yield await self._in_thread(query)

    async def exists(self, name: str) -> bool:
        """Whether a name that was typed in full leads to a file, folder or resource."""
        if self._resource(name):
            return True
        return await asyncio.to_thread(place_of, self._project.root, name) is not None

    async def attachment(self, name: str) -> Attachment:
        """Return a file, a passage of one, the list of a folder, or a resource of an MCP server.
        UsageError if it cannot be sent."""
        if passage := self._offered.get(name):
            return passage.attachment
        if resource := self._resource(name):
            return await self._read_resource(*resource)
        found = await mentioned(self._project, name)
        if found is None:
            raise UsageError(f"no file {visible(name)}", HOW_TO_FIND_A_FILE)
        if found.media_type.startswith("image/"):
            await self._check_images(found.name)
        return found

    def _resource(self, name: str) -> tuple[ServerConnection, str] | None:
        """The server and the address of `server:address`; None if there is no such server."""
        mcp = self._chat.app.workspace.additions.mcp
        server, _, uri = name.partition(":")
        ready = mcp.ready if mcp and uri else ()
        return next(((each, uri) for each in ready if each.name == server), None)

    async def _read_resource(self, server: ServerConnection, uri: str) -> Attachment:
        try:
            text = await server.read(uri)
        except ToolError as error:
            raise UsageError(error.message, MCP_LISTS_THE_SERVERS) from error
        return Attachment(name=f"{server.name}:{uri}", media_type="text/plain", content=text)

    def _resource_options(self, query: str) -> Iterator[Option]:
        """The resources of servers whose name or address has these letters."""
        mcp = self._chat.app.workspace.additions.mcp
        for server in mcp.ready if mcp else ():
            for each in server.offer.resources:
                name = f"{server.name}:{each.uri}"
                if query.lower() in name.lower():
                    words = each.description or each.name
                    yield Option(name[:WIDEST_LABEL], description=words, value=name)

    async def _passages(self, words: str) -> tuple[Option, ...]:
        """Return the passages of files that answer words, with what each costs."""
        if len(words) < SHORTEST_WORDS:
            return ()
        try:
            found = await self._chat.app.workspace.passages.find(words)
        except StoreError as error:
            raise UsageError(error.message, error.hint) from error
        budget = self._chat.app.workspace.history.recall.budget
        self._offered = {
            f"{ASKS_FOR_PASSAGES}{each.name}": each for each in found if each.tokens <= budget
        }
        return tuple(
            Option(
                visible(each.name),
                description=f"≈{each.tokens:,} · {' '.join(visible(each.text).split())[:80]}",
                value=name,
            )
            for name, each in self._offered.items()
        )

    async def _check_images(self, name: str) -> None:
        choice = self._chat.front().conversation.choice
        try:
            able = await choice.provider.capabilities(choice.model)
        except ProviderError:
            return  # the model may be able to, although its server cannot be asked now
        if able.images is False:
            hint = CHOOSE_ANOTHER_MODEL
            raise UsageError(f"{visible(choice.model)} cannot see images: {name}", hint)

    def _list_files(self, *, is_begun: bool) -> asyncio.Task[None]:
        """Return the listing that runs or is fresh enough, or begin another one.

        There is one at a time, and no key typed meanwhile interrupts it.
        """
        known = self._listing
        is_old = is_begun and time.monotonic() - self._listed_at > FRESH_SECONDS
        # Where the files are watched, listing them again costs next to nothing.
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
            self._chat.tell(f"{counted(count, 'folder')} could not be read")

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
        path = place_of(self._project.root, query) if query else None
        if path is not None and not {query, f"{query.rstrip('/')}/"} & set(names):
            names.insert(0, query)
        resources = islice(self._resource_options(query), MOST_OPTIONS)
        files = (self._option(name) for name in names)
        # A colon is rare in the names of files, and in all names of resources.
        both = (resources, files) if ":" in query else (files, resources)
        return tuple(islice(chain(*both), MOST_OPTIONS))

    def _option(self, name: str) -> Option:
        glance = self._glance(name)
        cost = "" if glance.tokens is None else f"≈{short_count(glance.tokens)}"
        label = " ".join(visible(name).split())
        if len(label) > WIDEST_LABEL:
            label = f"…{label[1 - WIDEST_LABEL :]}"
        return Option(label, description=f"{cost:>{COST_CELLS}}  {glance.words}", value=name)

    def _glance(self, name: str) -> FilePreview:
        entry = self._project.files.entry(str(Path(name).expanduser()))
        if not entry.is_folder:
            return glance_at_file(entry)
        below = f"{name.rstrip('/')}/"
        return glance_at_folder([each for each in self._paths if each.startswith(below)])
