"""`/task` and `/context project`: a block in every prompt as data, the id in the title line."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.providers.scripted import Scripted
from ollm_tui.tui.kit.picker import Picker
from tests.services.tasks.steroids_samples import database, specification
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled, state, title
from tests.tui.tool_desk import until

ANSWER = [TextDelta("fine"), Completed(finish="stop")]


async def test_a_task_is_chosen_sent_as_data_and_let_go(open_app: OpenApp, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    database(home)
    specification(home)
    model = Scripted([ANSWER, ANSWER])
    async with open_app(model) as (app, pilot):
        prompt(app).put("/task list")
        await pilot.press("enter")
        await settled(app, pilot)
        assert isinstance(app.screen, Picker)
        listed = [choice.text for choice in app.screen.choice_list._choices]  # pyright: ignore[reportPrivateUsage] what is drawn
        assert listed[0] == "Uploads  █████░░░░░ 1/2" and listed[1].startswith("t1  Retry")
        await pilot.press("enter")
        await settled(app, pilot)
        assert title(app)[0].startswith("[t1] ")
        assert "added to every prompt" in state(app)
        await send(app, pilot, "go on")
        text = "\n".join(message.text for message in model.requests[0].messages)
        assert "Wait 1, 2, 4 s." in text
        assert chat(app).chat.conversation.notes.all[0].is_users_own is False
        prompt(app).put("/task off")
        await pilot.press("enter")
        await settled(app, pilot)
        assert not title(app)[0].startswith("[t1]")


async def test_the_state_of_the_project_is_added_with_its_cost(
    open_app: OpenApp, home: Path
) -> None:
    home.mkdir(parents=True, exist_ok=True)
    database(home)
    (home / ".steroids" / "logs").mkdir()
    (home / ".steroids" / "logs" / "runner.log").write_text("fine\nError: jitter is missing\n")
    async with open_app([ANSWER]) as (app, pilot):
        prompt(app).put("/context project")
        await pilot.press("enter")
        await settled(app, pilot)
        notes = {entry.key: entry for entry in chat(app).chat.conversation.notes.all}
        assert {"tasks", "errors"} <= set(notes)
        assert notes["tasks"].content.startswith("[in_progress] t1")
        assert "jitter is missing" in notes["errors"].content
        assert not any(entry.is_users_own for entry in notes.values())


async def test_commands_of_yours_that_failed_are_recent_errors(open_app: OpenApp) -> None:
    async with open_app([ANSWER]) as (app, pilot):
        await send(app, pilot, "hello")
        for command in ("!echo all is well", "!echo the jitter is missing; false"):
            prompt(app).put(command)
            await pilot.press("enter")
            await settled(app, pilot)
        conversation = chat(app).chat.conversation
        await until(pilot, lambda: len(conversation.state.tool_calls) == 2)
        prompt(app).put("/context add errors")
        await pilot.press("enter")
        await settled(app, pilot)
        (errors,) = conversation.notes.all
        assert "the jitter is missing\n[exit 1" in errors.content
        assert "all is well" not in errors.content and not errors.is_users_own
