"""Tools in the chat: one line each in their reply, live while they run, whole when opened."""

from __future__ import annotations

import asyncio
import re

import pytest

from ollm_tui.core.tool import Action, ApprovalMode, ToolOutcome, Verdict
from ollm_tui.tui.chat.status import TitleLine
from ollm_tui.tui.stream.transcript.transcript import Transcript
from ollm_tui.tui.tools.commands import ToolPage
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, send, settled, state, stream, title
from tests.tui.tool_desk import (
    FakePolicy,
    approval,
    ask,
    calls,
    editor,
    page,
    reader,
    runner,
    says,
    tools_open,
    until,
)
from tests.tui.typing_in import type_in

READ = ("read_file", {"path": "uploader.py"})
RUN = ("exec", {"code": "pytest -q"})


async def test_a_call_is_one_line_of_the_reply_that_asked_for_it(open_app: OpenApp) -> None:
    script = [calls(READ), says("It is short.")]
    async with tools_open(open_app, script, reader()) as (app, pilot):
        await send(app, pilot, "go")
        first, words, tool, answer = stream(app)
        assert (first, words, answer) == ("▌ go", "┃ Let me see.", "┃ It is short.")
        assert tool.startswith("┃ ▸ read_file uploader.py · 212 lines · ") and tool.endswith(" ms")


async def test_it_opens_with_the_key_of_all_folds(open_app: OpenApp) -> None:
    async with tools_open(open_app, [calls(READ), says("ok")], reader()) as (app, pilot):
        await send(app, pilot, "go")
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert "┃ path: uploader.py" in stream(app) and "┃ import time" in stream(app)


async def test_a_running_call_tells_its_time_and_opened_its_last_lines(
    open_app: OpenApp,
) -> None:
    go_on = asyncio.Event()
    tool = runner(prints=[f"test {number}\n" for number in range(50)], until=go_on)
    async with tools_open(open_app, [calls(RUN), says("ok")], tool) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: "┃ ● exec pytest -q · 1 s" in stream(app))
        assert "exec pytest -q" in state(app)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "┃ test 49" in stream(app))
        assert "┃ test 10" not in stream(app)
        go_on.set()
        await settled(app, pilot)
        assert any("exec pytest -q · exit 0" in line for line in stream(app))
        assert "┃ 2 passed" in stream(app) and "┃ test 49" not in stream(app)


def ticking() -> list[str]:
    """Textual's timers that fire again and again."""
    names = (task.get_name() for task in asyncio.all_tasks())
    return sorted(name for name in names if name.startswith("set_interval#"))


async def test_nothing_ticks_when_all_is_over(open_app: OpenApp) -> None:
    async with tools_open(open_app, [calls(READ, READ), says("ok")], reader()) as (app, pilot):
        before = ticking()
        await send(app, pilot, "go")
        assert ticking() == before


async def test_an_edit_shows_its_diff_in_colours(open_app: OpenApp) -> None:
    edit = ("edit_file", {"path": "uploader.py", "old": "1", "new": "2"})
    async with tools_open(open_app, [calls(edit), says("ok")], editor()) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        await pilot.press("y")
        await settled(app, pilot)
        await pilot.press("ctrl+o")
        await pilot.pause()
        transcript = chat(app).query_one(Transcript)
        inks = {
            segment.text.strip(): segment.style.color
            for y in range(transcript.size.height)
            for segment in transcript.render_line(y)
            if segment.style
        }
        looks = app.transcript_styles.tones
        assert inks["-    return 1"] == looks["gone"].color
        assert inks["+    return min(60, 2 ** attempt)"] == looks["added"].color


async def test_a_wrong_call_is_told_as_failed(open_app: OpenApp) -> None:
    wrong = ("read_file", {"path": "a", "wrong": True})
    async with tools_open(open_app, [calls(wrong), says("ok")], reader()) as (app, pilot):
        await send(app, pilot, "go")
        assert any("read_file a · failed: that makes no sense" in line for line in stream(app))


async def test_stopping_cancels_what_runs_and_what_would_come(open_app: OpenApp) -> None:
    script = [calls(RUN, READ), says("never said")]
    async with tools_open(open_app, script, runner(until=asyncio.Event()), reader()) as (
        app,
        pilot,
    ):
        await ask(app, pilot)
        await approval(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: "exec pytest -q" in state(app))
        await pilot.press("escape")
        await settled(app, pilot)
        cancelled = [line for line in stream(app) if line.endswith("· cancelled")]
        assert len(cancelled) == 2 and "┃ never said" not in stream(app)


