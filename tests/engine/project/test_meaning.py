"""Searching by meaning: vectors made in the background, and what is found with them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.search import Hit
from ollm_tui.engine.project.history_search import History
from ollm_tui.engine.project.search_model import SearchModel, SearchModels
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.search.query import parse_query
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.search.vectors import vectors_path
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import OnlyProvider
from tests.tui.search_samples import fill, full_id

TOPICS = (("grid", "layout", "css"), ("retries", "attempts", "over"), ("backup", "archive"))


class Topics:
    """Makes a vector of the topics that a text is about."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_down = False

    async def embed(self, model: str, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        if self.is_down:
            raise Unavailable("nobody answers", "start the server")
        self.asked += texts
        about = [[any(word in text for word in topic) for topic in TOPICS] for text in texts]
        return tuple(tuple(float(flag) - 0.01 for flag in each) * 8 for each in about)


class OneModel(SearchModels):
    """Always finds the same model."""

    def __init__(self, model: SearchModel) -> None:
        super().__init__(OnlyProvider(Scripted([])), None)
        self.model = model

    async def find(self, *, asks_servers: bool) -> SearchModel | None:
        return self.model


@pytest.fixture
def topics() -> Topics:
    return Topics()


@pytest.fixture
def library(home: Path) -> SessionLibrary:
    fill(home)
    return SessionLibrary.at(StoreLayout(home / "sessions"))


@pytest_asyncio.fixture
async def histories(library: SessionLibrary) -> AsyncIterator[list[History]]:
    opened: list[History] = []
    yield opened
    for history in opened:
        await history.close()
    library.close()


def history_of(
    library: SessionLibrary, opened: list[History], topics: Topics, host: str | None = None
) -> History:
    recording = Recording(library.store, library.index)
    models = OneModel(SearchModel(topics, "a/b", "b", host))
    opened.append(
        History(library.store, recording.topic, most=50, recall_tokens=1000, models=models)
    )
    return opened[-1]


async def made(history: History) -> None:
    """Wait until all vectors are made."""
    history.meaning.wake()
    while not history.meaning.is_idle:
        await asyncio.sleep(0.01)


async def hits(history: History, words: str) -> list[Hit]:
    found: list[Hit] = []
    async for results in history.search(parse_query(words)):
        found = list(results.ranked)
    return found


async def test_what_means_the_same_is_found_and_says_why(
    library: SessionLibrary, histories: list[History], topics: Topics
) -> None:
    history = history_of(library, histories, topics)
    await made(history)
    found = await hits(history, "a layout that is too wide")
    assert [hit.session_id for hit in found[:2]] == [full_id(2)] * 2
    assert {hit.why for hit in found[:2]} <= {"meaning", "both"}
    exact = await hits(history, "css grid")
    assert exact[0].why == "both"


async def test_quoted_words_are_not_searched_by_meaning(
    library: SessionLibrary, histories: list[History], topics: Topics
) -> None:
    history = history_of(library, histories, topics)
    await made(history)
    assert await hits(history, '"layout"') == []


async def test_filters_hold_for_what_is_found_by_meaning(
    library: SessionLibrary, histories: list[History], topics: Topics
) -> None:
    history = history_of(library, histories, topics)
    await made(history)
    found = await hits(history, "a layout that is too wide role:user")
    assert {hit.role for hit in found} == {"user"}
    assert not any(hit.why == "meaning" for hit in await hits(history, "layout in:october"))


async def test_a_model_that_fails_leaves_what_the_words_found(
    library: SessionLibrary, histories: list[History], topics: Topics
) -> None:
    history = history_of(library, histories, topics)
    topics.is_down = True
    await made(history)
    assert [hit.why for hit in await hits(history, "css grid")] == ["words", "words"]


async def test_each_text_is_asked_for_once(
    library: SessionLibrary, histories: list[History], topics: Topics
) -> None:
    history = history_of(library, histories, topics)
    await made(history)
    first = len(topics.asked)
    assert first
    await made(history)
    assert len(topics.asked) == first


async def test_vectors_of_a_deleted_session_are_gone(
    library: SessionLibrary, histories: list[History], topics: Topics
) -> None:
    history = history_of(library, histories, topics)
    await made(history)
    path = vectors_path(library.store.layout.search)
    before = path.stat().st_size
    library.delete(full_id(2))
    assert path.stat().st_size < before
    await history.refresh()
    assert not any(hit.session_id == full_id(2) for hit in await hits(history, "wide layout"))


async def test_another_machine_gets_nothing_before_it_is_allowed_to(
    library: SessionLibrary, histories: list[History], topics: Topics
) -> None:
    history = history_of(library, histories, topics, host="api.example.com")
    await made(history)
    await hits(history, "a layout that is too wide")
    assert topics.asked == []
    assert await history.meaning.host_to_allow() == "api.example.com"
    history.meaning.allow("api.example.com")
    await made(history)
    assert await history.meaning.host_to_allow() is None
    assert (await hits(history, "a layout that is too wide"))[0].session_id == full_id(2)


async def test_recall_finds_by_meaning_too(
    library: SessionLibrary, histories: list[History], topics: Topics
) -> None:
    history = history_of(library, histories, topics)
    await made(history)
    found = await history.recall.passages("Is there any layout which is too wide?")
    assert found[0].session_id == full_id(2)
    brought = await history.recall.for_prompt("Is there any layout which is too wide?", "")
    assert {part.session_id for part in brought} == {full_id(2)}
