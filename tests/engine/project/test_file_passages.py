"""Passages of the project's files are found by meaning, too, once they were asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.providers.scripted import Scripted
from ollm_tui.settings.schema import Settings
from tests.engine.conftest import OpenWorkspace
from tests.engine.project.test_meaning import Topics


class Embedding(Scripted):
    """Makes vectors, and has nothing to say."""

    def __init__(self, topics: Topics) -> None:
        super().__init__([])
        self.topics = topics

    async def embed(self, model: str, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        return await self.topics.embed(model, texts)


async def test_a_passage_that_means_the_same_is_found_after_the_first_search(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    topics, settings = Topics(), Settings()
    settings = replace(settings, search=replace(settings.search, embedding_model="b"))
    workspace = await open_workspace(Embedding(topics), settings)
    home.mkdir(parents=True, exist_ok=True)
    place = workspace.project.root / "notes.md"
    place.write_text("# Columns\n\nThe css grid is too wide for a telephone.\n")
    assert topics.asked == []
    while not [each.name for each in await workspace.passages.find("how the layout behaves")]:
        await asyncio.sleep(0.01)
    place.write_text("# Bread\n\nBake it at two hundred and thirty degrees.\n")
    assert await workspace.passages.find("how the layout behaves") == []
