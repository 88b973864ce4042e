"""Goals and decisions from the chat: set, worked through, locked, taken back, and shown."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from ollm_tui.core.provider import TextDelta
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Scripted
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.goals.goal_line import GoalLine
from ollm_tui.tui.kit.picker import Picker
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, send, settled, state
from tests.tui.typing_in import type_in


def conversation(app: OllmApp) -> Conversation:
    return chat(app).chat.conversation


async def slash(app: OllmApp, pilot: Pilot[int], typed: str) -> None:
    while app.screen is not chat(app):
        await pilot.press("escape")
        await pilot.pause()
    await type_in(pilot, typed)
    await pilot.press("enter")
    await settled(app, pilot)


async def choose(app: OllmApp, pilot: Pilot[int], words: str) -> None:
    assert isinstance(app.screen, Picker)
    await type_in(pilot, words)
    await pilot.press("enter")
    await settled(app, pilot)


async def test_a_goal_is_set_told_to_the_model_and_shown(open_app: OpenApp) -> None:
    model = Scripted([[TextDelta("fine")]])
    async with open_app(model) as (app, pilot):
        await slash(app, pilot, "/goal ship the uploader")
        assert "included in every prompt" in state(app)
        await send(app, pilot, "hi")
        assert "ship the uploader" in model.requests[-1].messages[0].text
        await slash(app, pilot, "/goal")
        assert isinstance(app.screen, Picker)
        assert "ship the uploader" in shown(app) and "active" in shown(app)


async def test_goals_are_reached_paused_and_taken_up_again(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        goals = conversation(app).goals
        await slash(app, pilot, "/goal first")
        await slash(app, pilot, "/goal pause")
        assert goals.active is None
        await slash(app, pilot, "/goal second")
        await slash(app, pilot, "/goal done")
        assert [goal.status for goal in goals.all] == ["paused", "done"]
        await slash(app, pilot, "/goal")
        await type_in(pilot, "first")
        await pilot.press("enter")
        await settled(app, pilot)
        assert goals.active and goals.active.text == "first"


@pytest.mark.more
async def test_without_a_goal_the_list_teaches_and_done_says_so(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/goal done")
        assert "No active goal" in state(app)
        await slash(app, pilot, "/goal")
        assert "No goal yet." in shown(app)


async def test_a_decision_is_locked_with_its_reason(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/goal tidy up")
        await slash(app, pilot, "/decide tabs because the linter wants them")
        [decision] = conversation(app).goals.decisions
        assert (decision.text, decision.reason) == ("tabs", "the linter wants them")
        assert decision.locked and "locked" in state(app) and "/decide undo" in state(app)
        assert "tabs" in conversation(app).prompt_text()
        await slash(app, pilot, "/goal done")
        assert "1 decision still in force: /decide" in state(app)
        assert "tabs" in conversation(app).prompt_text()
        await slash(app, pilot, "/goal")
        assert "decision: tabs" in shown(app)


async def test_a_decision_needs_no_goal_and_is_taken_back(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/decide undo")
        assert "No decisions" in state(app)
        for words in ("tabs", "spaces", "semicolons"):
            await slash(app, pilot, f"/decide {words}")
        await slash(app, pilot, "/decide undo")
        assert "Removed “semicolons”" in state(app)
        await slash(app, pilot, "/decide undo 1")
        assert "Removed “tabs”" in state(app)
        assert [each.text for each in conversation(app).goals.decisions] == ["spaces"]
        text = conversation(app).prompt_text()
        assert "spaces" in text and "tabs" not in text and "semicolons" not in text
        await slash(app, pilot, "/decide undo 7")
        assert "No decision 7" in state(app)


@pytest.mark.more
async def test_an_open_decision_is_not_told_until_it_is_locked(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/decide --open")
        assert "Nothing to record" in state(app)
        await slash(app, pilot, "/decide --open a queue because it scales")
        assert "a queue" not in conversation(app).prompt_text()
        await slash(app, pilot, "/decide")
        assert "1. a queue because it scales" in shown(app) and "open" in shown(app)
        await choose(app, pilot, "queue")
        await choose(app, pilot, "lock")
        assert "Decided, keep to it: a queue" in conversation(app).prompt_text()
        await slash(app, pilot, "/decide")
        await choose(app, pilot, "queue")
        await choose(app, pilot, "unlock")
        assert "a queue" not in conversation(app).prompt_text()
        await slash(app, pilot, "/decide")
        await choose(app, pilot, "queue")
        await choose(app, pilot, "remove")
        assert conversation(app).goals.decisions == ()
        await slash(app, pilot, "/decide")
        assert "No decisions yet." in shown(app)


async def test_steps_and_blockers_are_noted_and_done_by_their_number(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/goal step one")
        assert "No active goal" in state(app)
        await slash(app, pilot, "/goal ship it")
        await slash(app, pilot, "/goal tick")
        assert "The goal has no steps" in state(app)
        await slash(app, pilot, "/goal unblock")
        assert "No blockers" in state(app)
        for words in ("step write it", "step test it", "blocker no review", "blocker no time"):
            await slash(app, pilot, f"/goal {words}")
        text = conversation(app).prompt_text()
        assert "Still to do: write it; test it\nIn the way: no review; no time" in text
        await slash(app, pilot, "/goal tick 1")
        assert "Done: “write it”" in state(app)
        await slash(app, pilot, "/goal tick")
        await slash(app, pilot, "/goal unblock 2")
        assert "Resolved “no time”" in state(app)
        await slash(app, pilot, "/goal unblock")
        text = conversation(app).prompt_text()
        assert "Still to do" not in text and "In the way" not in text
        await slash(app, pilot, "/goal tick 2")
        assert "To do: “test it”" in state(app)
        await slash(app, pilot, "/goal step")
        assert "/goal step needs a text" in state(app)
        await slash(app, pilot, "/goal tick 9")
        assert "No step 9" in state(app)


@pytest.mark.more
async def test_the_list_does_with_the_active_goal_what_can_be_done(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        goals = conversation(app).goals
        await slash(app, pilot, "/goal ship it")
        for words in ("step write it", "step test it", "blocker no review", "blocker no time"):
            await slash(app, pilot, f"/goal {words}")
        await slash(app, pilot, "/goal milestone --ahead half of it")
        await slash(app, pilot, "/decide tabs")
        for wanted in ("write it", "no time", "half of it"):
            await slash(app, pilot, "/goal list")
            await choose(app, pilot, "ship it")
            await choose(app, pilot, wanted)
        await slash(app, pilot, "/goal tick")
        await slash(app, pilot, "/goal unblock")
        assert goals.active
        assert [step.done for step in goals.active.subtasks] == [True, True]
        assert goals.active.blockers == ()
        assert goals.active.milestones[0].reached_at
        await slash(app, pilot, "/goal")
        await choose(app, pilot, "ship it")
        await choose(app, pilot, "tabs")
        await choose(app, pilot, "remove")
        assert goals.decisions == ()
        await slash(app, pilot, "/goal")
        await choose(app, pilot, "ship it")
        await choose(app, pilot, "pause")
        assert goals.active is None and "paused" in state(app)


@pytest.mark.more
async def test_the_keys_say_what_enter_does_with_the_chosen_line(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/goal an earlier one")
        await slash(app, pilot, "/goal pause")
        await slash(app, pilot, "/goal ship it")
        for words in ("step write it", "step test it", "blocker no review"):
            await slash(app, pilot, f"/goal {words}")
        await slash(app, pilot, "/goal tick 2")
        await slash(app, pilot, "/decide tabs")
        await slash(app, pilot, "/goal")
        assert "Enter open " in shown(app)
        await pilot.press("down")
        await settled(app, pilot)
        assert "Enter resume " in shown(app)
        await pilot.press("up", "enter")
        await settled(app, pilot)
        for verb in ("tick", "untick", "resolve", "open", "choose"):
            assert f"Enter {verb} " in shown(app)
            await pilot.press("down")
            await settled(app, pilot)
        assert "done: write it" not in shown(app), "it is still to do"


@pytest.mark.more
async def test_words_that_begin_like_a_deed_can_be_a_goal(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        goals = conversation(app).goals
        for typed, text in (
            ("/goal done is better than perfect", "done is better than perfect"),
            ("/goal unblock the review", "unblock the review"),
            ("/goal set step up the pace", "step up the pace"),
        ):
            await slash(app, pilot, typed)
            assert goals.active and goals.active.text == text


@pytest.mark.more
async def test_the_inspector_shows_all_that_belongs_to_the_goals(open_app: OpenApp) -> None:
    async with open_app(size=(100, 40)) as (app, pilot):
        await slash(app, pilot, "/goal an earlier one")
        await slash(app, pilot, "/goal ship it")
        for words in ("step write it", "blocker no review", "milestone half of it"):
            await slash(app, pilot, f"/goal {words}")
        await slash(app, pilot, "/goal milestone --ahead all of it")
        await slash(app, pilot, "/goal artifact src/a.py")
        await slash(app, pilot, "/decide tabs")
        await slash(app, pilot, "/decide --open a queue")
        await pilot.press("f5", "i")
        await settled(app, pilot)
        seen = shown(app)
        for row in (
            "goal     ship it · 0 of 1 step done",
            "to do    1. write it",
            "blocked  1. no review",
            "decided  1. tabs",
            "open     2. a queue",
            "reached  half of it",
            "ahead    all of it",
            "made     src/a.py",
            "paused   an earlier one",
        ):
            assert row in seen


async def test_the_goal_is_seen_in_the_chat_while_it_is_active(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("fine")]]) as (app, pilot):
        line = chat(app).query_one(GoalLine)
        assert not line.display
        await slash(app, pilot, "/goal learn Latin")
        await slash(app, pilot, "/goal step nouns")
        await slash(app, pilot, "/goal step verbs")
        await slash(app, pilot, "/goal tick 1")
        assert line.display and line.size.height == 1
        assert str(line.content) == "Goal: learn Latin · 1 of 2 steps done"
        await slash(app, pilot, "/goal done")
        assert not line.display
