"""Goals, decisions, notes and modes: recorded, in the system part, and gone when they are."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from ollm_tui.core.errors import UsageError
from ollm_tui.core.events import AnyTurnEvent
from ollm_tui.core.session.session import ModeChange
from ollm_tui.providers.scripted import Scripted
from ollm_tui.settings.schema import ModelSettings, ModeSettings, Settings
from tests.engine.compression.test_compression import collected, gardener, result, settings, talk
from tests.engine.conftest import OpenWorkspace


async def finish(events: AsyncGenerator[AnyTurnEvent, None]) -> None:
    async for _ in events:
        pass


def system_of(provider: Scripted) -> str:
    first = provider.requests[-1].messages[0]
    assert first.role == "system"
    return first.text


async def test_the_active_goal_and_locked_decisions_stand_in_every_prompt(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted()
    conversation = await (await open_workspace(provider)).begin()
    await conversation.goals.set_goal("ship  the\nuploader")
    step = await conversation.goals.add_subtask("write the tests")
    await conversation.goals.add_subtask("write the code")
    await conversation.goals.finish_subtask(step.id)
    await conversation.goals.decide("full jitter", "servers recover", locked=True)
    await conversation.goals.decide("maybe a queue")
    await conversation.goals.add_blocker("no review yet")
    await finish(conversation.send("Hello"))
    assert system_of(provider).endswith(
        "\n\nThe user's goal: ship the uploader\nStill to do: write the code\n"
        "In the way: no review yet\n"
        "Decided, keep to it: full jitter (because servers recover)"
    )
    assert [item.key for item in conversation.context().items][:2] == ["system", "goals"]
    await conversation.close()


async def test_goals_set_before_the_first_message_are_recorded_with_it(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await (await open_workspace()).begin()
    await conversation.goals.set_goal("learn to sail")
    await conversation.change_mode("planning")
    await finish(conversation.send("Hello"))
    shown = conversation.prompt_text()
    await conversation.close()
    resumed, _ = await (await open_workspace()).resume(conversation.session_id)
    assert resumed.goals.active is not None
    assert resumed.goals.active.text == "learn to sail"
    assert resumed.mode.name == "planning"
    assert resumed.prompt_text() == shown
    await resumed.close()


async def test_one_goal_is_worked_on_at_a_time(open_workspace: OpenWorkspace) -> None:
    conversation = await (await open_workspace()).begin()
    goals = conversation.goals
    with pytest.raises(UsageError):
        await goals.pause_goal()
    with pytest.raises(UsageError):
        await goals.set_goal(" \n")
    first = await goals.set_goal("first")
    await goals.set_goal("second")
    assert [goal.status for goal in goals.all] == ["paused", "active"]
    await goals.complete_goal()
    await goals.resume_goal(first.id)
    assert [goal.status for goal in goals.all] == ["active", "done"]
    await goals.pause_goal()
    assert goals.active is None
    with pytest.raises(UsageError):
        await goals.resume_goal("nobody")
    await conversation.close()


async def test_a_decision_can_be_unlocked(open_workspace: OpenWorkspace) -> None:
    conversation = await (await open_workspace()).begin()
    await conversation.goals.set_goal("something")
    decision = await conversation.goals.decide("use tabs", locked=True)
    assert "use tabs" in conversation.prompt_text()
    await conversation.goals.complete_goal()
    assert "use tabs" in conversation.prompt_text()
    await conversation.goals.lock(decision.id, False)
    assert "use tabs" not in conversation.prompt_text()
    await conversation.close()


async def test_what_is_decided_without_a_goal_belongs_to_the_session(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted()
    conversation = await (await open_workspace(provider)).begin()
    goals = conversation.goals
    await goals.decide("use tabs", "the linter", locked=True)
    await goals.decide("maybe a queue")
    await finish(conversation.send("Hello"))
    assert system_of(provider).endswith("\n\nDecided, keep to it: use tabs (because the linter)")
    assert goals.all == () and goals.active is None
    await goals.set_goal("something")
    await goals.decide("full jitter", locked=True)
    assert [each.text for each in goals.decisions] == ["use tabs", "maybe a queue", "full jitter"]
    snapshot = await conversation.snapshots.take("decided")
    shown = conversation.prompt_text()
    await conversation.close()

    resumed, _ = await (await open_workspace()).resume(conversation.session_id)
    assert resumed.prompt_text() == shown
    for decision in resumed.goals.decisions:
        await resumed.goals.take_back(decision.id)
    assert resumed.goals.decisions == () and "Decided" not in resumed.prompt_text()
    assert [goal.text for goal in resumed.state.header.metadata.goals] == ["something"]
    await resumed.snapshots.restore(await resumed.snapshots.get(snapshot.id))
    assert resumed.prompt_text() == shown
    await resumed.close()


async def test_a_decision_that_was_taken_back_is_in_no_prompt_also_after_a_compression(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await (await open_workspace(gardener(), settings())).begin()
    await talk(conversation, 12)
    keep = await conversation.goals.decide("clay pots only", locked=True)
    gone = await conversation.goals.decide("no fertiliser", locked=True)
    await conversation.goals.take_back(gone.id)
    assert result(await collected(conversation.compression.run())).compression
    assert keep.text in conversation.prompt_text() and gone.text not in conversation.prompt_text()
    await conversation.close()


async def test_a_milestone_that_was_ahead_is_reached(open_workspace: OpenWorkspace) -> None:
    conversation = await (await open_workspace()).begin()
    await conversation.goals.set_goal("something")
    ahead = await conversation.goals.add_milestone("Half of it", reached=False)
    reached = await conversation.goals.add_milestone("half of it")
    assert reached.id == ahead.id and reached.reached_at
    assert conversation.goals.active and conversation.goals.active.milestones == (reached,)
    await conversation.close()


async def test_milestones_artifacts_and_blockers_are_kept(open_workspace: OpenWorkspace) -> None:
    conversation = await (await open_workspace()).begin()
    goals = conversation.goals
    await goals.set_goal("something")
    await goals.add_milestone("half of it")
    await goals.add_milestone("all of it", reached=False)
    await goals.add_artifact("a.py")
    await goals.add_blocker("time")
    await goals.remove_blocker("time")
    assert goals.active is not None
    assert [bool(each.reached_at) for each in goals.active.milestones] == [True, False]
    assert (goals.active.artifacts, goals.active.blockers) == (("a.py",), ())
    await conversation.close()


async def test_a_mode_gives_its_prompt_and_temperature_and_is_recorded(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Scripted()
    wanted = Settings(
        models={"scripted": ModelSettings(temperature=0.9)},
        modes={"pirate": ModeSettings(prompt="Talk like a pirate.", temperature=1.5)},
    )
    conversation = await (await open_workspace(provider, wanted)).begin()
    await finish(conversation.send("One"))
    assert provider.requests[-1].temperature == 0.9
    plain = system_of(provider)

    await conversation.change_mode("pirate", "command")
    await finish(conversation.send("Two"))
    assert system_of(provider) == f"{plain}\n\nTalk like a pirate."
    assert provider.requests[-1].temperature == 1.5
    assert [item.key for item in conversation.context().items][:2] == ["system", "mode"]

    await conversation.change_mode("assistant")
    await conversation.change_mode("assistant")
    await finish(conversation.send("Three"))
    assert (system_of(provider), provider.requests[-1].temperature) == (plain, 0.9)
    history = conversation.state.header.metadata.mode_history
    assert [(each.from_, each.to, each.trigger) for each in history] == [
        ("assistant", "pirate", "command"),
        ("pirate", "assistant", "manual"),
    ]
    with pytest.raises(UsageError, match="no mode"):
        await conversation.change_mode("no such mode")
    await conversation.close()


async def test_the_built_in_modes_are_there_and_short(open_workspace: OpenWorkspace) -> None:
    conversation = await (await open_workspace()).begin()
    assert [mode.name for mode in conversation.modes] == [
        *("assistant", "planning", "developer", "debugger", "reviewer")
    ]
    assert all(len(mode.prompt) < 200 for mode in conversation.modes)
    await conversation.close()


async def test_a_mode_that_is_gone_from_the_settings_says_nothing(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await (await open_workspace()).begin()
    change = ModeChange("assistant", "long gone", "2026-01-01T00:00:00Z", "manual")
    await conversation.change(
        metadata={"modeHistory": [{"from": "a", "to": change.to, "timestamp": "", "trigger": ""}]}
    )
    assert conversation.mode.name == "long gone"
    assert "long gone" not in conversation.prompt_text()
    await conversation.close()


async def test_notes_can_be_added_replaced_and_removed(open_workspace: OpenWorkspace) -> None:
    conversation = await (await open_workspace()).begin()
    await conversation.notes.add("style", "Use short sentences.")
    await conversation.notes.add("style", "Use long sentences.")
    await conversation.notes.add("units", "Metric only.", priority=90)
    assert "## units\nMetric only.\n\n## style\nUse long sentences." in conversation.prompt_text()
    await conversation.notes.remove("style")
    assert [note.key for note in conversation.notes.all] == ["units"]
    with pytest.raises(UsageError):
        await conversation.notes.remove("style")
    with pytest.raises(UsageError):
        await conversation.notes.add("style", " ")
    await conversation.close()
