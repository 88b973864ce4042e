"""Python code as a job: its variables last, and cmd() runs tracked jobs."""

from __future__ import annotations

import pytest

from ollm_tui.services.jobs.job_registry import JobRegistry
from tests.services.jobs.conftest import SESSION, printed, until, until_gone


async def test_values_modules_directory_and_environment_last(jobs: JobRegistry) -> None:
    code = "import os, math as m\nos.chdir('/usr'); os.environ['N']='1'\na=[1]; b=(1, {2}); c=None"
    await printed(jobs, code, "python")
    assert await printed(jobs, "print(a, b, c, m.floor(1.5), os.getcwd())", "python") == (
        "[1] (1, {2}) None 1 /usr\n"
    )
    assert await printed(jobs, "pwd; echo $N") == "/usr\n1\n", "one shell for both languages"


async def test_what_cannot_be_kept_is_left_out(jobs: JobRegistry) -> None:
    await printed(jobs, "class C: pass\nc=C(); f=lambda: 1; o=open('/dev/null'); kept=1", "python")
    shown = await printed(
        jobs, "print([n for n in ('C','c','f','o','kept') if n in globals()])", "python"
    )
    assert shown == "['kept']\n"


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("x = 1\nraise ValueError('no')", 1, "ValueError: no"),
        ("x = 1\nraise SystemExit(3)", 3, ""),
        ("x = 1\nexit('sorry')", 1, "sorry"),
    ],
)
async def test_python_code_fails_as_python_does(
    jobs: JobRegistry, code: str, exit_code: int, words: str
) -> None:
    job = await jobs.exec(SESSION, code, "python")
    shown = jobs.job_output(job.id).stderr.text()
    assert (job.status, job.exit_code) == ("failed", exit_code)
    assert shown.rstrip().endswith(words)
    assert "runner" not in shown
    assert await printed(jobs, "print(x)", "python") == "1\n", "its variables last all the same"


async def test_an_error_shows_the_line_of_the_users_code(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "x = 1\n1 / 0", "python")
    assert (
        jobs.job_output(job.id)
        .stderr.text()
        .startswith(
            'Traceback (most recent call last):\n  File "<job>", line 2, in <module>\n    1 / 0\n'
        )
    )


async def test_a_command_is_a_job_of_its_own(jobs: JobRegistry) -> None:
    code = (
        "r = cmd('sh', ['-c', 'echo \"$1\"; pwd; echo bad >&2; exit 4', 'sh', \"it's\"])\n"
        "print(repr((r.stdout, r.stderr, r.code, r.success, r.job_id)))"
    )
    cwd = jobs.shells()[0].cwd
    shown = await printed(jobs, code, "python")
    assert shown == repr((f"it's\n{cwd}\n", "bad\n", 4, False, f"job-{SESSION}-2")) + "\n"
    child = jobs.job(f"job-{SESSION}-2")
    assert (child.status, child.language, child.parent) == ("failed", "command", f"job-{SESSION}-1")
    assert child.code.startswith("sh -c")


async def test_a_command_that_does_not_exist_has_a_code_and_words(jobs: JobRegistry) -> None:
    shown = await printed(jobs, "r = cmd('no-such')\nprint(r.code, r.stderr)", "python")
    assert shown == "127 ollm: no-such: No such file or directory\n\n"


async def test_a_command_runs_where_the_code_is_and_with_its_environment(jobs: JobRegistry) -> None:
    code = (
        "import os\nos.chdir('/usr'); os.environ['A']='1'\n"
        "print(cmd('sh', ['-c', 'pwd; echo $A$B'], env={'B': '2'}).stdout)"
    )
    assert await printed(jobs, code, "python") == "/usr\n12\n\n"


async def test_commands_end_with_the_code_that_started_them(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "cmd('sleep', ['60'])", "python", background=True)
    await until(lambda: len(jobs.list_jobs(SESSION)) == 2 and jobs.list_jobs(SESSION)[0].pid > 0)
    child = jobs.list_jobs(SESSION)[0]
    await jobs.kill(job.id)
    ended = await jobs.wait(child.id)
    assert ended.status == "killed"
    assert "the job that started it has ended" in ended.note
    await until_gone(child.id)


async def test_a_command_may_have_a_time_limit(jobs: JobRegistry) -> None:
    shown = await printed(jobs, "print(cmd('sleep', ['60'], timeout=0.2).code)", "python")
    assert shown == "143\n"
    assert jobs.list_jobs(SESSION)[0].status == "timeout"


async def test_threads_run_commands_side_by_side(jobs: JobRegistry) -> None:
    # Each waits for the file that the other makes: one after the other would never end.
    code = """
import threading
def run(own, other):
    code = f'touch {own}; until [ -e {other} ]; do sleep 0.02; done; echo {own}'
    said[own] = cmd('sh', ['-c', code], timeout=120)
said = {}
threads = [threading.Thread(target=run, args=names) for names in (('a', 'b'), ('b', 'a'))]
[each.start() for each in threads]
[each.join() for each in threads]
print(said['a'].stdout, said['b'].stdout)
"""
    assert await printed(jobs, code, "python") == "a\n b\n\n"


async def test_an_answer_is_had_while_another_thread_still_waits(jobs: JobRegistry) -> None:
    code = """
import threading
long = threading.Thread(target=lambda: cmd('sh', ['-c', 'until [ -e go ]; do sleep 0.02; done']))
long.start()
for _ in range(5):
    assert cmd('true').success
open('go', 'w')
long.join()
try:
    cmd('true', timeout='soon')
except RuntimeError as error:
    print(error)
"""
    assert (await printed(jobs, code, "python")).startswith("not a command: Expected `float")
