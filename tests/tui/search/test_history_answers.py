"""/ask: the model answers from earlier sessions, and each passage can be gone to."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.message import Message, Retrieval, Text
from ollm_tui.storage.sessions.session_store import SessionStore
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.search.history_answers import MOST_PASSAGES
from tests.crash.samples import begin
from tests.tui.conftest import OpenApp
from tests.tui.search_desk import desk
from tests.tui.search_samples import full_id
from tests.tui.seen import chat, send, state, stream

NOON = "2025-10-20T12:00:00.000000Z"


async def test_the_model_gets_numbered_passages_and_each_can_be_gone_to(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, script=[[TextDelta("It stores them [1].")]]) as at:
        await send(at.app, at.pilot, "/ask how should the upload job back off?")
        await at.settle()
        question = chat(at.app).chat.conversation.state.branch()[-2]
        brought = [part for part in question.parts if isinstance(part, Retrieval)]
        assert (brought[0].session_id, brought[0].message_id) == (full_id(0), "s0m0")
        assert brought[0].text.startswith("[1] retry logic for the uploader, 2025-10-14\n")
        assert "name those you use like [1]" in question.text
        title = "from an earlier session: [1] retry logic for the uploader, 2025-10-14"
        assert any(title in line for line in stream(at.app))
        await send(at.app, at.pilot, "/sources 1")
        await at.settle()
        assert chat(at.app).chat.conversation.session_id == full_id(0)


@pytest.mark.more
async def test_the_model_gets_the_best_passages_only(open_app: OpenApp, home: Path) -> None:
    names = "ada bob cid dan eve fay gus hal ivy jim kay lou max ned".split()
    for name in names:
        said = Message(name, "user", (Text(f"zebra {name} {name}s {name}ly"),), NOON)
        begin(SessionStore(StoreLayout(home / "sessions")), name, said)
    async with desk(open_app, home, script=[[TextDelta("Striped [1].")]]) as at:
        await send(at.app, at.pilot, "/ask zebra")
        await at.settle()
        question = chat(at.app).chat.conversation.state.branch()[-2]
        brought = [part for part in question.parts if isinstance(part, Retrieval)]
        assert len(brought) == MOST_PASSAGES < len(names)


async def test_the_hits_of_a_search_are_asked_about_with_a(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home, script=[[TextDelta("With jitter [1].")]]) as at:
        await send(at.app, at.pilot, "/search upload job back off")
        await at.settle()
        await at.press("down", "a")
        await at.settle()
        assert at.is_chat
        question = chat(at.app).chat.conversation.state.branch()[-2]
        assert question.text.startswith("upload job back off")
        assert any(isinstance(part, Retrieval) for part in question.parts)


async def test_without_an_answer_in_the_history_nothing_is_sent(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await send(at.app, at.pilot, "/ask zyzzyva?")
        await at.settle()
        assert "No matches in other sessions" in state(at.app)
        await send(at.app, at.pilot, "/sources")
        await at.settle()
        assert "No sources" in state(at.app)
