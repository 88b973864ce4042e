"""Recalling: what other sessions give, what of it goes along, and that nothing waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.message import Retrieval
from ollm_tui.core.provider import TextDelta
from ollm_tui.engine.recall import Passage, Recall
from ollm_tui.engine.workspace import Workspace
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.search.recall_words import recall_query
from ollm_tui.settings.schema import Search, Settings
from tests.engine.conftest import OpenWorkspace
from tests.tui.search_samples import fill, full_id

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


async def test_a_server_that_makes_no_vectors_keeps_no_message_waiting(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill(home)
    workspace = await open_workspace()

    async def fails(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise Unavailable("nobody answers", "start the server")

    recall = Recall(workspace.history, 1000, fails)
    assert await recall.for_prompt("retries of the job", "") == ()


def test_only_telling_words_are_looked_for() -> None:
    query = recall_query("How should I do the retries, please? 再試行 of v2")
    assert {term.text for term in query.terms} == {"retries", "再試行"}
    assert query.any_term
    assert recall_query("and the?").terms == ()
