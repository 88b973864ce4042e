"""Recalling: what other sessions give, what of it goes along, and that nothing waits for it."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.message import Message, Retrieval, Text
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.search.passages import query_about
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


async def test_what_says_nearly_the_same_is_recalled_once(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    words = "The upload job retries forever unless the back-off has a ceiling of five attempts"
    messages = tuple(
        Message(f"m{number}", "user", (Text(f"{words} {number}"),), clock.now())
        for number in range(5)
    )
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    library.add(replace(samples()[0], messages=messages))
    library.close()
    workspace = await open_workspace()
    found = await workspace.history.recall.passages("does the upload retry forever?")
    assert len(found) == 1


def test_only_telling_words_are_looked_for() -> None:
    query = query_about("How should I do the retries, please? 再試行 of v2")
    assert {term.text for term in query.terms} == {"retries", "再試行"}
    assert query_about("and the?").terms == ()
