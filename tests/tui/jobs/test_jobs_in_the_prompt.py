"""!command in the prompt: run in the session's shell, seen in the stream, stopped, moved, kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.segment import Segment
from textual.pilot import Pilot

from ollm_tui.core.job import JobEvent, JobFinished
from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.core.session.message import Attachment
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.sessions.recording import Recorder
from ollm_tui.settings.schema import Context, Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.browser.sidebar import ChatSidebar
from ollm_tui.tui.jobs.shell_line import is_worth_a_bell
from ollm_tui.tui.jobs.words import SHELL_EMPTY
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.entries.job_entries import OUTPUT
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.jobs_desk import GATE, jobs, run, run_through, until
from tests.tui.seen import chat, prompt, send, settled, state, stream

DONE = Completed(finish="stop")
ANSWER = [TextDelta("Yes."), DONE]


async def test_a_command_shows_its_output_and_how_it_ended(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "printf 'one\\ntwo\\n'; false")
        lines = stream(app)
        assert lines[:4] == ["! printf 'one\\ntwo\\n'; false", "▾ 2 lines", "one", "two"]
        assert lines[4].startswith("exit 1 · ")
        assert app.focused is prompt(app) and prompt(app).text == ""


async def test_a_command_is_not_sent_to_the_model(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "true")
        assert app.conversation and not len(app.conversation.state)
        assert "no output · exit 0" in stream(app)[0]


async def test_a_command_is_shown_as_saved_once_it_is_on_disk(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, may_write = Recorder.flush, asyncio.Event()

    async def write_later(recorder: Recorder) -> None:
        await may_write.wait()
        await write(recorder)

    async with open_app(Scripted([ANSWER])) as (app, pilot):
        await send(app, pilot, "hi")
        monkeypatch.setattr(Recorder, "flush", write_later)
        try:
            await run_through(app, pilot, "true")
            await until(pilot, lambda: state(app).endswith(" not saved yet"))
        finally:
            may_write.set()
        await until(pilot, lambda: state(app).endswith(" saved"))


async def test_long_output_is_folded_but_for_its_end(open_app: OpenApp) -> None:
    async with open_app(size=(80, 40)) as (app, pilot):
        await run_through(app, pilot, "seq 300")
        lines = stream(app)
        assert lines[1:4] == ["▸ 292 earlier lines", "▾ the last 8 lines", "293"]
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "▾ 292 earlier lines" in stream(app))


async def test_output_is_seen_while_the_command_runs(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, f"echo begun; {GATE}; echo over")
        await until(pilot, lambda: "begun" in stream(app))
        assert stream(app)[-1] == "running"
        assert state(app).startswith("Esc stop   Alt+B background   running echo begun")
        assert state(app).endswith("1 job running")
        await pilot.press("h", "i")
        assert prompt(app).text == "hi"
        Path("go").touch()
        await until(pilot, lambda: "over" in stream(app))
        assert "running" not in state(app)


async def test_what_steers_a_terminal_does_not_reach_the_stream(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "printf 'a\\033]52;c;eA==\\007b\\033[31mc'")
        assert "abc" in stream(app)


async def test_secrets_in_the_output_are_not_shown(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "echo swordfish-and-'more'")
        assert any("[REDACTED:" in line for line in stream(app))
        assert "swordfish-and-more" not in " ".join(stream(app))


async def test_the_shell_stays_where_a_command_went(open_app: OpenApp) -> None:
    Path("deep").mkdir()
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "cd deep")
        await run_through(app, pilot, "basename $PWD")
        await until(pilot, lambda: "deep" in stream(app))


async def test_chips_in_a_command_are_file_names_or_the_words_that_were_pasted(
    open_app: OpenApp,
) -> None:
    Path("a file").write_text("of words\n", encoding="utf-8")
    file = Attachment(name="a file", media_type="text/plain", content="of words", path="a file")
    paste = Attachment(name="paste 1", media_type="text/plain", content="echo pasted")
    async with open_app() as (app, pilot):
        prompt(app).put("!cat [a file]; [paste 1]", (file, paste))
        await pilot.press("enter")
        await until(pilot, lambda: stream(app)[2:4] == ["of words", "pasted"])
        assert stream(app)[0] == "! cat 'a file'; echo pasted"


@pytest.mark.more
async def test_an_empty_command_explains_itself(open_app: OpenApp) -> None:
    async with open_app(size=(120, 24)) as (app, pilot):
        await send(app, pilot, "!")
        assert state(app).startswith(SHELL_EMPTY) and not stream(app)


@some(1, "key", ("escape", "ctrl+c"))
async def test_the_running_command_is_stopped_by_a_key(open_app: OpenApp, key: str) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, "sleep 1000")
        await pilot.press(key)
        await until(pilot, lambda: jobs(app)[0].status == "killed")
        await until(pilot, lambda: any("killed" in line for line in stream(app)))
        assert app.is_running and "job running" not in state(app)


async def test_a_second_press_ends_by_force_what_does_not_listen(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, "trap '' TERM; echo deaf; while :; do sleep 0.1; done")
        await until(pilot, lambda: "deaf" in stream(app))
        await pilot.press("escape")
        await until(pilot, lambda: "again to force" in state(app))
        await pilot.press("escape")
        await until(pilot, lambda: jobs(app)[0].status == "killed")


@some(1, "key", ("ctrl+b", "alt+b", "ctrl+left"))
async def test_the_running_command_moves_to_the_background(open_app: OpenApp, key: str) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, GATE)
        await pilot.press(key)
        await until(pilot, lambda: jobs(app)[0].background)
        assert "Job 1 in the background" in state(app)
        await until(pilot, lambda: "in the background · job 1" in " ".join(stream(app)))
        assert not chat(app).query(ChatSidebar)
        await run_through(app, pilot, "echo meanwhile")
        Path("go").touch()
        await until(pilot, lambda: state(app).startswith("Job 1 ended: exit 0 · "))


@pytest.mark.more
async def test_in_a_text_the_key_that_terminals_send_for_two_moves_the_cursor(
    open_app: OpenApp,
) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, GATE)
        await pilot.press("h", "i", "ctrl+left")
        assert prompt(app).cursor_location == (0, 0) and not jobs(app)[0].background
        Path("go").touch()


@pytest.mark.more
async def test_without_a_command_the_key_is_the_sidebars(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "true")
        await pilot.press("ctrl+b")
        await until(pilot, lambda: bool(chat(app).query(ChatSidebar)))
        await pilot.press("escape", "alt+b")
        await until(pilot, lambda: state(app).startswith("No command is running"))


async def test_a_second_command_is_not_lost_while_one_runs(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, GATE)
        await send(app, pilot, "!ls")
        assert state(app).startswith("A command is running · Esc stops it")
        assert len(jobs(app)) == 1
        await pilot.press("up")
        assert prompt(app).text == "!ls"
        Path("go").touch()


@pytest.mark.more
async def test_a_command_sent_the_moment_another_ends_runs(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):

        def send_another(event: JobEvent) -> None:
            """What was typed before is read before the screen hears that the command ended."""
            if isinstance(event, JobFinished) and event.job.sequence == 1:
                chat(app).post_message(Prompt.Sent("!echo another"))

        app.jobs.events.subscribe(send_another)
        await run(app, pilot, GATE)
        Path("go").touch()
        await until(pilot, lambda: "another" in stream(app))


@pytest.mark.more
async def test_a_command_runs_while_the_model_answers(open_app: OpenApp) -> None:
    gate = asyncio.Event()
    async with open_app([[TextDelta("Well"), gate, DONE]]) as (app, pilot):
        prompt(app).put("hi")
        await pilot.press("enter")
        await until(pilot, lambda: "┃ Well" in stream(app))
        await run_through(app, pilot, "echo meanwhile")
        assert chat(app).chat.is_busy
        gate.set()
        await settled(app, pilot)
        assert app.conversation and len(app.conversation.state) == 2


async def test_commands_are_at_their_place_when_the_session_is_opened_again(
    open_app: OpenApp,
) -> None:
    async with open_app([ANSWER, ANSWER]) as (app, pilot):
        await run_through(app, pilot, "echo before")
        await send(app, pilot, "hi")
        await run_through(app, pilot, "echo between; exit 3")
        await send(app, pilot, "bye")
        assert app.conversation
        session_id = app.conversation.session_id
    async with open_app(session_id=session_id, size=(80, 40)) as (app, _):
        lines = [line for line in stream(app) if not line.startswith("exit")]
        assert lines == [
            *("! echo before", "▾ 1 line", "before", "▌ hi", "┃ Yes."),
            *("! echo between; exit 3", "▾ 1 line", "between", "▌ bye", "┃ Yes."),
        ]
        assert any(line.startswith("exit 3 · ") for line in stream(app))


async def test_a_command_that_is_ended_by_quitting_is_recorded_too(open_app: OpenApp) -> None:
    async with open_app([ANSWER]) as (app, pilot):
        await send(app, pilot, "hi")
        await run(app, pilot, "echo begun; sleep 1000")
        await until(pilot, lambda: "begun" in stream(app))
        assert app.conversation
        session_id = app.conversation.session_id
    async with open_app(session_id=session_id) as (app, _):
        assert "begun" in stream(app) and "killed" in stream(app)[-1]


async def test_a_running_command_goes_on_when_its_session_is_left(
    open_app: OpenApp,
) -> None:
    async with open_app([ANSWER]) as (app, pilot):
        await send(app, pilot, "hi")
        await run(app, pilot, f"echo begun; {GATE}")
        await until(pilot, lambda: "begun" in stream(app))
        assert app.conversation
        left = app.conversation
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.conversation is not left)
        await settled(app, pilot)
        assert state(app).endswith("1 job running") and not stream(app)
        assert left in app.conversations
        Path("go").touch()
        await until(pilot, lambda: bool(left.state.tool_calls))
        [call] = left.state.tool_calls
        assert call.result.llm_content.startswith("begun\n[exit 0")
        await pilot.press("alt+1")
        await until(pilot, lambda: "begun" in stream(app))


@pytest.mark.more
async def test_what_was_opened_stays_open_while_more_is_printed(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, f"echo one; {GATE}; echo two; until [ -e end ]; do sleep 0.05; done")
        await until(pilot, lambda: "one" in stream(app))
        key = chat(app).transcript.keys[-1]
        chat(app).transcript.toggle_folds(key)
        await until(pilot, lambda: "one" not in stream(app))
        Path("go").touch()

        def printed() -> str:
            fold = chat(app).transcript.entry(key).fold(OUTPUT)
            return fold.text if fold and not fold.is_open else ""

        await until(pilot, lambda: "two" in printed())
        Path("end").touch()


async def test_quitting_while_jobs_run_is_told_once_and_then_done(open_app: OpenApp) -> None:
    async with open_app(size=(120, 24)) as (app, pilot):
        await run(app, pilot, "sleep 1000")
        await pilot.press("alt+b", "ctrl+q")
        await until(pilot, lambda: state(app).startswith("1 job running. Press again to quit"))
        assert app.is_running
        await pressed_until_it_ends(app, pilot, "ctrl+q")


@pytest.mark.more
async def test_ctrl_c_says_what_quitting_would_end(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, "sleep 1000")
        await pilot.press("alt+b", "ctrl+c")
        await until(pilot, lambda: state(app).startswith("Ctrl+C again quits and kills 1 job"))
        assert app.is_running
        await pressed_until_it_ends(app, pilot, "ctrl+c")


async def pressed_until_it_ends(app: OllmApp, pilot: Pilot[int], key: str) -> None:
    """On a busy machine the second press may come too late to count as one."""
    while app.is_running:
        await pilot.press(key)
        await pilot.pause(0.05)


@pytest.mark.more
async def test_only_a_long_job_that_nobody_watched_rings(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "true")
        short = jobs(app)[0]
    long = replace(short, duration=11_000)
    assert is_worth_a_bell(long, is_looked_at=False)
    assert not is_worth_a_bell(long, is_looked_at=True)
    assert not is_worth_a_bell(short, is_looked_at=False)


# For the model


async def test_a_key_gives_the_output_of_the_last_command_to_the_model(open_app: OpenApp) -> None:
    async with open_app([ANSWER]) as (app, pilot):
        await run_through(app, pilot, "echo moon")
        assert "Alt+G attach output" in stream(app)[-1]
        await pilot.press("alt+g")
        await until(pilot, lambda: "job 1" in prompt(app).text)
        await send(app, pilot, "what is this?")
        assert app.conversation
        [question, _] = app.conversation.state.branch()
        [piece] = [part for part in question.parts if isinstance(part, Attachment)]
        assert piece.content.startswith("$ echo moon\nmoon\n[exit 0")


@pytest.mark.more
async def test_the_command_under_the_cursor_is_given(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "echo first")
        await run_through(app, pilot, "echo second")
        await pilot.press("alt+up", "alt+up", "m")
        await until(pilot, lambda: "job 1" in prompt(app).text)
        assert app.focused is prompt(app) and "first" in prompt(app).written.attachments[0].content


@pytest.mark.more
async def test_giving_without_a_command_says_how_to_run_one(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("alt+g")
        await until(pilot, lambda: "No output to attach" in state(app))


async def test_a_setting_gives_the_output_of_each_command(open_app: OpenApp) -> None:
    shared = Settings(context=Context(share_command_output=True))
    async with open_app(settings=shared) as (app, pilot):
        await run_through(app, pilot, "echo moon")
        await until(pilot, lambda: "job 1" in prompt(app).text)
        assert prompt(app).written.attachments[0].content.startswith("$ echo moon\nmoon\n")


# Colours


@pytest.mark.more
async def test_the_colours_of_a_command_are_kept(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, r"printf 'a \033[31mred\033[0m\033[2Jword\nplain\n'")
        lines = stream(app)
        assert lines[2:4] == ["a redword", "plain"]
        [red] = [each for each in segments(app, "redword") if "red" in each.text]
        assert red.text == "red" and red.style and red.style.color
        assert red.style.color != plain_colour(app, "plain")


@pytest.mark.more
async def test_colours_are_kept_when_the_branch_is_shown_again(open_app: OpenApp) -> None:
    async with open_app([ANSWER, ANSWER]) as (app, pilot):
        await send(app, pilot, "hello")
        await run_through(app, pilot, r"printf '\033[31mred\033[0m\n'")
        chat(app).chat.show_branch()
        await pilot.pause()
        [red] = [each for each in segments(app, "red") if each.text == "red"]
        assert red.style and red.style.color != plain_colour(app, "! printf")


async def test_a_coloured_secret_is_not_shown(open_app: OpenApp) -> None:
    half, rest = "ghp_" + "a1B2" * 4, "c3D4" * 5
    async with open_app(size=(120, 30)) as (app, pilot):
        await run_through(app, pilot, rf"printf '{half}\033[31m%s\033[0m\n' {rest}")
        assert not any(f"{half}{rest}" in line for line in stream(app))


def segments(app: OllmApp, text: str) -> list[Segment]:
    """The pieces of the first line of the stream that has a text."""
    transcript = chat(app).transcript
    lines = (transcript.render_line(y) for y in range(transcript.size.height))
    return list(next(line for line in lines if text in line.text and "printf" not in line.text))


def plain_colour(app: OllmApp, text: str) -> object:
    transcript = chat(app).transcript
    lines = (transcript.render_line(y) for y in range(transcript.size.height))
    line = next(line for line in lines if text in line.text)
    return next(each.style.color for each in line if each.text.strip() and each.style)


# Branches


@pytest.mark.more
async def test_a_command_of_a_left_branch_is_not_shown_in_the_new_one(open_app: OpenApp) -> None:
    async with open_app([ANSWER, ANSWER, ANSWER]) as (app, pilot):
        await send(app, pilot, "first")
        await run_through(app, pilot, "echo stays")
        await send(app, pilot, "second")
        await run_through(app, pilot, "echo left")
        await pilot.press("alt+up", "alt+up", "alt+up", "e")
        await send(app, pilot, " thoughts")
        lines = stream(app)
        assert "! echo stays" in " ".join(lines) and "! echo left" not in " ".join(lines)
        await run_through(app, pilot, "echo new")
        chat(app).chat.show_branch()
        await pilot.pause()
        assert "! echo new" in " ".join(stream(app))
