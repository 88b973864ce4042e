"""Snapshots of a conversation: going back gives the prompt of that moment, and back again."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ollm_tui.core.errors import UsageError
from ollm_tui.core.events import TurnFailed
from ollm_tui.core.session.compression import was_undone
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import snapshot_of
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.settings.schema import Settings, Snapshots
from tests.engine.compression.test_compression import (
    collected,
    garden,
    gardener,
    result,
    settings,
    talk,
)
from tests.engine.conftest import OpenWorkspace


async def test_restoring_gives_the_prompt_byte_for_byte_and_can_be_undone(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 4)
    await conversation.goals.set_goal("a garden")
    await conversation.change_context(ContextChange("pin", (conversation.state.branch()[1].id,)))
    then = conversation.prompt_json()
    taken = await conversation.snapshots.take("before the flowers")
    await talk(conversation, 3)
    result(await collected(conversation.compression.run()))
    await conversation.goals.set_goal("a balcony")
    now, messages = conversation.prompt_json(), len(conversation.state)

    note = await conversation.snapshots.restore(await conversation.snapshots.get(taken.id))
    assert conversation.prompt_json() == then
    assert len(conversation.state) == messages
    assert note.title == "before the flowers" and note.safety
    await conversation.snapshots.undo_restore()
    assert conversation.prompt_json() == now
    with pytest.raises(UsageError):
        await conversation.snapshots.undo_restore()
    await conversation.close()


async def test_a_restore_is_on_record_after_a_restart(open_workspace: OpenWorkspace) -> None:
    conversation = await garden(open_workspace, 3)
    taken = await conversation.snapshots.take()
    then = conversation.prompt_json()
    await talk(conversation, 2)
    await conversation.snapshots.restore(await conversation.snapshots.get(taken.id))
    session_id = conversation.session_id
    await conversation.close()
    again, _ = await (await open_workspace(gardener(), settings())).resume(session_id)
    assert again.prompt_json() == then
    assert [each.snapshot for each in again.snapshots.restores] == [taken.id]
    await again.snapshots.undo_restore()
    assert again.prompt_json() != then
    await again.close()


async def test_one_snapshot_is_taken_when_the_threshold_is_passed(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 11, enabled=False)
    shares: list[float] = []
    for _ in range(4):
        taken = await conversation.snapshots.list()
        budget = conversation.context().budget
        assert budget.room
        shares.append(budget.used / budget.room.limit)
        passed = [share for share in (0.85, 0.95) if max(shares) >= share]
        assert [each.reason for each in taken] == ["threshold"] * len(passed)
        await talk(conversation, 1)
    assert shares[0] < 0.85 and max(shares) > 0.95, "the second is the last before it overflows"
    await conversation.close()


async def test_a_change_of_mode_takes_one_before(open_workspace: OpenWorkspace) -> None:
    conversation = await garden(open_workspace, 1)
    await conversation.change_mode("planning")
    assert [each.reason for each in await conversation.snapshots.list()] == ["mode"]
    await conversation.close()


async def test_without_snapshots_compression_goes_on_without_one(
    open_workspace: OpenWorkspace,
) -> None:
    off = settings()
    wishes = Settings(models=off.models, snapshots=Snapshots(enabled=False))
    conversation = await (await open_workspace(gardener(), wishes)).begin()
    await talk(conversation, 12)
    done = result(await collected(conversation.compression.run())).compression
    assert done.snapshot is None
    await conversation.compression.undo()
    with pytest.raises(UsageError):
        await conversation.snapshots.take("mine")
    await conversation.close()


async def test_of_an_empty_conversation_there_is_none(open_workspace: OpenWorkspace) -> None:
    conversation = await (await open_workspace(gardener(), settings())).begin()
    with pytest.raises(UsageError):
        await conversation.snapshots.take()
    assert await conversation.snapshots.list() == []
    await conversation.close()


async def test_the_way_back_from_a_restore_outlives_any_number_of_automatic_ones(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 4)
    taken = await conversation.snapshots.take("early")
    await talk(conversation, 1)
    now = conversation.prompt_json()
    await conversation.snapshots.restore(await conversation.snapshots.get(taken.id))
    for number in range(Settings().snapshots.max_count + 3):
        await conversation.goals.set_goal(f"goal {number}")  # the same context is kept only once
        await conversation.snapshots.before("model")
    await conversation.snapshots.undo_restore()
    assert conversation.prompt_json() == now
    for number in range(Settings().snapshots.max_count):
        await conversation.goals.set_goal(f"other goal {number}")
        await conversation.snapshots.before("model")
    automatic = [each for each in await conversation.snapshots.list() if each.is_automatic]
    assert len(automatic) == Settings().snapshots.max_count  # nothing is needed any more
    await conversation.close()


async def test_an_equal_automatic_snapshot_is_used_again_and_dropped_only_if_it_is_new(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 2)
    first = await conversation.snapshots.before("compression")
    assert first and await conversation.snapshots.before("compression") == first
    await conversation.goals.set_goal("something else")
    second = await conversation.snapshots.before("compression")
    assert second and second != first
    await conversation.snapshots.drop(first)
    await conversation.snapshots.drop(second)
    assert [each.id for each in await conversation.snapshots.list()] == [first]
    await conversation.close()


async def test_several_restores_are_undone_one_after_the_other(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 1)
    prompts: list[str] = []
    first = await conversation.snapshots.get((await conversation.snapshots.take("first")).id)
    for _ in range(3):
        await talk(conversation, 1)
        prompts.append(conversation.prompt_json())
        await conversation.snapshots.restore(first)
    for prompt in reversed(prompts):
        await conversation.snapshots.undo_restore()
        assert conversation.prompt_json() == prompt
    with pytest.raises(UsageError):
        await conversation.snapshots.undo_restore()
    await conversation.close()


async def test_an_empty_context_can_be_gone_back_to_and_stays_empty_after_a_restart(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 2)
    header = replace(conversation.state.header, messages=(), head=None)
    nothing = snapshot_of(SessionState(header), 0, reason="manual")
    now, said = conversation.prompt_json(), len(conversation.state)
    await conversation.snapshots.restore(nothing)
    empty, session_id = conversation.prompt_json(), conversation.session_id
    assert conversation.state.branch() == []
    await conversation.close()
    again, _ = await (await open_workspace(gardener(), settings())).resume(session_id)
    assert (again.prompt_json(), len(again.state)) == (empty, said)
    await talk(again, 1)
    assert [message.parent_id for message in again.state.branch()][:1] == [None]
    assert len(again.state.branch()) == 2
    await again.close()
    once_more, _ = await (await open_workspace(gardener(), settings())).resume(session_id)
    await once_more.snapshots.undo_restore()
    assert once_more.prompt_json() == now
    await once_more.close()


async def test_of_a_conversation_set_back_to_nothing_a_snapshot_can_be_taken(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 1)
    header = replace(conversation.state.header, messages=(), head=None)
    await conversation.snapshots.restore(snapshot_of(SessionState(header), 0, reason="manual"))
    taken = await conversation.snapshots.take("empty")
    await talk(conversation, 1)
    note = await conversation.snapshots.restore(await conversation.snapshots.get(taken.id))
    assert (note.title, conversation.state.branch()) == ("empty", [])
    await conversation.close()


@pytest.mark.parametrize("by_point", (True, False))
async def test_in_a_fork_the_restores_of_the_other_session_are_not_undone_but_compressions_are(
    open_workspace: OpenWorkspace, by_point: bool
) -> None:
    workspace = await open_workspace(gardener(), settings())
    conversation = await workspace.begin()
    await talk(conversation, 10)
    before = conversation.prompt_json()
    done = result(await collected(conversation.compression.run())).compression
    taken = await conversation.snapshots.take("compressed")
    await talk(conversation, 1)
    await conversation.snapshots.restore(await conversation.snapshots.get(taken.id))
    now, session_id = conversation.prompt_json(), conversation.session_id
    if by_point:
        copy = await workspace.points.fork(Point(session_id, taken.id))
    else:
        copy = await workspace.fork(session_id)
    await conversation.close()

    fork, _ = await workspace.resume(copy)
    assert fork.prompt_json() == now
    assert (fork.snapshots.restores, fork.snapshots.standing) == ((), None)
    assert done.snapshot and [each.snapshot for each in fork.compression.history] == [None]
    with pytest.raises(UsageError):
        await fork.snapshots.undo_restore()
    assert (await fork.compression.undo()).number == done.number
    assert fork.prompt_json() == before
    await fork.close()


async def test_a_compression_after_checkpoints_were_brought_along_is_undone_and_marked_so(
    open_workspace: OpenWorkspace,
) -> None:
    workspace = await open_workspace(gardener(), settings())
    other, conversation = await workspace.begin(), await workspace.begin()
    await talk(other, 10)
    result(await collected(other.compression.run()))
    snapshot = await other.snapshots.get((await other.snapshots.take("with a checkpoint")).id)
    await other.close()

    await talk(conversation, 1)
    await conversation.snapshots.restore(snapshot)
    await talk(conversation, 7)
    before = conversation.prompt_json()
    done = result(await collected(conversation.compression.run())).compression
    history = conversation.compression.history
    assert [each.number for each in history].count(done.number) == 1
    assert done.number > max(each.compression_number for each in snapshot.checkpoints)
    await conversation.compression.undo()
    assert conversation.prompt_json() == before
    [entry] = [each for each in conversation.compression.history if each.at == done.at]
    assert entry.undone_at
    assert was_undone(conversation.compression.history), "it waits until a prompt does not fit"
    with pytest.raises(UsageError):
        await conversation.compression.undo()
    await conversation.close()


async def test_before_a_message_that_does_not_fit_the_context_without_it_is_kept_once(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 3)
    heard: list[str] = []
    conversation.snapshots.thresholds.on_before_overflow(lambda: heard.append("overflow"))
    before = conversation.prompt_json()
    for _ in range(2):
        events = await collected(conversation.send("far too long " * 5_000))
        assert isinstance(events[-1], TurnFailed)
        last = conversation.state.branch()[-1]
        await conversation.change_context(ContextChange("exclude", (last.id,)))
    [taken] = await conversation.snapshots.list()
    assert (taken.reason, heard) == ("overflow", ["overflow"])
    await conversation.snapshots.restore(await conversation.snapshots.get(taken.id))
    assert conversation.prompt_json() == before
    assert conversation.context().count.tokens == taken.token_count
    await conversation.close()


async def test_a_first_message_that_does_not_fit_leaves_nothing_to_keep(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await garden(open_workspace, 0)
    await collected(conversation.send("far too long " * 5_000))
    assert await conversation.snapshots.list() == []
    await conversation.close()