async def test_a_session_that_is_opened_again_shows_the_same_lines(open_app: OpenApp) -> None:
    fine = ToolOutcome("all good", summary="all good")
    async with tools_open(open_app, [calls(READ), says("ok")], reader(fine)) as (app, pilot):
        await send(app, pilot, "go")
        assert app.conversation
        session_id = app.conversation.session_id
        before = [line.partition(" · ")[0] for line in stream(app)]
    async with open_app(session_id=session_id, size=(100, 30)) as (app, _):
        assert [line.partition(" · ")[0] for line in stream(app)] == before
        assert "┃ ▸ read_file uploader.py · all good" in stream(app)


async def test_the_next_message_joins_a_stream_with_tools_in_it(open_app: OpenApp) -> None:
    script = [calls(READ), says("one"), says("two")]
    async with tools_open(open_app, script, reader()) as (app, pilot):
        await send(app, pilot, "go")
        await pilot.press("ctrl+o")
        await send(app, pilot, "again")
        opened = chat(app).transcript.entry(chat(app).transcript.keys[1]).folds[0]
        assert opened.is_open, "nothing was shown anew"
        assert stream(app)[-2:] == ["▌ again", "┃ two"]


async def test_o_shows_all_that_a_tool_printed_also_what_was_cut(open_app: OpenApp) -> None:
    lines = "".join(f"line {number}\n" for number in range(4000))
    tool = reader(ToolOutcome(lines, summary="4,000 lines"))
    async with tools_open(open_app, [calls(READ), says("ok")], tool) as (app, pilot):
        await send(app, pilot, "go")
        await pilot.press("alt+up", "o")
        await pilot.pause()
        assert isinstance(app.screen, ToolPage)
        await pilot.press("G")
        await pilot.pause()
        assert "line 3999" in page(app)
        await pilot.press("g", *["space"] * 60)
        await pilot.pause()
        assert "line 16" in page(app), "the middle is there too"


async def test_the_title_says_how_freely_the_model_may_act(open_app: OpenApp) -> None:
    async with tools_open(open_app, [says("hi")], reader()) as (app, pilot):
        await send(app, pilot, "go")
        assert title(app)[1].endswith("ask   ✓ bwrap")
        await pilot.press("shift+tab")
        await pilot.pause()
        assert title(app)[1].endswith("auto-edit   ✓ bwrap")
        assert "confirm commands" in state(app)
        await pilot.press("shift+tab", "shift+tab")
        await pilot.pause()
        assert title(app)[1].endswith("ask   ✓ bwrap")


@pytest.mark.more
async def test_a_narrow_title_says_only_what_is_unusual(open_app: OpenApp) -> None:
    async with tools_open(open_app, [says("hi")], reader(), size=(60, 20)) as (app, pilot):
        await send(app, pilot, "go")
        assert title(app)[1] == "scripted · scripted · this machine"
        await send(app, pilot, "/approval auto")
        assert title(app)[1] == "scripted · scripted · this machine   auto"
        await send(app, pilot, "/approval whatever")
        assert "one of ask, auto-edit, auto" in state(app)


@some(2, "width", (40, 60, 61, 99, 100))
@some(
    1,
    ("sandbox", "word"),
    [("no sandbox: limits only", "no sandbox"), ("landlock: files and TCP only", "landlock")],
)
async def test_a_sandbox_that_is_missing_or_weak_is_seen_at_every_width(
    open_app: OpenApp, width: int, sandbox: str, word: str
) -> None:
    opened = tools_open(open_app, [says("hi")], reader(), sandbox=sandbox, size=(width, 20))
    async with opened as (app, pilot):
        await send(app, pilot, "go")
        assert word in page(app).splitlines()[0]


async def test_a_good_sandbox_is_left_out_only_where_there_is_no_room(open_app: OpenApp) -> None:
    async with tools_open(open_app, [says("hi")], reader(), size=(61, 20)) as (app, pilot):
        await send(app, pilot, "go")
        assert title(app)[1] == "scripted · scripted · this machine   ✓ bwrap"
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert title(app)[1] == "scripted · scripted · this machine"
        await pilot.resize_terminal(100, 20)
        await pilot.pause()
        assert title(app)[1].endswith("ask   ✓ bwrap")


