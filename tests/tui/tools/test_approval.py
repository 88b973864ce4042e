"""What the model may not do unasked: shown whole, answered by somebody who saw it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from textual.events import Key
from textual.pilot import Pilot

from ollm_tui.core.session.message import Approval as Approved
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.kit.diff_lines import DiffLines
from ollm_tui.tui.tools.approval import Approval
from ollm_tui.tui.tools.commands import ToolPage
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled, state, stream, title
from tests.tui.tool_desk import (
    FakePolicy,
    approval,
    ask,
    calls,
    editor,
    page,
    prompt_has_focus,
    runner,
    says,
    tools_open,
    until,
)
from tests.tui.typing_in import type_in

RUN = ("exec", {"code": "pytest -q"})
LONG = ("exec", {"code": "\n".join(f"echo {number}" for number in range(60))})


@dataclass
class Clock:
    """The time as an approval sees it."""

    now: float = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


async def shown_at(clock: Clock, block: Approval, pilot: Pilot[int]) -> None:
    """Shows an approval once more, by this clock."""
    assert block.request
    block.clock = clock
    block.ask(block.request)
    await pilot.pause()


def decisions(app: OllmApp) -> list[str]:
    assert app.conversation
    parts = [part for message in app.conversation.state.branch() for part in message.parts]
    return [f"{each.decision} {each.scope}" for each in parts if isinstance(each, Approved)]


async def test_it_says_what_is_wanted_where_and_why(open_app: OpenApp) -> None:
    async with tools_open(open_app, [calls(RUN), says("ok")], runner()) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        seen = page(app)
        assert "wants to run exec · shell ✓ bwrap, no network" in seen
        assert "pytest -q" in seen and "changes something · in /work/code" in seen
        assert "it changes" not in seen
        assert "Always/never apply to this command in this directory" in seen
        assert "y yes n no N no, and say why a always (session)" in seen
        assert "waiting for your answer" in state(app)


@pytest.mark.parametrize(
    ("key", "recorded", "ran"),
    (
        ("y", "yes once", True),
        ("n", "no once", False),
        ("a", "always session", True),
        ("A", "always project", True),
        ("d", "never session", False),
        ("D", "never project", False),
    ),
)
async def test_a_key_answers_and_the_answer_is_recorded(
    open_app: OpenApp, key: str, recorded: str, ran: bool
) -> None:
    tool = runner()
    async with tools_open(open_app, [calls(RUN), says("ok")], tool) as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot)
        assert app.focused is block, "the prompt is empty, so the focus comes here"
        await pilot.press(key)
        await settled(app, pilot)
        assert decisions(app) == [recorded] and bool(tool.ran) is ran
        assert not block.display and prompt_has_focus(app)
        assert stream(app)[-1] == "┃ ok"


async def test_answers_have_the_keys_the_user_gave_them(open_app: OpenApp) -> None:
    tool = runner()
    mapped = Settings(keymap={"approval.yes": "o", "approval.page": "ctrl+d"})
    opened = tools_open(open_app, [calls(LONG), says("ok")], tool, settings=mapped)
    async with opened as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot, quiet=False)
        assert "Ctrl+D scroll (o works at the end)" in page(app)
        await shown_at(clock := Clock(), block, pilot)
        await pilot.press("o")
        await pilot.pause()
        assert prompt(app).text == "" and not tool.ran, "it is a key, and it came too early"
        clock.now += 0.45
        await pilot.press(*["ctrl+d"] * 9)
        await pilot.pause()
        assert "o yes n no" in page(app)
        await pilot.press("o")
        await settled(app, pilot)
        assert tool.ran and decisions(app) == ["yes once"] and not block.display


@pytest.mark.more
async def test_a_key_that_was_given_away_is_a_letter_again(open_app: OpenApp) -> None:
    tool = runner()
    mapped = Settings(keymap={"approval.yes": "o"})
    opened = tools_open(open_app, [calls(RUN), says("ok")], tool, settings=mapped)
    async with opened as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot)
        await pilot.press("y")
        await pilot.pause()
        assert prompt(app).text == "y" and block.display and not tool.ran


async def test_a_no_with_words_tells_the_model_why(open_app: OpenApp) -> None:
    async with tools_open(open_app, [calls(RUN), says("ok")], runner()) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        await pilot.press("N")
        await pilot.pause()
        await type_in(pilot, "any yes")
        assert "Enter send Esc back" in page(app)
        await pilot.press("enter")
        await settled(app, pilot)
        assert any("exec pytest -q · denied: any yes" in line for line in stream(app))


async def test_escape_leaves_the_words_first_and_then_stops_the_turn(open_app: OpenApp) -> None:
    async with tools_open(open_app, [calls(RUN), says("ok")], runner()) as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot)
        await pilot.press("N", "escape")
        await pilot.pause()
        assert app.focused is block and block.display
        await pilot.press("escape")
        await settled(app, pilot)
        assert not block.display and prompt_has_focus(app)
        assert any(line.endswith("exec pytest -q · cancelled") for line in stream(app))


async def test_who_is_writing_keeps_the_focus_and_is_told_the_way(open_app: OpenApp) -> None:
    tool, gate = runner(), asyncio.Event()
    async with tools_open(open_app, [[gate, *calls(RUN)], says("ok")], tool) as (app, pilot):
        await ask(app, pilot)
        prompt(app).put("and then")
        gate.set()
        block = await approval(app, pilot)
        assert prompt_has_focus(app) and "Alt+A, then y yes" in page(app)
        await type_in(pilot, " yna")
        assert prompt(app).text == "and then yna" and block.display
        await pilot.press("alt+a")
        await pilot.pause()
        assert app.focused is block and "Alt+A, then" not in page(app)
        await pilot.press("y")
        await settled(app, pilot)
        assert tool.ran and prompt(app).text == "and then yna"


async def test_keys_right_after_it_is_shown_do_not_answer_it(open_app: OpenApp) -> None:
    tool = runner()
    async with tools_open(open_app, [calls(RUN), says("ok")], tool) as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot, quiet=False)
        await shown_at(clock := Clock(), block, pilot)
        for key in ("y", "n", "a", "y"):
            clock.now += 0.2
            await pilot.press(key)
            await pilot.pause()
        assert block.display and not tool.ran, "each key begins the pause anew"
        clock.now += 0.45
        await pilot.press("y")
        await settled(app, pilot)
        assert tool.ran


async def test_a_key_pressed_before_it_was_shown_never_answers_it(
    open_app: OpenApp,
) -> None:
    tool = runner()
    async with tools_open(open_app, [calls(RUN), says("ok")], tool) as (app, pilot):
        early = Key("y", "y")
        await ask(app, pilot)
        block = await approval(app, pilot)
        block.post_message(early)
        await pilot.pause()
        assert block.display and not tool.ran


async def test_letters_that_are_no_answer_go_to_the_prompt(open_app: OpenApp) -> None:
    async with tools_open(open_app, [calls(RUN), says("ok")], runner()) as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot)
        await type_in(pilot, "hey")
        await pilot.pause()
        assert prompt(app).text == "hey" and block.display


async def test_what_is_long_must_be_read_to_its_end(open_app: OpenApp) -> None:
    tool = runner()
    async with tools_open(open_app, [calls(LONG), says("ok")], tool) as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot)
        assert "Space scroll (y works at the end)" in page(app)
        await pilot.press("y", "a")
        await pilot.pause()
        assert block.display and "scroll to the end first" in state(app)
        await pilot.press(*["space"] * 9)
        await pilot.pause()
        assert "echo 59" in page(app) and "y yes" in page(app)
        await pilot.press("y")
        await settled(app, pilot)
        assert tool.ran


@pytest.mark.more
async def test_no_works_before_it_is_read(open_app: OpenApp) -> None:
    async with tools_open(open_app, [calls(LONG), says("ok")], runner()) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        await pilot.press("n")
        await settled(app, pilot)
        assert decisions(app) == ["no once"]


async def test_it_may_be_read_on_the_whole_screen(open_app: OpenApp) -> None:
    async with tools_open(open_app, [calls(LONG), says("ok")], runner()) as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot)
        await pilot.press("v")
        await pilot.pause()
        assert isinstance(app.screen, ToolPage)
        await pilot.press("escape")
        await pilot.pause()
        assert not block.has_been_read, "its end was not seen"
        await pilot.press("v")
        await pilot.pause()
        await pilot.press("G")
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert block.has_been_read and "y yes" in page(app)


async def test_nothing_is_hidden_in_a_command(open_app: OpenApp) -> None:
    code = "ls" + " " * 300 + "; rm -rf ~\n\n\n\n\n\n\necho \u202etwo\x1b[2J"
    async with tools_open(open_app, [calls(("exec", {"code": code}))], runner()) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        seen = page(app)
        assert "ls⟨300 spaces⟩; rm -rf ~" in seen and "⟨6 empty lines⟩" in seen
        assert "echo ⟨U+202E⟩two␛[2J" in seen


async def test_brackets_in_a_command_are_only_text(open_app: OpenApp) -> None:
    code = "echo [@click=app.exit()]x[/] [bold"
    policy = FakePolicy(grant="[red]this[/")
    script = [calls(("exec", {"code": code}))]
    async with tools_open(open_app, script, runner(), policy=policy) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        assert code in page(app) and "apply to [red]this[/" in page(app)


async def test_what_is_dangerous_cannot_be_allowed_for_good_but_refused(open_app: OpenApp) -> None:
    wanted = ("exec", {"code": "rm -rf build"})
    tool = runner()
    async with tools_open(open_app, [calls(wanted), says("ok")], tool) as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot)
        assert "always" not in page(app) and "d never" in page(app)
        await pilot.press("a", "A")
        await pilot.pause()
        assert block.display and "dangerous calls always ask" in state(app)
        await pilot.press("d")
        await until(pilot, lambda: not block.display)
        assert not tool.ran


async def test_where_nothing_can_be_remembered_nothing_is_offered(open_app: OpenApp) -> None:
    policy = FakePolicy(grant="")
    async with tools_open(open_app, [calls(RUN)], runner(), policy=policy) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        assert "always" not in page(app) and "remember" not in page(app)


async def test_several_calls_are_asked_one_after_the_other(open_app: OpenApp) -> None:
    edit = ("edit_file", {"path": "uploader.py", "old": "1", "new": "2"})
    async with tools_open(open_app, [calls(edit, RUN), says("ok")], editor(), runner()) as (
        app,
        pilot,
    ):
        await ask(app, pilot)
        block = await approval(app, pilot)
        assert "wants to change 1 of 2 · edit_file" in page(app)
        assert "+ return min(60, 2 ** attempt)" in page(app)
        await pilot.press("y")
        await until(pilot, lambda: block.display and "2 of 2" in page(app))
        await shown_at(clock := Clock(), block, pilot)
        await pilot.press("y")
        await pilot.pause()
        assert block.display, "the second one has a pause of its own"
        clock.now += 0.45
        await pilot.press("n")
        await settled(app, pilot)
        assert decisions(app) == ["yes once", "no once"]


@pytest.mark.more
async def test_the_mode_is_changed_while_it_asks_and_told(open_app: OpenApp) -> None:
    async with tools_open(open_app, [calls(RUN), says("ok")], runner()) as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot)
        await pilot.press("shift+tab")
        await pilot.pause()
        assert "auto-edit" in " ".join(title(app)) and app.focused is block


@pytest.mark.more
async def test_it_is_answered_by_a_command_too(open_app: OpenApp) -> None:
    gate = asyncio.Event()
    async with tools_open(open_app, [[gate, *calls(RUN)], says("ok")], runner()) as (app, pilot):
        await send(app, pilot, "/answer yes")
        assert "No approval pending" in state(app)
        await ask(app, pilot)
        prompt(app).put("/answer no use tox")
        gate.set()
        await approval(app, pilot)
        await pilot.press("enter")
        await settled(app, pilot)
        assert any("exec pytest -q · denied: use tox" in line for line in stream(app))


@some(1, "size", ((60, 20), (80, 24), (200, 50)))
async def test_the_keys_are_seen_at_every_size(open_app: OpenApp, size: tuple[int, int]) -> None:
    async with tools_open(open_app, [calls(LONG)], runner(), size=size) as (app, pilot):
        await ask(app, pilot)
        block = await approval(app, pilot)
        seen = page(app)
        assert "wants to run" in seen and "v view full screen" in seen and "Esc stop" in seen
        assert block.query_one(DiffLines).size.height >= 4
        assert chat(app).transcript.size.height >= 2, "the stream is not hidden"


async def test_a_diff_gets_the_rows_it_needs_and_nothing_else_is_said(
    open_app: OpenApp,
) -> None:
    diff = "--- a\n+++ b\n@@ -1,4 +1,4 @@\n" + "".join(f"-old {n}\n+new {n}\n" for n in range(4))
    change = ("edit_file", {"path": "notes.txt", "diff": diff})
    async with tools_open(open_app, [calls(change), says("ok")], editor(), size=(80, 24)) as (
        app,
        pilot,
    ):
        await ask(app, pilot)
        block = await approval(app, pilot)
        assert block.query_one(DiffLines).size.height == 10, "the path, the place and eight lines"
        seen = page(app)
        assert "old 0" in seen and "new 3" in seen and "y yes" in seen
        assert "no network" not in seen and "Shift+Tab" not in seen
