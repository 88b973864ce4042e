"""Files that tools changed since a snapshot: what going back would do to each, and doing it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_tui.core.errors import StoreError
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.engine.tools.conversation_tools import ToolKeeper

if TYPE_CHECKING:
    from ollm_tui.services.files.file_changes import FileStep, FileWatch


class SnapshotFiles:
    """The files of one session, for a front end with an event loop."""

    def __init__(self, project: str | None, tools: ToolKeeper) -> None:
        """`project`: where the session has its files."""
        self._project = project
        self._tools = tools

    async def preview(self, snapshot: ContextSnapshot) -> list[FileStep]:
        """Exactly which files going back would touch, and how. StoreError.

        None where the session belongs to another project: its paths mean other files here.
        """
        await self._tools.ready()
        watch = self._tools.file_watch
        if watch is None or not self._project or Path(self._project).resolve() != watch.root:
            return []
        return await _in_thread(lambda: watch.preview(snapshot))

    async def restore(self, snapshot: ContextSnapshot, paths: Collection[str]) -> list[FileStep]:
        """Bring some files of a preview back; what could not be done says so. StoreError."""
        watch: FileWatch | None = self._tools.file_watch
        return await _in_thread(lambda: watch.restore(snapshot, paths)) if watch else []


async def _in_thread(work: Callable[[], list[FileStep]]) -> list[FileStep]:
    try:
        return await asyncio.to_thread(work)
    except OSError as error:
        hint = "the conversation is not affected"
        raise StoreError(f"the files cannot be looked at: {error.strerror}", hint) from error
