"""Shells: what lasts from one job to the next, exactly, and what does not."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_tui.core.errors import JobError
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.output_tail import Limits
from ollm_tui.services.jobs.shell_program import OLDEST_BASH, Program, shell_program
from ollm_tui.services.jobs.shell_state import ShellState, state_after
from ollm_tui.services.jobs.starting import JobRequest
from tests.cases import some
from tests.services.jobs.conftest import ENVIRONMENT, GATE, SESSION, printed

values = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


async def test_directory_environment_variables_and_functions_last(jobs: JobRegistry) -> None:
    await printed(
        jobs, "cd /usr; export NAME='a b'; plain=1; list=(x 'y z'); f() { echo \"f $1\"; }"
    )
    shown = await printed(
        jobs, 'pwd; printenv NAME; echo $plain "${list[1]}"; f 2; printenv plain || :'
    )
    assert shown == "/usr\na b\n1 y z\nf 2\n"


async def test_arrays_attributes_and_unsetting_last(jobs: JobRegistry) -> None:
    await printed(
        jobs,
        "declare -A map=([k]='v w'); declare -ri number=5; export GONE=1; declare -ax ex=(1 2)",
    )
    await printed(jobs, "unset GONE")
    shown = await printed(
        jobs,
        'echo "${map[k]}" "$number" "${GONE-unset}" "${ex[1]}"\n'
        "(number=6) 2>/dev/null || echo fixed",
    )
    assert shown == "v w 5 unset 2\nfixed\n"


@some(
    2,
    "code",
    [
        "cd /usr; x=1; exit 3",
        "set -eu; cd /usr; x=1; false",
        "cd /usr; x=1; (exit 1)",
        "cd /usr; x=1; set -x; false",
    ],
)
async def test_a_job_that_fails_still_changes_the_shell(jobs: JobRegistry, code: str) -> None:
    assert (await jobs.exec(SESSION, code)).status == "failed"
    assert await printed(jobs, "pwd; echo $x $-") == "/usr\n1 hBc\n"


async def test_tracing_shows_the_users_code_and_nothing_of_ours(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "set -x; echo hi")
    assert "ollm" not in jobs.job_output(job.id).stderr.text()


async def test_messages_count_the_lines_of_the_users_code(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "true\ntrue\nnosuch")
    assert jobs.job_output(job.id).stderr.text() == "bash: line 3: nosuch: command not found\n"


@some(1, "background", [True, False])
async def test_a_background_or_killed_job_does_not_change_the_shell(
    jobs: JobRegistry, background: bool
) -> None:
    before = jobs.shells()[0].cwd
    job = await jobs.exec(
        SESSION,
        "cd /usr; x=1; sleep 0.1" + "; sleep 60" * (not background),
        "shell",
        background,
        0.4,
    )
    await jobs.wait(job.id)
    assert await printed(jobs, "pwd; echo ${x-none}") == f"{before}\nnone\n"


async def test_of_parallel_jobs_the_last_to_finish_wins(jobs: JobRegistry, tmp_path: Path) -> None:
    late = await jobs.start(SESSION, JobRequest(code=f"{GATE}; x=late"))
    await jobs.exec(SESSION, "x=early; y=early")
    (tmp_path / "work" / "go").touch()
    await jobs.wait(late.id)
    assert await printed(jobs, "echo $x ${y-none}") == "late none\n"


async def test_variables_for_one_job_do_not_stay(jobs: JobRegistry) -> None:
    await printed(jobs, "export KEPT=before")
    given_once = {"ONCE": "1", "KEPT": "then", "CHANGED": "1"}
    job = await jobs.exec(SESSION, "echo $ONCE $KEPT; CHANGED=2", env=given_once)
    assert jobs.job_output(job.id).stdout.text() == "1 then\n"
    assert await printed(jobs, "echo ${ONCE-none} $KEPT $CHANGED") == "none before 2\n"


async def test_a_users_own_exit_trap_runs(jobs: JobRegistry) -> None:
    assert await printed(jobs, "trap 'echo bye' EXIT; x=1") == "bye\n"
    assert await printed(jobs, "echo $x") == "1\n", "and the shell is kept where it ends by itself"


async def test_a_shell_sees_its_environment_and_nothing_else(jobs: JobRegistry) -> None:
    names = {line.partition("=")[0] for line in (await printed(jobs, "env")).splitlines()}
    assert names == {*ENVIRONMENT, "PWD", "SHLVL", "_", "OLLM_JOB"}
    assert await printed(jobs, "echo $OLLM_JOB") == f"job-{SESSION}-2\n"


async def test_a_shell_whose_directory_is_gone_runs_nothing_elsewhere(
    jobs: JobRegistry, tmp_path: Path
) -> None:
    await printed(jobs, "mkdir inner; cd inner; rmdir ../inner")
    with pytest.raises(JobError, match="directory is gone") as raised:
        await jobs.exec(SESSION, "touch here")
    assert str(tmp_path / "work") in raised.value.hint
    assert await printed(jobs, "ls; pwd") == f"{tmp_path / 'work'}\n"


async def test_a_shell_can_be_changed_from_outside(jobs: JobRegistry) -> None:
    view = jobs.change_shell(SESSION, Path("/usr"), {"NAME": "v"}, {"word": "it's", "many": [1, 2]})
    assert (view.cwd, view.environment["NAME"]) == ("/usr", "v")
    assert view.variables == {"word": "it's", "many": [1, 2]}
    assert await printed(jobs, 'pwd; echo "$NAME $word"') == "/usr\nv it's\n"
    assert await printed(jobs, "print(word, many)", "python") == "it's [1, 2]\n"
    with pytest.raises(JobError, match="no directory"):
        jobs.change_shell(SESSION, Path("no-such"))
    with pytest.raises(JobError, match="cannot be the name"):
        jobs.change_shell(SESSION, variables={"a;b": 1})


async def test_names_and_values_of_any_bytes_work(jobs: JobRegistry, tmp_path: Path) -> None:
    odd = os.fsdecode(b"d\xff\xe4")
    (tmp_path / "work" / odd).mkdir()
    job = await jobs.exec(SESSION, "cd d*; export ODD; echo $ODD; basename $PWD", env={"ODD": odd})
    assert jobs.job_output(job.id).stdout.data == b"d\xff\xe4\nd\xff\xe4\n"
    after = await jobs.exec(SESSION, "basename $PWD")
    assert jobs.job_output(after.id).stdout.data == b"d\xff\xe4\n"
    assert msgspec.json.encode((jobs.shells(), jobs.list_jobs(SESSION)))


async def test_code_of_any_length_runs(jobs: JobRegistry) -> None:
    assert await printed(jobs, f"x='{'y' * 300_000}'; echo ${{#x}}") == "300000\n"
    assert await printed(jobs, "echo ${#x}") == "300000\n"


@settings(max_examples=15)
@given(st.lists(values, min_size=1, max_size=8))
def test_every_value_comes_back_exactly(texts: list[str]) -> None:
    async def go() -> bytes:
        jobs = JobRegistry(ENVIRONMENT)
        await jobs.open_shell(SESSION, Path("/"))
        for at, text in enumerate(texts):
            kind = "export " if at % 2 else ""
            await jobs.exec(SESSION, f"{kind}v{at}={shlex.quote(text)}")
        names = " ".join(f'"$v{at}"' for at in range(len(texts)))
        job = await jobs.exec(SESSION, f"printf '%s\\0' {names}")
        data = jobs.job_output(job.id).stdout.data
        await jobs.close()
        return data

    assert asyncio.run(go()) == b"".join(text.encode() + b"\0" for text in texts)


def test_a_report_that_is_not_whole_changes_nothing() -> None:
    before = ShellState(cwd="/", environment={"A": "1"})
    whole = b"/usr\0A=2\0\0x=1\n\0"
    after = state_after(whole, before, {}, python=False, most=100).state
    assert after == ShellState(cwd="/usr", environment={"A": "2"}, declarations=b"x=1\n")
    for length in range(len(whole)):
        assert state_after(whole[:length], before, {}, python=False, most=100).state == before


def test_too_many_variables_stay_as_they_were() -> None:
    before = ShellState(cwd="/", environment={}, declarations=b"y=1\n")
    after = state_after(b"/usr\0\0" + b"x" * 100 + b"\0", before, {}, python=False, most=50).state
    assert after == ShellState(cwd="/usr", environment={}, declarations=b"y=1\n")


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="there is no sh here")
def test_a_plain_sh_keeps_directory_and_environment(tmp_path: Path) -> None:
    before = ShellState(cwd=str(tmp_path), environment={"PATH": os.environ["PATH"]})
    program = shell_program("cd /usr; export A='x y'; exit 3", before, "/bin/sh")
    report = report_of(program, before, code=3)
    after = state_after(report, before, {}, python=False, most=1000).state
    assert (after.cwd, after.environment["A"]) == ("/usr", "x y")


def report_of(program: Program, state: ShellState, code: int) -> bytes:
    """Run a program to this exit code; what it leaves of the shell's state."""
    assert program.report is not None
    numbers = dict(zip(program.numbers, program.files, strict=True))
    child = os.posix_spawn(
        program.argv[0],
        program.argv,
        dict(state.environment),
        file_actions=[(os.POSIX_SPAWN_DUP2, file, number) for number, file in numbers.items()],
    )
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code
    report = os.pread(program.report, 100_000, 0)
    for descriptor in (*program.files, program.report):
        os.close(descriptor)
    return report


