"""exec and jobs: code in the session's shell, told while it runs, ended when it is cancelled."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from ollm_tui.core.errors import JobError, ToolError
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.process_tree import marked
from ollm_tui.services.sandbox.sandbox import Sandbox
from ollm_tui.tools.exec_code import Exec
from ollm_tui.tools.jobs import JobsTool
from tests.tools.conftest import SESSION, call


@pytest.fixture
def run(jobs: JobRegistry, project: Path) -> Exec:
    """exec in a shell of the project."""

    async def open_shell() -> None:
        await jobs.open_shell(SESSION, project)

    return Exec(jobs, SESSION, open_shell, 20.0)


@pytest.fixture
def look(jobs: JobRegistry) -> JobsTool:
    return JobsTool(jobs, SESSION, 20.0)


def ended(text: str) -> str:
    """Without the time it took."""
    return re.sub(r"\d+(\.\d+)? (ms|s)\b", "TIME", text)


async def test_a_command_is_shown_whole_with_its_place(run: Exec, project: Path) -> None:
    planned = await run.plan({"command": "ls  -la\necho x"})
    action = planned.action
    assert (action.effect, action.title, action.language) == ("run", "run", "shell")
    assert action.subject == "ls  -la\necho x" and action.place == str(project)


async def test_output_is_told_and_ends_with_how_it_ended(run: Exec) -> None:
    called = await call(run, code="echo one; echo two >&2; exit 3")
    assert sorted(ended(called.text).split("\n")) == ["[exit 3 · TIME]", "one", "two"]
    assert called.outcome.is_error and called.outcome.summary == "exit 3"
    assert sorted(called.told.split()) == ["one", "two"]
    quiet = await call(run, code="true")
    assert ended(quiet.text) == "[exit 0 · TIME]" and not quiet.outcome.is_error


async def test_the_shell_goes_on_from_call_to_call(run: Exec, project: Path) -> None:
    await call(run, code="cd src; NAME=value")
    called = await call(run, code='echo "$NAME"; pwd')
    assert called.text.startswith(f"value\n{project}/src\n")
    assert called.action.place == f"{project}/src"


async def test_code_that_was_shown_in_another_directory_is_not_run(
    run: Exec, project: Path
) -> None:
    planned = await run.plan({"code": "touch here"})
    await call(run, code="cd src")
    with pytest.raises(ToolError, match="meanwhile"):
        await planned.run(lambda _: None)
    assert not list(project.rglob("here"))


async def test_python_code_runs_too(run: Exec) -> None:
    called = await call(run, code="print(6 * 7)", language="python")
    assert called.text.startswith("42\n") and called.action.language == "python"


async def test_controls_are_taken_out_also_when_they_are_cut(run: Exec) -> None:
    code = r"printf 'a\033]52;c;'; sleep 0.3; printf 'aGk=\007b\033[3'; sleep 0.3; printf '1mc\n'"
    called = await call(run, code=code)
    assert called.text.startswith("abc\n") and called.told == "abc\n"


async def test_a_flood_is_kept_as_its_beginning_and_its_end(run: Exec) -> None:
    called = await call(run, code="echo first; sleep 0.4; seq 1 600000; echo last")
    assert called.text.startswith("first\n") and "\n600000\nlast\n[exit 0" in called.text
    assert "bytes came too fast to be kept]\n" in called.text
    assert len(called.text) < 2_500_000


async def test_a_call_that_takes_too_long_is_ended(
    run: Exec, jobs: JobRegistry, project: Path
) -> None:
    called = await call(run, code="echo begun; sleep 60", timeout=0.5)
    assert "begun" in called.text and "[timeout · " in called.text and called.outcome.is_error

    async def open_shell() -> None:
        await jobs.open_shell(SESSION, project)

    bounded = await call(Exec(jobs, SESSION, open_shell, 0.5), code="sleep 60", timeout=900)
    assert "[timeout" in bounded.text


@pytest.mark.parametrize("code", ["sleep 60", "trap '' TERM; echo deaf; sleep 60 & wait; sleep 60"])
async def test_a_cancelled_call_ends_all_that_it_started(
    run: Exec, jobs: JobRegistry, code: str
) -> None:
    planned = await run.plan({"code": code})
    running = asyncio.create_task(planned.run(lambda _: None))
    while not jobs.list_jobs(SESSION, "running"):
        await asyncio.sleep(0.02)
    (job,) = jobs.list_jobs(SESSION)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert jobs.job(job.id).status == "killed" and not marked(job.id)


async def test_a_call_the_user_moves_to_the_background_is_answered_at_once(
    run: Exec, jobs: JobRegistry
) -> None:
    planned = await run.plan({"code": "echo begun; sleep 60"})
    told: list[str] = []
    running = asyncio.create_task(planned.run(told.append))
    while "begun\n" not in told:
        await asyncio.sleep(0.02)
    (job,) = jobs.list_jobs(SESSION)
    jobs.move_to_background(job.id)
    outcome = await running
    assert outcome.text == "begun\n[job 1 runs in the background; see it with jobs]"
    assert jobs.job(job.id).running


async def test_background_jobs_are_listed_read_waited_for_and_ended(
    run: Exec, look: JobsTool, project: Path
) -> None:
    begun = await call(
        run,
        code="echo one; until [ -e go ]; do sleep 0.05; done; echo two; echo e >&2",
        background="true",
    )
    assert begun.text == "[job 1 runs in the background; see it with jobs]"
    assert begun.action.title == "run in the background"
    running = await call(look, action="wait", job=1, seconds=0.3)
    assert running.text == "one\n[job 1: running; since=4+0]" and running.action.effect == "none"
    (project / "go").touch()
    done = await call(look, action="wait", job="job 1", since="4+0")
    assert ended(done.text) == "two\n[stderr]\ne\n[job 1: exit 0 · TIME; since=8+2]"
    await call(run, code="sleep 60", background=True)
    killed = await call(look, action="kill", job="2")
    assert killed.action.effect == "run" and killed.action.subject == "job 2: sleep 60"
    assert "killed" in killed.text and killed.outcome.changed
    listed = await call(look, action="list")
    assert listed.text.startswith("2: sleep 60 [killed")
    assert listed.outcome.summary == "2 jobs"


async def test_what_cannot_be_done_is_said(look: JobsTool, run: Exec) -> None:
    for args, message in (
        ({"action": "output", "job": 9}, "there is no job '9'"),
        ({"action": "kill"}, "jobs needs job"),
        ({"action": "stop"}, "action must be one of"),
    ):
        with pytest.raises(ToolError, match=message):
            await call(look, **args)
    await call(run, code="true")
    with pytest.raises(ToolError, match="since"):
        await call(look, action="output", job=1, since="much")
    with pytest.raises(ToolError, match="exec needs code"):
        await call(run, code="  ")


async def test_what_holds_commands_holds_those_of_the_model(
    jobs: JobRegistry, project: Path, outside: Path
) -> None:
    sandbox = await asyncio.to_thread(Sandbox.find, (project,), network=False)
    if not sandbox.confines:
        pytest.skip("nothing on this machine holds commands also in the temporary folder")

    async def open_shell() -> None:
        await jobs.open_shell(SESSION, project)

    run = Exec(jobs, SESSION, open_shell, 20.0, sandbox.confinement)
    for language, code in (
        ("shell", f"touch inside; touch {outside}/new"),
        ("python", f"open('too', 'w'); open('{outside}/new', 'w')"),
    ):
        called = await call(run, code=code, language=language)
        assert called.outcome.is_error, called.text
    assert (project / "inside").exists() and (project / "too").exists()
    assert not (outside / "new").exists()


async def test_a_shell_that_cannot_be_opened_is_an_error_of_the_tool(jobs: JobRegistry) -> None:
    async def closed() -> None:
        raise JobError("10 shells have running jobs", "wait for one")

    with pytest.raises(ToolError, match="10 shells"):
        await call(Exec(jobs, SESSION, closed, 5.0), code="true")


async def test_without_a_shell_there_are_no_jobs() -> None:
    listed = await call(JobsTool(JobRegistry({}), SESSION, 5.0), action="list")
    assert "there are no jobs" in listed.text
