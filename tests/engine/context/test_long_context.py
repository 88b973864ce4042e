"""A long history is assembled and counted beside everything else: keys are echoed meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec.structs import replace

from bench.sample_sessions import sample_session
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.engine.context.session_context import PIECES_AT_A_TIME
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import OpenWorkspace

MESSAGES = 4 * PIECES_AT_A_TIME


async def long_conversation(open_workspace: OpenWorkspace, home: Path) -> Conversation:
    session = replace(sample_session(MESSAGES, 40), model="scripted")
    SessionLibrary.at(StoreLayout(home / "sessions")).add(session)
    conversation, _ = await (await open_workspace()).resume(session.session_id)
    return conversation


async def test_others_get_their_turn_while_a_long_context_is_counted(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    conversation = await long_conversation(open_workspace, home)
    turns = 0
    task = asyncio.create_task(conversation.prepare())
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns >= 2 * MESSAGES // PIECES_AT_A_TIME  # assembled, then counted
    assert len(conversation.context().items) == MESSAGES + 1
    await conversation.close()


async def test_others_get_their_turn_while_the_browser_looks_at_a_session_that_was_just_opened(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    session = replace(sample_session(MESSAGES, 40), model="scripted")
    SessionLibrary.at(StoreLayout(home / "sessions")).add(session)
    workspace = await open_workspace()
    conversation, _ = await workspace.resume(session.session_id)
    turns = 0
    task = asyncio.create_task(workspace.points.overview(session.session_id))
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns >= 2 * MESSAGES // PIECES_AT_A_TIME
    assert task.result().timeline.tokens[-1] == conversation.context().count.tokens
    await conversation.close()


async def test_a_long_context_is_added_up_while_it_is_counted_and_not_once_more_afterwards(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    conversation = await long_conversation(open_workspace, home)
    await conversation.prepare()
    prepared = conversation.context().count
    # Whoever looks again gets what was added up, not a sum that was made anew.
    assert conversation.context().count is prepared
    await conversation.recount()
    assert conversation.context().count == prepared
    await conversation.close()


async def test_what_changes_while_a_long_context_is_counted_is_in_it(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    conversation = await long_conversation(open_workspace, home)
    before = conversation.context().count.tokens
    first = conversation.state.branch()[0].id
    # Its record changes the context, and everything is assembled anew.
    await conversation.change_context(ContextChange("exclude", (first,)))
    task = asyncio.create_task(conversation.prepare())
    for _ in range(3):
        await asyncio.sleep(0)
    second = conversation.state.branch()[2].id
    await conversation.change_context(ContextChange("exclude", (second,)))
    await task
    view = conversation.context()
    marks = {item.key: item.mark for item in view.items}
    assert (marks[first], marks[second]) == ("excluded", "excluded")
    assert view.count.tokens < before
    await conversation.close()