@pytest.mark.more
async def test_long_names_give_way_to_what_holds_commands(open_app: OpenApp) -> None:
    model = "qwen2.5-coder:32b-instruct-q4_K_M-of-my-own-making"
    opened = tools_open(
        open_app, [says("hi")], reader(), sandbox="no sandbox: limits only", size=(60, 20)
    )
    async with opened as (app, pilot):
        await send(app, pilot, "go")
        chat(app).query_one(TitleLine).show_names("title", [model], lambda _: "no sandbox")
        await pilot.pause()
        shown = page(app).splitlines()[0]
        assert shown.startswith("title qwen2.5-coder:32b-") and shown.endswith("… no sandbox")


async def test_the_page_about_tools_says_what_there_is_and_forgets(
    open_app: OpenApp,
) -> None:
    policy = FakePolicy()
    script = [calls(RUN), says("ok")]
    async with tools_open(open_app, script, reader(), runner(), policy=policy) as (app, pilot):
        await ask(app, pilot)
        await approval(app, pilot)
        await pilot.press("a")
        await settled(app, pilot)
        assert [decision.scope for decision in policy.kept] == ["session"]
        await type_in(pilot, "/tools")
        await pilot.press("enter")
        await pilot.pause()
        seen = page(app)
        assert "ask: confirm every change" in seen
        assert "bwrap, no network" in seen and "read_file" in seen and "exec" in seen
        await pilot.press("escape")
        await send(app, pilot, "/tools clear")
        assert policy.kept == [] and "1 permission removed" in state(app)


@pytest.mark.more
async def test_the_line_of_a_call_says_that_its_output_was_cut(open_app: OpenApp) -> None:
    much = ToolOutcome("line\n" * 40_000 + "[exit 1]", is_error=True, summary="exit 1")
    script = [calls(("read_file", {"path": "log"})), says("ok")]
    async with tools_open(open_app, script, reader(much)) as (app, pilot):
        await send(app, pilot, "go")
        [line] = [each for each in stream(app) if "read_file log" in each]
        assert re.search(r"exit 1 · cut [\d,]+ of 40,001 lines · ", line)


async def test_how_much_was_cut_is_told_beside_a_long_command_too(open_app: OpenApp) -> None:
    much = ToolOutcome("line\n" * 40_000 + "[exit 0]", summary="exit 0")
    script = [calls(("read_file", {"path": "a-long-name/" * 9})), says("ok")]
    async with tools_open(open_app, script, reader(much)) as (app, pilot):
        await send(app, pilot, "go")
        assert any(re.search(r"cut [\d,]+ of 40,001 lines", line) for line in stream(app))


async def test_a_refused_call_reads_as_refused_also_after_reopening(open_app: OpenApp) -> None:
    class Refusing(FakePolicy):
        def judge(self, tool: str, action: Action, mode: ApprovalMode) -> Verdict:
            return Verdict("deny", "you said never to this")

    script = [calls(("read_file", {"path": "log"})), says("ok")]
    told = "read_file log · denied: you said never to this"
    async with tools_open(open_app, script, reader(), policy=Refusing()) as (app, pilot):
        await send(app, pilot, "go")
        assert any(told in line for line in stream(app))
        assert app.conversation
        session_id = app.conversation.session_id
    async with open_app(session_id=session_id) as (app, pilot):
        assert any(told in line for line in stream(app))


@pytest.mark.more
async def test_a_tool_is_switched_off_and_on_again(open_app: OpenApp) -> None:
    async with tools_open(open_app, [says("ok")], runner(), reader()) as (app, pilot):
        await ask(app, pilot)
        assert app.conversation
        tools = app.conversation.tools
        assert {"exec", "read_file"} <= set(tools.offered)
        for command, is_offered in (("exec off", False), ("exec", True), ("exec", False)):
            await send(app, pilot, f"/tool {command}")
            assert ("exec" in tools.offered) is is_offered
        await send(app, pilot, "/tool nothing off")
        assert "No tool nothing" in state(app)
        await send(app, pilot, "/tool exec maybe")
        assert "neither on nor off" in state(app)


@pytest.mark.more
async def test_switching_a_tool_of_a_model_without_tools_says_so(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await send(app, pilot, "/tool exec off")
        assert state(app).startswith("No tool exec · this model has no tools")
