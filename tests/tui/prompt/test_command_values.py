"""What may follow a command is offered while it is typed, as far as it is known at once."""

from __future__ import annotations

from ollm_tui.tui.prompt.completion_list import CompletionList
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, settled
from tests.tui.typing_in import type_in


@some(
    4,
    ("typed", "offered"),
    (
        ("/theme n", "nord"),
        ("/mode dev", "developer"),
        ("/model scr", "scripted"),
        ("/provider scr", "scripted"),
        ("/context s", "show"),
        ("/goal li", "list"),
        ("/goal se", "set "),
        ("/decide --", "--open "),
    ),
)
async def test_values_are_offered_and_completed(
    open_app: OpenApp, typed: str, offered: str
) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, typed)
        await pilot.pause()
        assert offered in str(chat(app).query_one(CompletionList).content)
        await pilot.press("tab")
        assert prompt(app).text == f"{typed.split()[0]} {offered}"


@some(
    2,
    ("typed", "offered"),
    (
        ("/goal pa", "pause"),
        ("/goal st", "step "),
        ("/goal ti", "tick 1"),
        ("/goal un", "unblock 1"),
        ("/decide u", "undo"),
        ("/decide undo 1", "undo 1"),
    ),
)
async def test_what_can_be_done_with_the_goal_is_offered(
    open_app: OpenApp, typed: str, offered: str
) -> None:
    async with open_app() as (app, pilot):
        goals = chat(app).chat.conversation.goals
        await goals.set_goal("ship it")
        await goals.add_subtask("write it")
        await goals.add_blocker("no review")
        await goals.decide("tabs", locked=True)
        await type_in(pilot, typed)
        await pilot.pause()
        assert offered in str(chat(app).query_one(CompletionList).content)
        await pilot.press("tab")
        assert prompt(app).text == f"{typed.split()[0]} {offered}"


async def test_a_command_without_known_values_offers_none(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "/rename a")
        await pilot.pause()
        assert not chat(app).query_one(CompletionList).display


async def test_a_mode_is_taken_by_its_first_letters(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "/mode dev")
        await pilot.press("enter")
        await settled(app, pilot)
        assert chat(app).chat.conversation.mode.name == "developer"