def test_an_old_bash_keeps_the_same_as_a_new_one(tmp_path: Path) -> None:
    before = ShellState(cwd=str(tmp_path), environment={"PATH": os.environ["PATH"]})
    code = "cd /usr; export A='x y'; b=2; list=(3 4); f() { :; }; exit 5"
    states: list[ShellState] = []
    for is_old in (False, True):
        program = shell_program(code, before)
        if is_old:  # whatever the version is here, it counts as one before 4.4
            start = os.pread(program.files[1], 100_000, 0)
            told = start.replace(b"< %d" % OLDEST_BASH, b"< 9999").replace(b"@a}", b"}")
            assert told != start
            os.pwrite(program.files[1], told.ljust(len(start) + 1), 0)
        report = report_of(program, before, code=5)
        states.append(state_after(report, before, {}, python=False, most=100_000).state)
    new, old = states
    assert (new.cwd, new.environment) == (old.cwd, old.environment)
    variables = new.declarations.partition(b"__ollm")[0]  # our own functions follow
    assert old.declarations.startswith(variables)
    assert old.environment["A"] == "x y"
    assert all(part in old.declarations for part in (b'b="2"', b'list=([0]="3"', b"f ()"))


def test_variables_of_damaged_state_are_none() -> None:
    state = ShellState(cwd="/", environment={}, python=b"{")
    assert state.variables == {}
    assert json.loads(state.with_variables({"a": 1}).python)["values"] == {"a": 1}


async def test_variables_that_take_too_much_room_are_noted_and_the_rest_is_kept(
    tmp_path: Path,
) -> None:
    jobs = JobRegistry(ENVIRONMENT, limits=Limits(variable_bytes=5000))
    await jobs.open_shell(SESSION, tmp_path)
    for code, language in (("n=$(seq 4000); cd /usr", "shell"), ("n = 'x' * 9000", "python")):
        job = await jobs.exec(SESSION, code, "python" if language == "python" else "shell")
        assert job.note == "variables of more than 5,000 bytes were not kept"
        assert jobs.job(job.id).note == job.note
    assert jobs.shells()[0].cwd == "/usr"
    assert (await jobs.exec(SESSION, "n=1")).note == ""
    await jobs.close()
