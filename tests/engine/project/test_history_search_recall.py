"""Recalling: what other sessions give, what of it goes along, and that nothing waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.message import Message, Retrieval, Text
from ollm_tui.engine.project.history_search import COMPARED, COMPARED_CHARACTERS, Passage, Recall
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.search.snippets import recall_query
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import Search, Settings
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import OpenWorkspace
from tests.tui.search_samples import fill, full_id, samples

AUTOMATIC = Settings(search=Search(retrieval=True))
ASKED = "How should the upload job back off when it retries?"


async def asked(workspace: Workspace, text: str) -> tuple[Retrieval, ...]:
    """What went along with a message."""
    conversation = await workspace.begin()
    async for _ in conversation.send(text):
        pass
    question = conversation.state.branch()[0]
    await conversation.close()
    return tuple(part for part in question.parts if isinstance(part, Retrieval))


async def test_passages_say_where_they_are_from_and_what_they_cost(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    workspace = await open_workspace()
    found = await workspace.history.recall.passages("back-off for the upload job")
    best = found[0]
    assert (best.session_id, best.message_id) == (full_id(0), "s0m0")
    assert best.title == "retry logic for the uploader"
    assert best.text.startswith("The upload job retries forever")
    assert 10 < best.tokens < 60
    assert not any(passage.session_id == full_id(2) for passage in found)


async def test_a_session_can_be_left_out(open_workspace: OpenWorkspace, home: Path) -> None:
    fill(home)
    workspace = await open_workspace()
    found = await workspace.history.recall.passages("retries", full_id(0))
    assert {passage.session_id for passage in found} == {full_id(1), full_id(3)}


async def test_nothing_goes_along_by_itself_unless_it_is_wanted(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    assert await asked(await open_workspace([[TextDelta("Yes.")]]), ASKED) == ()


async def test_what_fits_goes_along_untrusted_where_it_is_wanted(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    provider = Scripted([[TextDelta("Yes.")]])
    brought = await asked(await open_workspace(provider, AUTOMATIC), ASKED)
    assert (full_id(0), "s0m0") in {(each.session_id, each.message_id) for each in brought}
    assert not any(each.trusted for each in brought)
    sent = provider.requests[0].messages[-1].text
    assert sent.startswith(ASKED)
    assert "[from an earlier conversation]:\n```\nThe upload job retries forever" in sent


async def test_the_budget_is_kept(open_workspace: OpenWorkspace, home: Path) -> None:
    fill(home)
    small = Settings(search=Search(retrieval=True, retrieval_tokens=5))
    assert await asked(await open_workspace([[TextDelta("Yes.")]], small), ASKED) == ()


async def test_what_has_little_to_do_with_it_stays_away(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    workspace = await open_workspace([[TextDelta("Yes.")]], AUTOMATIC)
    assert await asked(workspace, "Write a poem about the upload of a very long novel") == ()


async def test_alike_meanings_come_first_where_vectors_tell(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    workspace = await open_workspace()

    async def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        alike = ["backup" in text or not at for at, text in enumerate(texts)]
        return [(1.0, 0.0) if each else (0.0, 1.0) for each in alike]

    def place(passages: list[Passage]) -> int:
        return [passage.session_id for passage in passages].index(full_id(3))

    plain = await Recall(workspace.history, 1000).passages("retries of the job")
    ranked = await Recall(workspace.history, 1000, embed).passages("retries of the job")
    assert place(ranked) < place(plain)
    assert set(ranked) == set(plain)


async def test_a_server_that_makes_no_vectors_leaves_the_order_of_the_words(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    workspace = await open_workspace()

    async def fails(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise Unavailable("nobody answers", "start the server")

    plain, recall = Recall(workspace.history, 1000), Recall(workspace.history, 1000, fails)
    words = "retries of the job"
    assert await recall.passages(words) == await plain.passages(words) != []
    assert await recall.for_prompt(words, "") == await plain.for_prompt(words, "") != ()


async def test_a_server_that_takes_too_long_keeps_nobody_waiting(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    workspace = await open_workspace()
    given_up: list[str] = []

    async def sleeps(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            given_up.append(texts[0])
            raise
        return ()

    words = "retries of the job"
    plain = await Recall(workspace.history, 1000).passages(words)
    assert await Recall(workspace.history, 1000, sleeps).passages(words, patience=0.01) == plain
    assert given_up == [words]


async def test_a_server_is_asked_for_few_short_texts(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    messages = tuple(
        Message(f"m{number}", "user", (Text("retries " + "and so on " * 200),), clock.now())
        for number in range(COMPARED + 5)
    )
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    library.add(replace(samples()[0], messages=messages))
    library.close()
    workspace = await open_workspace()
    asked: list[int] = []

    async def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        asked.extend(map(len, texts))
        return [(1.0, 0.0)] * len(texts)

    found = await Recall(workspace.history, 1000, embed).passages("retries")
    assert found and len(asked) == COMPARED + 1
    assert max(asked) <= COMPARED_CHARACTERS


def test_only_telling_words_are_looked_for() -> None:
    query = recall_query("How should I do the retries, please? 再試行 of v2")
    assert {term.text for term in query.terms} == {"retries", "再試行"}
    assert query.any_term
    assert recall_query("and the?").terms == ()
