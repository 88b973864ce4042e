"""Points of all sessions: looked at, forked and measured without changing any of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.errors import StoreError
from ollm_tui.core.session.graft import grafted
from ollm_tui.core.session.message import Attachment, Message, Retrieval, Text
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import Settings, Snapshots
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.compression.test_compression import (
    collected,
    garden,
    gardener,
    result,
    settings,
    talk,
)
from tests.engine.conftest import OpenWorkspace, workspace_on
from tests.tui.browser_samples import WINDOW, fill_with_snapshots, full_id


@pytest.fixture
def rich(home: Path) -> Workspace:
    fill_with_snapshots(home)
    return workspace_on(home, (), Settings())


async def test_an_overview_has_branches_snapshots_and_the_timeline(rich: Workspace) -> None:
    seen = await rich.points.overview(full_id(0))
    assert [branch.leaf for branch in seen.branches] == ["a4", "b2"]
    assert [each.id for each in seen.snapshots] == ["snap0034", "snap0028", "snap0027", "snap0015"]
    assert len(seen.timeline.tokens) == 11
    await rich.close()


async def test_every_kind_of_point_is_a_context(rich: Workspace) -> None:
    points, session = rich.points, full_id(0)
    now = await points.at(Point(session))
    assert (now.head, now.token_count) == ("a4", 2300)
    branch = await points.at(Point(session, message="b2"))
    assert branch.order == ("q0", "a0", "q1", "a1", "q2", "b2")
    snapshot = await points.at(Point(session, "snap0028"))
    assert (snapshot.name, snapshot.order[-1]) == ("before the log", "a2")
    with pytest.raises(StoreError):
        await points.at(Point(session, message="nobody"))
    with pytest.raises(StoreError):
        await points.at(Point(session, "nothing"))
    await rich.close()


async def test_the_parts_of_a_budget_add_up_to_the_tokens_of_the_point(rich: Workspace) -> None:
    for point in (Point(full_id(0)), Point(full_id(0), "snap0034"), Point(full_id(0), "", "b2")):
        context = await rich.points.at(point)
        budget = rich.points.budget(context)
        assert budget.used == context.token_count
        assert budget.room and budget.room.window == WINDOW
    log = rich.points.budget(await rich.points.at(Point(full_id(0), "snap0034"))).parts
    assert log.user > log.assistant, "the log is the user's"
    assert rich.points.budget(await rich.points.at(Point(full_id(1)))).room is None
    await rich.close()


async def test_an_open_session_is_as_full_as_its_gauge_says_and_so_is_its_fork(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(gardener(), settings())
    opened = await workspace.begin()
    await talk(opened, 12)
    for change in (opened.compression.run(), opened.send("Is clay bad?")):
        await collected(change)
        now = await workspace.points.at(Point(opened.session_id))
        assert now.token_count == opened.context().count.tokens
        copy = await workspace.points.fork(Point(opened.session_id))
        assert (await workspace.points.state(copy)).summary().token_count == now.token_count
    await opened.close()


async def test_a_copy_that_ends_earlier_is_as_full_as_it_was_there(rich: Workspace) -> None:
    there = await rich.points.at(Point(full_id(0), message="a1"))
    whole = await rich.points.at(Point(full_id(0)))
    copy = await rich.points.state(await rich.fork(full_id(0), "a1"))
    assert 0 < copy.summary().token_count == there.token_count < whole.token_count
    await rich.close()


@pytest.mark.parametrize(
    ("point", "last"),
    [
        (Point(full_id(0)), "a4"),
        (Point(full_id(0), "snap0028"), "a2"),
        (Point(full_id(0), "", "b2"), "b2"),
    ],
)
async def test_a_fork_begins_at_the_point_and_the_session_stays(
    rich: Workspace, home: Path, point: Point, last: str
) -> None:
    before = StoreLayout(home / "sessions").session(full_id(0)).read_bytes()
    copy = await rich.points.fork(point)
    state = await rich.points.state(copy)
    assert state.header.head == last and state.header.forked_from == full_id(0)
    assert StoreLayout(home / "sessions").session(full_id(0)).read_bytes() == before
    await rich.close()


async def test_tags_and_the_archive_are_kept(rich: Workspace, home: Path) -> None:
    await rich.tag(full_id(1), ["work", "work", " a\x1b[31mb ", ""])
    await rich.archive(full_id(1), True)
    await rich.close()
    summary = SessionLibrary.at(StoreLayout(home / "sessions")).summary(full_id(1))
    assert summary.tags == ("work", "ab") and summary.archived


async def test_going_back_to_a_message_is_on_record_and_can_be_undone(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 3)
    branch = [message.id for message in conversation.state.branch()]
    now = conversation.prompt_json()
    note = await conversation.snapshots.go_back(branch[1])
    assert [message.id for message in conversation.state.branch()] == branch[:2]
    assert conversation.snapshots.undoable == note and note.before == branch[-1]
    await conversation.snapshots.undo_restore()
    assert conversation.prompt_json() == now
    assert conversation.snapshots.undoable is None
    with pytest.raises(StoreError):
        await conversation.snapshots.go_back("nobody")
    await conversation.close()


async def test_what_is_said_after_going_back_is_a_branch_of_its_own(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 3)
    branch = [message.id for message in conversation.state.branch()]
    await conversation.snapshots.go_back(branch[1])
    await talk(conversation, 1)
    assert [message.id for message in conversation.state.branch()][:2] == branch[:2]
    assert len(conversation.state.children(branch[1])) == 2
    await conversation.close()


async def test_a_message_of_another_session_is_sent_as_data(open_workspace: OpenWorkspace) -> None:
    conversation = await garden(open_workspace, 1)
    told = Message("m1", "assistant", (Text("use jitter"),), "2026-01-01T00:00:00Z")
    turn = conversation.send("As we said before:", grafted([told], "other"))
    async for _ in turn:
        pass
    asked = [message for message in conversation.state.branch() if message.role == "user"][-1]
    assert asked.parts[1:] == (Retrieval(text="use jitter", session_id="other", message_id="m1"),)
    assert "from an earlier conversation" in conversation.prompt_text()
    await conversation.close()


async def test_a_picture_of_another_session_is_sent_as_a_picture(
    open_workspace: OpenWorkspace,
) -> None:
    model = Scripted()
    conversation = await (await open_workspace(model)).begin()
    picture = Attachment(name="p.png", media_type="image/png", content="iVBORw0KGgo=")
    shown = Message("m1", "user", (Text("what is it?"), picture), "2026-01-01T00:00:00Z")
    await collected(conversation.send("As here:", grafted([shown], "other")))
    asked = model.requests[-1].messages[-1]
    assert [image.data for image in asked.images] == [picture.content]
    assert "what is it?" in asked.text and picture.content not in asked.text
    await conversation.close()


async def test_going_back_to_a_message_is_undone_without_a_snapshot(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 3)
    now, first = conversation.prompt_json(), conversation.state.branch()[1].id
    note = await conversation.snapshots.go_back(first)
    assert note.safety
    await (await open_workspace()).snapshots.delete(conversation.session_id, note.safety)
    await conversation.snapshots.undo_restore()
    assert conversation.prompt_json() == now
    assert conversation.snapshots.standing is None
    await conversation.close()


async def remembered(conversation: Conversation, turns: int, prompts: dict[str, str]) -> None:
    """Talk, and remember the prompt that ended with each reply."""
    for _ in range(turns):
        await talk(conversation, 1)
        prompts[conversation.state.branch()[-1].id] = conversation.prompt_json()


async def compressed(conversation: Conversation, prompts: dict[str, str]) -> None:
    """Compress: the conversation goes on from the last message in that form."""
    result(await collected(conversation.compression.run()))
    prompts[conversation.state.branch()[-1].id] = conversation.prompt_json()


async def test_going_back_to_a_message_gives_the_prompt_of_then_and_the_tokens_of_its_preview(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(gardener(), settings(enabled=False))
    conversation, prompts = await workspace.begin(), dict[str, str]()
    await remembered(conversation, 8, prompts)
    await compressed(conversation, prompts)
    await remembered(conversation, 4, prompts)
    await conversation.compression.undo()
    await remembered(conversation, 1, prompts)
    await compressed(conversation, prompts)
    await remembered(conversation, 3, prompts)
    await compressed(conversation, prompts)
    now, session_id = conversation.prompt_json(), conversation.session_id
    *earlier, last = prompts
    undone_at = earlier.pop(11)  # the end of two prompts: before the undo and after it
    for key in earlier:
        preview = await workspace.points.at(Point(session_id, message=key))
        await conversation.snapshots.go_back(key)
        assert conversation.prompt_json() == prompts[key]
        assert conversation.context().count.tokens == preview.token_count
        assert conversation.state.header.metadata.token_count == preview.token_count
        await conversation.snapshots.undo_restore()
        assert conversation.prompt_json() == now
    assert conversation.state.branch()[-1].id == last and undone_at in conversation.state
    await conversation.close()

    again, _ = await (await open_workspace(gardener(), settings(enabled=False))).resume(session_id)
    await again.snapshots.go_back(earlier[9])
    assert again.prompt_json() == prompts[earlier[9]]
    await again.close()


async def test_a_fork_at_a_message_has_the_prompt_of_then(open_workspace: OpenWorkspace) -> None:
    workspace = await open_workspace(gardener(), settings(enabled=False))
    conversation, prompts = await workspace.begin(), dict[str, str]()
    await remembered(conversation, 6, prompts)
    await compressed(conversation, prompts)
    await remembered(conversation, 4, prompts)
    await compressed(conversation, prompts)
    for key in (list(prompts)[3], list(prompts)[7]):
        for copy in (
            await workspace.fork(conversation.session_id, key),
            await workspace.points.fork(Point(conversation.session_id, message=key)),
        ):
            fork, _ = await workspace.resume(copy)
            assert fork.prompt_json() == prompts[key]
            await fork.close()
    await conversation.close()


async def test_without_a_snapshot_the_compression_comes_back_with_the_undo(
    open_workspace: OpenWorkspace,
) -> None:
    off = Settings(models=settings().models, snapshots=Snapshots(enabled=False))
    conversation = await (await open_workspace(gardener(), off)).begin()
    prompts = dict[str, str]()
    await remembered(conversation, 8, prompts)
    await compressed(conversation, prompts)
    await remembered(conversation, 1, prompts)
    now, key = conversation.prompt_json(), list(prompts)[2]
    await conversation.snapshots.go_back(key)
    assert conversation.prompt_json() == prompts[key]
    await talk(conversation, 1)
    await conversation.snapshots.undo_restore()
    assert conversation.prompt_json() == now
    assert (await conversation.compression.undo()).undone_at
    await conversation.close()


async def test_what_was_said_after_going_back_before_a_compression_stays_without_it(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(gardener(), settings(enabled=False))
    conversation, prompts = await workspace.begin(), dict[str, str]()
    await remembered(conversation, 8, prompts)
    done = result(await collected(conversation.compression.run())).compression
    assert done.snapshot
    await conversation.snapshots.restore(await conversation.snapshots.get(done.snapshot))
    await remembered(conversation, 2, prompts)
    await compressed(conversation, prompts)
    key = list(prompts)[8]
    await conversation.snapshots.go_back(key)
    assert conversation.prompt_json() == prompts[key]
    await conversation.close()
