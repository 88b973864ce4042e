"""A workspace: its sessions renamed, pinned, copied, thrown away and brought back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from ollm_tui.core.errors import SessionBusy, SessionNotFound, StoreError, UsageError
from ollm_tui.core.events import AnyTurnEvent
from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.project.workspace import LONGEST_TITLE, Workspace
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import ModelSettings, Sessions, Settings
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import OpenWorkspace


async def finished(events: AsyncGenerator[AnyTurnEvent, None]) -> None:
    async for _ in events:
        pass


async def said(workspace: Workspace, *texts: str) -> str:
    """A closed session in which this was said."""
    conversation = await workspace.begin()
    for text in texts:
        await finished(conversation.send(text))
    await conversation.close()
    return conversation.session_id


def on_disk(home: Path, session_id: str) -> SessionState:
    return SessionLibrary.at(StoreLayout(home / "sessions")).load(session_id).state


async def titles(workspace: Workspace) -> list[str]:
    return [summary.title for summary in await workspace.sessions()]


async def test_a_closed_session_is_renamed_and_pinned(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    session_id = await said(workspace, "Hello there, how are you?")
    before = on_disk(home, session_id).header.last_activity
    await workspace.rename(session_id, "  Better\n title \x1b[31m ")
    await workspace.pin(session_id, True)
    header = on_disk(home, session_id).header
    assert (header.title, header.pinned) == ("Better title", True)
    assert header.last_activity == before, "handling a session is no activity in it"
    [summary] = await workspace.sessions()
    assert (summary.title, summary.pinned) == ("Better title", True)
    await workspace.pin(session_id, False)
    assert not on_disk(home, session_id).header.pinned


async def test_a_session_that_is_open_here_is_changed_through_its_conversation(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    await finished(conversation.send("First"))
    await workspace.rename(conversation.session_id, "Renamed")
    assert conversation.state.header.title == "Renamed"
    await finished(conversation.send("Second"))
    await conversation.close()
    await workspace.pin(conversation.session_id, True)
    header = on_disk(home, conversation.session_id).header
    assert (header.title, header.pinned) == ("Renamed", True)


async def test_a_session_that_another_process_writes_is_busy(open_workspace: OpenWorkspace) -> None:
    other, workspace = await open_workspace(), await open_workspace()
    conversation = await other.begin()
    await finished(conversation.send("Mine"))
    with pytest.raises(SessionBusy):
        await workspace.rename(conversation.session_id, "Yours")
    with pytest.raises(SessionBusy):
        await workspace.discard(conversation.session_id)
    assert [message.text for message in await workspace.read(conversation.session_id)] == [
        "Mine",
        "Mine",
    ]
    await conversation.close()


@pytest.mark.parametrize("title", ("", "  \n ", "\x1b[31m\u202e"))
async def test_a_title_without_a_character_is_refused(
    open_workspace: OpenWorkspace, title: str
) -> None:
    workspace = await open_workspace()
    session_id = await said(workspace, "Words")
    with pytest.raises(UsageError, match="at least one character"):
        await workspace.rename(session_id, title)
    assert await titles(workspace) == ["Words"]


async def test_an_endless_title_is_cut(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace()
    session_id = await said(workspace, "Words")
    await workspace.rename(session_id, "x" * 5000)
    assert await titles(workspace) == ["x" * LONGEST_TITLE]


async def test_a_conversation_without_a_message_has_nothing_to_rename(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    with pytest.raises(UsageError, match="no messages"):
        await workspace.rename(conversation.session_id, "Too early")
    await conversation.close()
    assert not list((home / "sessions").glob("*"))


async def test_what_is_thrown_away_comes_back_whole(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    session_id = await said(workspace, "Keep me", "And me")
    other = await said(workspace, "Other")
    before = on_disk(home, session_id).session()
    await workspace.discard(session_id)
    assert await titles(workspace) == ["Other"]
    with pytest.raises(SessionNotFound):
        await workspace.read(session_id)
    await workspace.restore(session_id)
    assert sorted(await titles(workspace)) == ["Keep me", "Other"]
    assert on_disk(home, session_id).session() == before
    with pytest.raises(SessionNotFound):
        await workspace.restore(other)


async def test_the_open_session_is_not_thrown_away(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    await finished(conversation.send("Open"))
    with pytest.raises(UsageError, match="is open") as refused:
        await workspace.discard(conversation.session_id)
    assert refused.value.hint == "switch to another, or /close it"
    await conversation.close()
    await workspace.discard(conversation.session_id)
    assert await titles(workspace) == []


async def test_a_fork_is_a_new_session_up_to_a_message(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    session_id = await said(workspace, "One", "Two")
    first = on_disk(home, session_id).branch()[1].id
    whole = await workspace.fork(session_id)
    part = await workspace.fork(session_id, first)
    assert len({session_id, whole, part}) == 3
    assert [len(await workspace.read(name)) for name in (session_id, whole, part)] == [4, 4, 2]
    assert on_disk(home, part).header.forked_from == session_id
    with pytest.raises(StoreError):
        await workspace.fork(session_id, "nowhere")


async def test_a_fork_has_also_what_was_not_saved_yet(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace((), Settings(sessions=Sessions(auto_save=False)))
    conversation = await workspace.begin()
    await finished(conversation.send("Unsaved"))
    assert conversation.unsaved
    forked = await workspace.fork(conversation.session_id)
    assert [message.text for message in await workspace.read(forked)] == ["Unsaved", "Unsaved"]
    await conversation.close()


async def test_reading_an_open_session_shows_what_is_being_written(
    open_workspace: OpenWorkspace,
) -> None:
    go_on = asyncio.Event()
    workspace = await open_workspace([[TextDelta("Half"), go_on]])
    conversation = await workspace.begin()
    turn = asyncio.create_task(finished(conversation.send("Begin")))
    while len(await workspace.read(conversation.session_id)) < 2:
        await asyncio.sleep(0)
    assert (await workspace.read(conversation.session_id))[0].text == "Begin"
    go_on.set()
    await turn
    await conversation.close()


async def test_another_model_answers_and_the_session_remembers_it(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    provider = Scripted()
    wishes = Settings(models={"large": ModelSettings(window=4096, temperature=0.1)})
    workspace = await open_workspace(provider, wishes)
    conversation = await workspace.begin()
    await finished(conversation.send("One"))
    await workspace.switch_model(conversation, "scripted", "large")
    await finished(conversation.send("Two"))
    await conversation.close()
    assert [(request.model, request.window) for request in provider.requests] == [
        ("scripted", 8192),
        ("large", 4096),
    ]
    header = on_disk(home, conversation.session_id).header
    assert (header.model, header.provider, header.window) == ("large", "scripted", 4096)


async def test_the_model_may_be_switched_before_the_first_message(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    await workspace.switch_model(conversation, "scripted", "large")
    assert not list((home / "sessions").glob("*")), "nothing is on disk before the first message"
    await finished(conversation.send("One"))
    await conversation.close()
    assert on_disk(home, conversation.session_id).header.model == "large"


async def test_what_the_disk_refuses_is_an_error_for_the_user(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    session_id = await said(workspace, "Keep me")
    StoreLayout(home / "sessions").trash.write_text("a file in the place of the directory")
    with pytest.raises(StoreError, match="storage error") as refused:
        await workspace.discard(session_id)
    assert refused.value.hint
    assert await titles(workspace) == ["Keep me"]


async def test_a_conversation_goes_on_in_a_session_that_it_names_and_that_names_it(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin()
    for text in ("First", "Second"):
        await finished(conversation.send(text))
    linked = await workspace.go_on(conversation)
    await conversation.close()
    old, new = on_disk(home, conversation.session_id).header, on_disk(home, linked)
    assert (old.continued_in, new.header.continues) == (linked, conversation.session_id)
    assert new.branch()[0].text == "Second"
    fork = await workspace.fork(conversation.session_id)
    assert on_disk(home, fork).header.continued_in is None


async def test_the_session_an_ephemeral_one_goes_on_in_is_ephemeral(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    conversation = await workspace.begin(ephemeral=True)
    await finished(conversation.send("Nothing of this is kept"))
    linked, _ = await workspace.resume(await workspace.go_on(conversation))
    assert not linked.is_kept and linked.state.branch()[0].text == "Nothing of this is kept"
    await finished(linked.send("Nor of this"))
    await linked.close()
    assert not list((home / "sessions").rglob("*.j*"))
