"""Finds passages of the project's files for the prompt; nothing is read before it is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui.core.errors import OllmError, StoreError
from ollm_tui.core.session.graft import passage_of_file
from ollm_tui.core.session.message import Attachment
from ollm_tui.engine.project.meaning import Meaning
from ollm_tui.engine.project.project_context import ProjectContext
from ollm_tui.engine.project.search_model import SearchModels
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.storage.sessions.session_store import SessionStore

if TYPE_CHECKING:
    from ollm_tui.services.search.file_search import FileSearch

MOST = 20
"""Passages that are returned at most."""


class FoundInFile(NamedTuple):
    """A passage of a file, and its estimated tokens."""

    name: str
    """The file and its lines."""
    text: str
    tokens: int

    @property
    def attachment(self) -> Attachment:
        """The passage as what is sent along: data, whatever it says."""
        return passage_of_file(self.name, self.text)


class FilePassages:
    """Searches the files of a project in a thread, one search after the other."""

    def __init__(self, project: ProjectContext, store: SessionStore, models: SearchModels) -> None:
        """`models` finds the model that compares meanings; one elsewhere never gets files."""
        self._models = models
        self._project = project
        self._store = store
        self._searching = asyncio.Lock()

    async def find(self, words: str) -> list[FoundInFile]:
        """Return the passages that answer words best. StoreError."""
        paths = await self._project.files.paths()
        vector = await self._vector(words)
        async with self._searching:
            try:
                found = await asyncio.to_thread(self._search.search, paths, words, MOST, vector)
            except OSError as error:
                reason = error.strerror or str(error)
                raise StoreError(f"cannot search the files: {reason}", "try again") from error
        # What was read now is found by meaning the next time.
        self._meaning.wake()
        return [
            FoundInFile(each.name, each.text, round(careful_estimate(each.text))) for each in found
        ]

    async def close(self) -> None:
        """Close the index, if there is one."""
        if "_meaning" in vars(self):
            await self._meaning.close()
        if "_search" in vars(self):
            await asyncio.to_thread(self._search.close)

    async def _vector(self, words: str) -> Sequence[float]:
        try:
            return await self._meaning.vector(words)
        except OllmError:
            return ()  # the settings name a model that makes none: the search in sessions says so

    @cached_property
    def _meaning(self) -> Meaning:
        async def nothing() -> None:
            """Files are read by each search."""

        return Meaning(self._models, lambda: self._search, nothing)

    @cached_property
    def _search(self) -> FileSearch:
        # Loaded when it is first asked for: most sessions need none of it.
        from ollm_tui.services.search.file_search import FileSearch

        sealed = bool(self._store.sealed)
        return FileSearch(self._project.root, self._store.layout, sealed=sealed)
