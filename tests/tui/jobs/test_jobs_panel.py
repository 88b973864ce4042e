"""The jobs panel: live, every key of it, with real processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.chat.session_opening import LOOKED_AFTER_SECONDS
from ollm_tui.tui.jobs.job_output import JobOutputScreen
from ollm_tui.tui.jobs.screen import EnvironmentPicker, JobsScreen
from ollm_tui.tui.kit.question import Confirmation
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.jobs_desk import (
    GATE,
    GONE,
    chosen,
    heading,
    jobs,
    listed,
    open_panel,
    record_elsewhere,
    run,
    run_through,
    said,
    tail,
    until,
)
from tests.tui.seen import chat, prompt, send, state, stream

PROMPTS = "prompt-history"
ANSWER = [TextDelta("Yes."), Completed(finish="stop")]


async def test_an_empty_panel_teaches(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await open_panel(app, pilot)
        assert " ".join(listed(app)).startswith("No jobs yet. Type !command in the prompt")
        assert heading(app).split() == ["Jobs", "1", "variable", "withheld"]
        await pilot.press("k", "w", "g", "y", "r", "b", "enter")
        assert said(app) == "e environment  Esc close"
        await pilot.press("escape")
        assert isinstance(app.screen, ChatScreen)


async def test_jobs_are_listed_the_newest_first(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "true")
        await run_through(app, pilot, "false")
        await run(app, pilot, GATE)
        await open_panel(app, pilot)
        lines = listed(app)
        assert lines[0].startswith("● 3 until [ -e go ]") and "running" in lines[0]
        assert lines[1].startswith("! 2 false exit 1") and lines[2].startswith("✓ 1 true exit 0")
        assert "1 running" in heading(app)
        Path("go").touch()
        await until(pilot, lambda: listed(app)[0].startswith("✓ 3"))
        assert "running" not in heading(app)


async def test_the_output_of_the_chosen_job_is_live_and_in_the_order_it_came(
    open_app: OpenApp,
) -> None:
    async with open_app() as (app, pilot):
        # What is read at the same moment has no order: each waits until the last was seen.
        gates = [f"until [ -e {name} ]; do sleep 0.05; done" for name in ("a", "b", "c")]
        code = "echo one; {}; echo two >&2; {}; echo three; {}; echo four".format(*gates)
        await run(app, pilot, code)
        await open_panel(app, pilot)
        await until(pilot, lambda: tail(app) == "one")
        Path("a").touch()
        await until(pilot, lambda: tail(app) == "one\ntwo")
        Path("b").touch()
        await until(pilot, lambda: tail(app) == "one\ntwo\nthree")
        Path("c").touch()
        await until(pilot, lambda: tail(app).endswith("\nfour"))


@pytest.mark.more
async def test_another_line_shows_another_job(open_app: OpenApp) -> None:
    async with open_app(size=(60, 20)) as (app, pilot):
        await run_through(app, pilot, "echo first")
        await run_through(app, pilot, "echo second")
        await open_panel(app, pilot)
        assert tail(app) == "second"
        await pilot.press("down")
        assert tail(app) == "first"


@some(1, "key", ("enter", "o"))
async def test_the_whole_output_can_be_read_and_searched(open_app: OpenApp, key: str) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "seq 3000")
        await open_panel(app, pilot)
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, JobOutputScreen))
        page = app.screen.query_one(Transcript)
        await until(pilot, lambda: bool(page.keys) and page.render_line(0).text.strip() != "")
        assert page.plain_text(page.keys[0]).splitlines() == [str(n) for n in range(1, 3001)]
        await pilot.press("slash", "7", "7", "7")
        await until(pilot, lambda: page.finder.position[1] == 3)
        await pilot.press("escape", "g")
        await until(pilot, lambda: page.scroll_offset.y == 0)
        await pilot.press("escape")
        assert isinstance(app.screen, JobsScreen)


@pytest.mark.more
async def test_an_output_that_is_read_grows(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, f"echo one; {GATE}; echo two")
        await open_panel(app, pilot)
        await until(pilot, lambda: tail(app) == "one")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, JobOutputScreen))
        page = app.screen.query_one(Transcript)
        await until(pilot, lambda: bool(page.keys))
        Path("go").touch()
        await until(pilot, lambda: page.plain_text(page.keys[0]) == "one\ntwo")
        await until(pilot, lambda: "exit 0" in heading(app))


async def test_waiting_says_when_the_job_has_ended(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, GATE)
        await open_panel(app, pilot)
        await pilot.press("w")
        await until(pilot, lambda: said(app).startswith("Waiting for job 1"))
        Path("go").touch()
        await until(pilot, lambda: said(app).startswith("Job 1 ended: exit 0"))


async def test_killing_asks_first(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, "sleep 1000")
        await open_panel(app, pilot)
        await pilot.press("k")
        await until(pilot, lambda: isinstance(app.screen, Confirmation))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        assert jobs(app)[0].running
        await pilot.press("k")
        await until(pilot, lambda: isinstance(app.screen, Confirmation))
        await pilot.pause(0.05)
        await pilot.press("y")
        await until(pilot, lambda: said(app).startswith("Job 1 ended: killed"))
        assert listed(app)[0].startswith("! 1 sleep 1000 killed")


async def test_the_output_is_copied_without_secrets(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "echo all of it; echo swordfish-and-'more'")
        await open_panel(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: said(app).startswith("Output of job 1 "))
        clipboard: str = app.clipboard  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        assert clipboard.startswith("all of it\n[REDACTED:")


async def test_the_output_is_given_to_the_model_with_the_next_message(open_app: OpenApp) -> None:
    async with open_app([ANSWER]) as (app, pilot):
        await run_through(app, pilot, "echo the printer is on fire; exit 2")
        await open_panel(app, pilot)
        await pilot.press("g")
        await until(pilot, lambda: state(app).startswith("Attached to your next message (≈"))
        assert prompt(app).text.startswith("[job 1 ≈") and "tokens" in prompt(app).text
        await send(app, pilot, " what now?")
        assert app.conversation
        question = app.conversation.prompt_text()
        assert "$ echo the printer is on fire; exit 2\nthe printer is on fire" in question
        assert "[exit 2 · " in question


@pytest.mark.more
async def test_what_is_typed_after_giving_an_output_goes_into_the_prompt(
    open_app: OpenApp,
) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "echo once")
        await open_panel(app, pilot)
        await pilot.press("g")
        await until(pilot, lambda: app.focused is prompt(app))
        await pilot.press("r", "e")
        assert prompt(app).text.endswith("re") and len(jobs(app)) == 1


@some(1, "screen", ["f8", "f5", "f1", "f10"])
async def test_ctrl_c_closes_a_screen_that_stands_before_the_chat(
    open_app: OpenApp, screen: str
) -> None:
    async with open_app() as (app, pilot):
        await pilot.press(screen)
        await until(pilot, lambda: app.screen is not chat(app))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.screen is chat(app))
        assert not list(app.screen.query("Toast"))


@pytest.mark.more
async def test_a_job_moves_to_the_background_and_back(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, GATE)
        await open_panel(app, pilot)
        await pilot.press("b")
        await until(pilot, lambda: "in the background" in said(app))
        assert jobs(app)[0].background and "background" in listed(app)[0]
        await pilot.press("b")
        await until(pilot, lambda: "in the foreground" in said(app))
        await pilot.press("escape")
        await pilot.press("escape")
        await until(pilot, lambda: jobs(app)[0].status == "killed")


@pytest.mark.more
async def test_a_job_is_run_again(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "echo once more")
        await open_panel(app, pilot)
        await pilot.press("r")
        await until(pilot, lambda: len(listed(app)) == 2 and listed(app)[0].startswith("✓ 2"))
        assert stream(app).count("! echo once more") == 2


async def test_withheld_variables_are_named_and_granted_one_by_one(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "echo ${#DEPLOY_TOKEN}")
        assert "0" in stream(app)
        await open_panel(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EnvironmentPicker))
        await pilot.press("enter")
        await until(pilot, lambda: said(app).startswith("DEPLOY_TOKEN granted"))
        assert "withheld" not in heading(app)
        await pilot.press("escape")
        await run_through(app, pilot, "echo ${#DEPLOY_TOKEN}")
        await until(pilot, lambda: "18" in stream(app))


@pytest.mark.more
async def test_jobs_of_an_earlier_time_are_listed_with_what_was_recorded(
    open_app: OpenApp,
) -> None:
    async with open_app([ANSWER]) as (app, pilot):
        await send(app, pilot, "hi")
        await run_through(app, pilot, "echo long ago; exit 4")
        assert app.conversation
        session_id = app.conversation.session_id
    async with open_app(session_id=session_id) as (app, pilot):
        await open_panel(app, pilot)
        assert listed(app)[0].startswith("! 1 echo long ago; exit 4 exit 4")
        assert tail(app) == "long ago"


async def test_the_slash_command_stands_on_a_job_or_ends_it(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await run(app, pilot, "sleep 1000")
        await pilot.press("alt+b")
        await run_through(app, pilot, "true")
        prompt(app).put("/jobs 1")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, JobsScreen))
        highlighted = chosen(app)
        assert highlighted and highlighted.key == jobs(app)[1].id
        await pilot.press("f8")
        for wrong, told in (
            ("7", "No job '7'"),
            ("kill", "Which job?"),
            ("a b", "Unknown option /jobs"),
        ):
            prompt(app).put(f"/jobs {wrong}")
            await pilot.press("enter")
            await until(pilot, lambda told=told: state(app).startswith(told))
        prompt(app).put("/jobs kill 1")
        await pilot.press("enter")
        await until(pilot, lambda: jobs(app)[1].status == "killed")


@pytest.mark.more
async def test_a_job_of_another_session_is_listed_while_it_runs(open_app: OpenApp) -> None:
    async with open_app([ANSWER]) as (app, pilot):
        await run(app, pilot, GATE)
        left = app.conversation
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.conversation is not left)
        await open_panel(app, pilot)
        assert "another session" in listed(app)[0]
        Path("go").touch()
        await until(pilot, lambda: listed(app)[0].startswith("No jobs yet"))


async def test_a_secret_in_a_command_is_run_and_never_shown_or_recorded(
    open_app: OpenApp, home: Path
) -> None:
    secret = "a8Kd93jfQm2" * 3
    async with open_app(size=(120, 30)) as (app, pilot):
        measure = f"say() {{ echo ${{#2}}; }}; say -H 'Authorization: Bearer {secret}'"
        await run(app, pilot, f"{measure}; {GATE}")
        await open_panel(app, pilot)
        await until(pilot, lambda: tail(app) == str(len("Authorization: Bearer ") + len(secret)))
        about = str(app.screen.query_one("#about", Static).content)
        assert "Bearer [REDACTED:" in about and secret not in about
        assert secret[:8] not in " ".join((*listed(app), *stream(app), state(app)))
        await pilot.press("k")
        await until(pilot, lambda: isinstance(app.screen, Confirmation))
        asked = " ".join(str(each.content) for each in app.screen.query(Static))
        assert "REDACTED" in asked and secret[:8] not in asked
        await pilot.press("n")
        Path("go").touch()
        await until(pilot, lambda: listed(app)[0].startswith("✓ 1"))
    written = [path for path in home.rglob("*") if path.is_file() and _holds(path, secret)]
    assert {path.parent.name for path in written} <= {PROMPTS}


@pytest.mark.more
async def test_a_command_that_was_recorded_without_its_secret_is_not_run_again(
    open_app: OpenApp,
) -> None:
    async with open_app() as (app, pilot):
        await run_through(app, pilot, "true [REDACTED:token:12ab]")
        await open_panel(app, pilot)
        await pilot.press("r")
        await until(pilot, lambda: said(app).startswith("Its secrets were not recorded"))
        assert len(jobs(app)) == 1


@some(1, "key", ("w", "b"))
async def test_a_job_that_another_ollm_runs_is_shown_and_left_to_it(
    open_app: OpenApp, home: Path, key: str
) -> None:
    async with open_app() as (app, pilot):
        assert app.conversation
        record_elsewhere(home, app.conversation.session_id)
        await open_panel(app, pilot)
        assert listed(app)[0].startswith("● 1 sleep 60")
        await pilot.press(key)
        await until(pilot, lambda: "runs in another ollm · ollm jobs kill job-" in said(app))
        assert isinstance(app.screen, JobsScreen)


async def test_what_ran_when_the_program_ended_is_told_once_and_recorded(
    open_app: OpenApp, home: Path
) -> None:
    async with open_app([ANSWER]) as (app, pilot):
        await send(app, pilot, "hi")
        assert app.conversation
        session_id = app.conversation.session_id
    record_elsewhere(home, session_id, GONE, code="make test")
    model = f"job-{session_id}-2"
    record_elsewhere(home, session_id, GONE, id=model, sequence=2, code="make", by_model=True)
    told = "!make test was still running at exit: it was killed"
    async with open_app(session_id=session_id) as (app, pilot):
        await until(pilot, lambda: told in stream(app))
        assert "The model's make was still running at exit" in " ".join(stream(app))
        assert app.conversation
        (call,) = app.conversation.state.tool_calls
        assert call.result.llm_content == "[killed · ollm quit while it ran]"
    async with open_app(session_id=session_id) as (app, pilot):
        await pilot.pause(2 * LOOKED_AFTER_SECONDS)
        assert "! make test no output · killed" in " ".join(stream(app))
        assert not [line for line in stream(app) if "was running" in line]


def _holds(path: Path, text: str) -> bool:
    return text.encode() in path.read_bytes()
