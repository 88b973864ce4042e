"""Your own commands in the chat: completed, asked about, sent; a project's only after trust."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Static

from ollm_tui.core.session.message import Attachment
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.help.commands import CommandPalette
from ollm_tui.tui.kit.question import Confirmation
from tests.tui.conftest import OpenApp
from tests.tui.seen import prompt, send, settled, state
from tests.tui.tool_desk import says, until
from tests.tui.typing_in import type_in


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def sent(app: OllmApp) -> list[tuple[str, list[str]]]:
    """What the user said, with the contents of what went along."""
    assert app.conversation
    branch = app.conversation.state.branch()
    return [
        (each.text, [part.content for part in each.parts if isinstance(part, Attachment)])
        for each in branch
        if each.role == "user"
    ]


async def test_your_own_command_is_completed_and_sent_with_the_files_it_names(
    open_app: OpenApp, home: Path
) -> None:
    write(home / "commands", "explain.md", "---\narguments: what\n---\nExplain $1 by @notes.txt")
    write(home, "notes.txt", "swordfish")
    async with open_app([says("fine")]) as (app, pilot):
        await type_in(pilot, "/expl")
        await pilot.press("tab")
        assert prompt(app).text == "/explain "
        await send(app, pilot, "locks")
        assert sent(app) == [("Explain locks by @notes.txt", ["swordfish"])]


async def test_a_command_that_needs_words_keeps_to_one_line_of_complaint(
    open_app: OpenApp, home: Path
) -> None:
    write(home / "commands", "explain.md", "---\narguments: what\n---\nExplain $1")
    async with open_app([says("fine")]) as (app, pilot):
        await send(app, pilot, "/explain")
        assert "/explain needs what" in state(app) and not sent(app)


async def test_what_a_command_runs_is_shown_and_run_only_after_a_yes(
    open_app: OpenApp, home: Path
) -> None:
    write(home / "commands", "count.md", "Look: !`echo $((6 * 7)) $1`")
    async with open_app([says("fine")]) as (app, pilot):
        await send(app, pilot, "/count apples")
        await until(pilot, lambda: isinstance(app.screen, Confirmation))
        shown = " ".join(str(each.content) for each in app.screen.query("#about").results(Static))
        assert "echo $((6 * 7)) apples" in shown
        await pilot.press("n")
        await settled(app, pilot)
        assert not sent(app) and "Nothing sent" in state(app)
        assert prompt(app).text == "/count apples"  # it may be changed, or sent as text
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Confirmation))
        await pilot.press("y")
        await until(pilot, lambda: sent(app))
        ((text, (output,)),) = sent(app)
        assert text == "Look: `echo $((6 * 7)) apples`" and "\n42 apples\n" in output


async def test_a_command_brings_its_mode(open_app: OpenApp, home: Path) -> None:
    write(home / "commands", "think.md", "This name is taken")
    write(home / "commands", "plan-it.md", "---\nmode: planning\n---\nPlan it")
    async with open_app([says("fine")]) as (app, pilot):
        assert app.conversation
        await send(app, pilot, "/plan-it")
        await until(pilot, lambda: sent(app))
        assert app.conversation.mode.name == "planning"
        await send(app, pilot, "/think")
        assert len(sent(app)) == 1  # the program's own command of that name


async def test_a_command_in_the_palette_is_put_into_the_prompt(
    open_app: OpenApp, home: Path
) -> None:
    write(home / "commands", "explain.md", "---\ndescription: Explain it slowly\n---\nExplain $1")
    async with open_app() as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await type_in(pilot, "slowly")
        await pilot.press("enter")
        await until(pilot, lambda: prompt(app).text == "/explain ")


async def test_commands_of_a_project_are_there_once_the_folder_is_trusted(
    open_app: OpenApp, home: Path
) -> None:
    write(home / ".ollm" / "commands", "ship.md", "Ship $ARGUMENTS")
    async with open_app([says("fine")], size=(120, 30)) as (app, pilot):
        await send(app, pilot, "/ship now")
        assert "/ship" in state(app) and not sent(app)
        prompt(app).put("")
        await send(app, pilot, "/trust always")
        assert not app.screen.query("TrustQuestion:focus")
        await send(app, pilot, "/ship now")
        await until(pilot, lambda: sent(app))
        assert sent(app) == [("Ship now", [])]


async def test_a_command_of_a_project_sends_nothing_from_outside_of_it(
    open_app: OpenApp, home: Path
) -> None:
    write(home.parent, "outside.txt", "swordfish")
    write(home / ".ollm" / "commands", "look.md", "See @../outside.txt")
    async with open_app([says("fine")], size=(120, 30)) as (app, pilot):
        await send(app, pilot, "/trust always")
        await send(app, pilot, "/look")
        assert "is not sent" in state(app) and not sent(app)
