"""Ephemeral sessions: listed, forked and gone back in as long as the program runs, in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.errors import StoreError, UsageError
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.settings.schema import Retention, Settings
from tests.engine.conftest import OpenWorkspace
from tests.tui.browser_samples import fill_with_snapshots, full_id

SECRET = "the combination is 31-7-19"


async def say(conversation: Conversation, words: str) -> None:
    async for _ in conversation.send(words):
        pass


async def secret_talk(workspace: Workspace) -> Conversation:
    conversation = await workspace.begin(ephemeral=True)
    await say(conversation, SECRET)
    await say(conversation, "forget it")
    return conversation


def files_with(words: str, home: Path) -> list[Path]:
    files = (file for file in home.rglob("*") if file.is_file())
    return [file for file in files if words.encode() in file.read_bytes()]


async def test_it_is_listed_with_its_snapshots_and_can_be_opened_again(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    conversation = await secret_talk(workspace)
    session_id, shown = conversation.session_id, conversation.prompt_text()
    assert not conversation.is_kept
    snapshot = await conversation.snapshots.take("then")
    await say(conversation, "more")
    await conversation.close()

    assert [each.session_id for each in await workspace.sessions()] == [session_id]
    assert (await workspace.points.holdings()).counts[session_id] == 1
    assert await workspace.find(session_id[:8]) == session_id
    assert (await workspace.read(session_id))[0].text == SECRET
    again, problems = await workspace.resume(session_id)
    assert problems == () and not again.is_kept
    await again.snapshots.restore(await again.snapshots.get(snapshot.id))
    assert again.prompt_text() == shown
    await say(again, "and on")
    await again.close()
    assert not files_with(SECRET, home)


@pytest.mark.parametrize("kind", ["session", "message", "snapshot"])
@pytest.mark.parametrize("is_open", [True, False])
async def test_a_fork_of_it_never_reaches_the_disk(
    open_workspace: OpenWorkspace, home: Path, kind: str, is_open: bool
) -> None:
    workspace = await open_workspace()
    conversation = await secret_talk(workspace)
    session_id = conversation.session_id
    point = Point(session_id)
    if kind == "message":
        point = Point(session_id, message=conversation.state.branch()[1].id)
    elif kind == "snapshot":
        point = Point(session_id, (await conversation.snapshots.take("then")).id)
    if not is_open:
        await conversation.close()
        await workspace.discard(session_id)
        if kind == "snapshot":
            assert await workspace.points.fork(point), "only its snapshots are left"
        await workspace.restore(session_id)
    for copy in (
        await workspace.points.fork(point),
        await workspace.fork(session_id, point.message or None),
    ):
        fork, _ = await workspace.resume(copy)
        assert fork.state.branch()[0].text == SECRET and not fork.is_kept
        assert fork.state.header.forked_from == session_id
        await say(fork, "go on")
        await fork.snapshots.take("of the fork")
        await fork.close()
    assert not files_with(SECRET, home)


async def test_what_begins_after_it_is_not_kept_either(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    workspace = await open_workspace()
    await (await secret_talk(workspace)).close()
    another = await workspace.begin()
    await say(another, SECRET)
    await another.close()
    assert not another.is_kept and len(await workspace.sessions()) == 2
    assert not files_with(SECRET, home)


async def test_a_fork_of_a_stored_session_in_an_ephemeral_run_is_not_kept(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    fill_with_snapshots(home)
    workspace = await open_workspace((), Settings(retention=Retention(mode="ephemeral")))
    before = {*(home / "sessions").rglob("*.j*")}
    for copy in (await workspace.fork(full_id(0)), await workspace.points.fork(Point(full_id(0)))):
        fork, _ = await workspace.resume(copy)
        await say(fork, SECRET)
        await fork.close()
    assert not files_with(SECRET, home)
    assert {*(home / "sessions").rglob("*.j*")} == before


async def test_it_is_renamed_discarded_and_brought_back_as_a_stored_one(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace()
    conversation = await secret_talk(workspace)
    session_id = conversation.session_id
    with pytest.raises(UsageError, match="is open"):
        await workspace.discard(session_id)
    await workspace.rename(session_id, "while it is open")
    await conversation.close()
    await workspace.pin(session_id, True)
    [summary] = await workspace.sessions()
    assert (summary.title, summary.pinned) == ("while it is open", True)
    await workspace.discard(session_id)
    assert await workspace.sessions() == []
    with pytest.raises(StoreError):
        await workspace.resume(session_id)
    await workspace.restore(session_id)
    assert await workspace.sessions() == [summary]


async def test_what_nothing_was_said_in_is_not_listed(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace()
    await (await workspace.begin(ephemeral=True)).close()
    assert await workspace.sessions() == []
