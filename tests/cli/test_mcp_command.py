"""`ollm mcp`, driven by the official client: every tool, its errors, and what is left after."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from ollm_tui.mcp_server import build_server
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.job_tools import JobTools
from ollm_tui.services.jobs.process_tree import marked
from ollm_tui.services.sandbox.sandbox import Sandbox
from tests.cases import some
from tests.cli.conftest import OLLM, Run

TOOLS = """startSession updateSession endSession listSessions exec listJobs getJobOutput
killJob waitJob""".split()

LOOP_WATCH = Path(__file__).parent.parent / "stand_ins" / "loop_watch"


class Agent:
    """Calls tools as another program does."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> dict[str, Any]:
        """The parameters of every tool."""
        listed = await self._client.list_tools()
        assert all(tool.description for tool in listed.tools)
        return {tool.name: tool.input_schema for tool in listed.tools}

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        result = await self._client.call_tool(tool, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert not result.is_error, content.text
        value: Any = json.loads(content.text)
        assert result.structured_content in (value, {"items": value})
        return value

    async def error(self, tool: str, **arguments: Any) -> str:
        """The one line a call that cannot be done answers."""
        result = await self._client.call_tool(tool, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert result.is_error
        assert "\n" not in content.text
        return content.text


@asynccontextmanager
async def agent_of_command(*arguments: str, **variables: str) -> AsyncGenerator[Agent]:
    """An agent that started `ollm mcp` itself."""
    names = ("PATH", "HOME", "OLLM_HOME")
    environment = {name: os.environ[name] for name in names} | variables
    unset = not arguments and "OLLM_TOOLS_SCOPE" not in variables
    if unset and Sandbox.find([Path.cwd()], network=False).confinement is None:
        arguments = ("--no-sandbox",)
    server = StdioServerParameters(
        command=str(OLLM), args=["mcp", *arguments], env=environment, cwd=str(Path.cwd())
    )
    async with Client(server) as client:
        yield Agent(client)


@asynccontextmanager
async def agent(folder: Path) -> AsyncGenerator[Agent]:
    """An agent that talks to the same server without a process between."""
    jobs = JobRegistry({"PATH": os.environ["PATH"]})
    async with Client(build_server(JobTools(jobs, folder))) as client:
        yield Agent(client)
    await jobs.close()


async def test_every_tool_works_over_stdio(home: Path) -> None:
    async with agent_of_command(OPENAI_API_KEY="sk-secret") as call:
        assert list(await call.tools()) == TOOLS
        session = await call("startSession", env={"A": "1"}, vars={"word": "x"})
        assert session["cwd"] == str(Path.cwd())
        assert "OPENAI_API_KEY" not in session["env"]
        at = {"sessionId": session["id"]}
        await call("updateSession", **at, cwd="/usr", env={"B": "2"}, vars={"n": [1]})
        ran = await call("exec", **at, code="pwd; echo $A$B$word; echo bad >&2; exit 3")
        job_id = f"job-{session['id']}-1"
        assert {name: ran[name] for name in ("stdout", "stderr", "code", "success", "jobId")} == {
            "stdout": "/usr\n12x\n",
            "stderr": "bad\n",
            "code": 3,
            "success": False,
            "jobId": job_id,
        }
        begun = await call("exec", **at, code="echo begun; sleep 60", background=True)
        assert set(begun) == {"jobId", "pid"}
        listed = await call("listJobs", **at, filter={"status": "running"})
        assert [job["id"] for job in listed] == [begun["jobId"]]
        while not (await call("getJobOutput", **at, jobId=begun["jobId"]))["stdout"]:
            await asyncio.sleep(0.02)
        killed = await call("killJob", **at, jobId=begun["jobId"])
        assert killed["status"] == "killed"
        output = await call("getJobOutput", **at, jobId=begun["jobId"])
        assert (output["stdout"], output["status"], output["exitCode"]) == (
            "begun\n",
            "killed",
            143,
        )
        waited = await call("waitJob", **at, jobId=job_id)
        assert (waited["stdout"], waited["code"], waited["success"]) == ("/usr\n12x\n", 3, False)
        assert waited["duration"] >= 0
        assert [each["id"] for each in await call("listSessions")] == [session["id"]]
        assert (await call("endSession", **at))["ended"]
        assert await call("listSessions") == []
    assert (home / "jobs" / f"{session['id']}.jsonl").exists()


async def test_no_output_holds_up_the_server(home: Path, tmp_path: Path) -> None:
    noted = tmp_path / "slow-callbacks"
    watch = {"PYTHONPATH": str(LOOP_WATCH), "OLLM_TEST_LOOP": str(noted)}
    megabyte = "yes 'the key: is=here, and some words' | head -c 1000000"
    async with agent_of_command(**watch) as call:
        at = {"sessionId": (await call("startSession"))["id"]}
        # Everything is used once before: what is loaded at first use does not grow with output.
        warm = await call("exec", **at, code="echo")
        await call("exec", **at, code="cmd('echo')", language="python")
        for tool in ("listJobs", "getJobOutput", "waitJob"):
            await call(tool, **at, **({} if tool == "listJobs" else {"jobId": warm["jobId"]}))
        noted.touch()
        ran = await asyncio.gather(*(call("exec", **at, code=megabyte) for _ in range(8)))
        job = {**at, "jobId": ran[0]["jobId"]}
        await asyncio.gather(call("listJobs", **at), call("waitJob", **job))
        await call("getJobOutput", **job)
        await call("exec", **at, code="cmd('seq', ['100000'])", language="python")
    assert all(len(each["stdout"]) == 1_000_000 for each in ran)
    assert noted.read_text() == ""


@some(
    2,
    ("rules", "code", "told"),
    [
        ("{}", "rm -rf ~", "nobody can be asked here, and no setting allows it unasked)"),
        ("{}", "echo x > /etc/outside", "not allowed: "),
        ("{scope: [., /etc]}", "echo x > /etc/ou/tside || true", ""),
        ("{permissions: {exec: deny}}", "true", "not allowed: the settings forbid exec (tools."),
        ("{permissions: {exec: confirm}}", "true", "tools.permissions.exec: auto allows it)"),
        ("{permissions: {exec: auto}}", "true", ""),
        ("{allowed: [read_*]}", "true", "not allowed: exec is not an allowed tool"),
    ],
)
async def test_the_rules_for_tools_hold_for_other_agents(
    home: Path, rules: str, code: str, told: str
) -> None:
    home.mkdir()
    (home / "config.yaml").write_text(f"tools: {rules}\n")
    async with agent_of_command() as call:
        session = (await call("startSession"))["id"]
        if told:
            assert told in await call.error("exec", sessionId=session, code=code)
        else:
            assert (await call("exec", sessionId=session, code=code))["success"]


async def test_jobs_run_in_a_sandbox_unless_it_is_switched_off(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if Sandbox.find([Path.cwd()], network=False).confinement is None:
        pytest.skip("no sandbox available")
    outside = Path.cwd().parent / "outside.txt"
    code = f"open('inside.txt', 'w'); open({str(outside.parent)!r} + '/out' + 'side.txt', 'w')"
    for argument, is_held in (((), True), (("--no-sandbox",), False)):
        async with agent_of_command(*argument) as call:
            at = {"sessionId": (await call("startSession"))["id"]}
            ran = await call("exec", **at, code=f"x = 1\n{code}", language="python")
            (session,) = await call("listSessions")
        assert outside.exists() != is_held, ran
        assert Path("inside.txt").exists()
        assert session["vars"]["x"] == 1


@some(1, "network", ("true", "false"))
async def test_jobs_use_the_network_only_where_the_settings_allow_it(
    home: Path, network: str
) -> None:
    if Sandbox.find([Path.cwd()], network=False).confinement is None:
        pytest.skip("no sandbox available")
    home.mkdir()
    (home / "config.yaml").write_text(f"tools: {{network: {network}, permissions: {{exec: auto}}}}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket\nsocket.create_connection({server.getsockname()!r})"
        async with agent_of_command("--sandbox") as call:
            at = {"sessionId": (await call("startSession"))["id"]}
            ran = await call("exec", **at, code=code, language="python")
    assert ran["success"] == (network == "true"), ran


def test_the_help_says_what_is_protected_and_what_is_not(run_ollm: Run) -> None:
    words = " ".join(run_ollm("mcp", "--help").stdout.split())
    assert "Jobs follow tools.permissions, allowed, scope and network of the settings." in words
    assert "Not protected: files in the scope, and reading elsewhere." in words
    assert "With --no-sandbox" in words and "tools.network does not hold" in words


@pytest.mark.more
def test_a_sandbox_that_is_asked_for_and_does_not_work_is_an_error(run_ollm: Run) -> None:
    done = run_ollm("mcp", "--sandbox", OLLM_TOOLS_SCOPE="/", stdin="")
    assert done.returncode != 0
    assert "no sandbox available: bwrap: the whole machine is in the scope" in done.stderr
    assert "--no-sandbox" in done.stderr


async def test_where_no_sandbox_works_only_what_reads_runs_unless_the_user_says_so(
    home: Path,
) -> None:
    # No sandbox can hold a command whose scope is the whole machine.
    scope = {"OLLM_TOOLS_SCOPE": "/"}
    Path("seen.txt").write_text("words\n")
    async with agent_of_command(**scope) as call:
        at = {"sessionId": (await call("startSession"))["id"]}
        assert (await call("exec", **at, code="cat seen.txt"))["stdout"] == "words\n"
        refused = await call.error("exec", **at, code="touch made.txt")
        assert "not sandboxed" in refused
        assert "tools.permissions.exec: auto allows it, or ollm mcp --no-sandbox)" in refused
        assert not Path("made.txt").exists()
    async with agent_of_command("--no-sandbox", **scope) as call:
        at = {"sessionId": (await call("startSession"))["id"]}
        assert (await call("exec", **at, code="touch made.txt"))["success"]
        assert Path("made.txt").exists()
        assert "not allowed" in await call.error("exec", **at, code="rm -rf ~")


async def test_all_jobs_end_when_stdin_closes(home: Path) -> None:
    async with agent_of_command() as call:
        session = await call("startSession")
        begun = await call(
            "exec",
            sessionId=session["id"],
            code="trap '' TERM; setsid sleep 60 & sleep 60",
            background=True,
        )
        while not marked(begun["jobId"]):
            await asyncio.sleep(0.02)
        waiting = asyncio.create_task(call("exec", sessionId=session["id"], code="sleep 60"))
        while not marked(f"job-{session['id']}-2"):
            await asyncio.sleep(0.02)
    waiting.cancel()
    while marked(begun["jobId"]) or marked(f"job-{session['id']}-2"):
        await asyncio.sleep(0.02)


@pytest.mark.more
def test_nothing_but_the_protocol_goes_to_stdout(home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("noSuchSetting: 1\n")
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        [str(OLLM), "mcp"], input=json.dumps(hello) + "\n", capture_output=True, text=True
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in lines] == [1]
    assert lines[0]["result"]["serverInfo"]["name"] == "ollm"
    assert done.returncode == 0


@pytest.mark.more
async def test_new_output_is_read_from_the_offset_of_the_last_answer(tmp_path: Path) -> None:
    async with agent(tmp_path) as call:
        at = {"sessionId": (await call("startSession"))["id"]}
        code = (
            "echo one; echo bad >&2; until [ -e go ]; do sleep 0.05; done; echo zwei ü; echo x >&2"
        )
        begun = await call("exec", **at, code=code, background=True)
        job = {**at, "jobId": begun["jobId"]}
        first = await call("getJobOutput", **job)
        while first["offset"] < 8:
            first = await call("getJobOutput", **job)
        assert (first["stdout"], first["stderr"]) == ("one\n", "bad\n")
        assert first["offsets"] == {"stdout": 4, "stderr": 4}
        assert (await call("getJobOutput", **job, since=first["offset"]))["stdout"] == ""
        (tmp_path / "go").touch()
        await call("waitJob", **job, timeout=60_000)
        by_number = await call("getJobOutput", **job, since=first["offset"])
        by_stream = await call("getJobOutput", **job, since=first["offsets"])
        assert (by_number["stdout"], by_number["stderr"]) == ("zwei ü\n", "x\n")
        assert by_stream == by_number
        assert by_number["truncated"] == {"stdout": False, "stderr": False}


@pytest.mark.more
async def test_a_job_in_no_session_leaves_none(tmp_path: Path) -> None:
    async with agent(tmp_path) as call:
        ran = await call("exec", code="print(cmd('pwd').stdout)", language="python")
        assert (ran["stdout"], ran["code"], ran["success"]) == (f"{tmp_path}\n\n", 0, True)
        assert await call("listSessions") == []
        assert "needs a session" in await call.error("exec", code="true", background=True)


@pytest.mark.more
async def test_time_limits_are_milliseconds(tmp_path: Path) -> None:
    async with agent(tmp_path) as call:
        at = {"sessionId": (await call("startSession"))["id"]}
        ran = await call("exec", **at, code="sleep 60", timeout=200)
        assert (ran["status"], ran["note"]) == ("timeout", "it took longer than 0.2 seconds")
        begun = await call("exec", **at, code="sleep 60", background=True)
        waited = await call("waitJob", **at, jobId=begun["jobId"], timeout=50)
        assert (waited["status"], waited["code"], waited["success"]) == ("running", None, False)


@pytest.mark.more
async def test_jobs_are_listed_newest_first_in_the_shape_of_a_job(tmp_path: Path) -> None:
    async with agent(tmp_path) as call:
        at = {"sessionId": (await call("startSession"))["id"]}
        await call("exec", **at, code="echo one")
        await call("exec", **at, code="false", env={"A": "1"})
        listed = await call("listJobs", **at)
        assert [job["code"] for job in listed] == ["false", "echo one"]
        wanted = """id code pid status exitCode stdout stderr stdoutTruncated stderrTruncated
        startedAt completedAt duration background""".split()
        assert set(wanted) <= set(listed[0])
        assert (listed[1]["stdout"], listed[1]["status"]) == ("one\n", "completed")
        assert len(await call("listJobs", **at, filter={"limit": 1})) == 1
        assert await call("listJobs", **at, filter={"background": True}) == []


@pytest.mark.more
async def test_every_answer_tells_what_is_missing_and_how_much_there_was(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with agent(tmp_path) as call:
        at = {"sessionId": (await call("startSession"))["id"]}
        ran = await call("exec", **at, code="head -c 3000000 /dev/zero | tr '\\0' x; echo bad >&2")
        job = {**at, "jobId": ran["jobId"]}
        later = await call("waitJob", **job)
        output = await call("getJobOutput", **job)
        (listed,) = await call("listJobs", **at)
        for answer in (ran, later, output, listed):
            assert answer["truncated"] == {"stdout": True, "stderr": False}
            assert answer["bytes"] == {"stdout": 3_000_000, "stderr": 4}
            assert answer["stderr"] == "bad\n"
        assert (listed["stdoutTruncated"], listed["stderrTruncated"]) == (True, False)
        short = await call("exec", **at, code="seq 2000")
        (listed, _) = await call("listJobs", **at)
    assert short["truncated"] == {"stdout": False, "stderr": False}
    assert listed["truncated"]["stdout"] and listed["stdout"].endswith("1999\n2000\n")
    assert not listed["stdoutTruncated"], "the rest can still be read"
    cut = f"{ran['jobId']}: the last 1048576 of 3000000 bytes of stdout are kept"
    assert [each.message for each in caplog.records if "are kept" in each.message] == [cut]


@some(
    2,
    ("tool", "arguments", "words"),
    [
        ("exec", {"sessionId": "nobody", "code": "true"}, "no session 'nobody' (start"),
        ("exec", {}, "exec: Object missing required field `code`"),
        ("exec", {"code": "true", "surprise": 1}, "surprise"),
        ("exec", {"code": 1}, "Expected `str`"),
        ("startSession", {"cwd": "no-such"}, "no directory"),
        ("updateSession", {"sessionId": "nobody"}, "no session"),
        ("endSession", {"sessionId": "nobody"}, "no session"),
        ("listJobs", {"sessionId": "nobody"}, "no session"),
        ("getJobOutput", {"sessionId": "a", "jobId": "job-a-1"}, "no job 'job-a-1'"),
        ("killJob", {"sessionId": "a", "jobId": "job-a-1"}, "no job"),
        ("waitJob", {"sessionId": "a", "jobId": "job-a-1", "timeout": -1}, "Expected `float`"),
        ("noSuchTool", {}, "no tool 'noSuchTool' (available: startSession"),
    ],
)
async def test_what_cannot_be_done_is_said_in_one_line(
    tmp_path: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async with agent(tmp_path) as call:
        assert words in await call.error(tool, **arguments)


async def test_a_job_of_another_session_is_not_touched(tmp_path: Path) -> None:
    async with agent(tmp_path) as call:
        first, second = [(await call("startSession"))["id"] for _ in range(2)]
        begun = await call("exec", sessionId=first, code="sleep 60", background=True)
        said = await call.error("killJob", sessionId=second, jobId=begun["jobId"])
        assert "is not a job of that session" in said
        said = await call.error("killJob", sessionId=first, jobId=begun["jobId"], signal="SIGFOO")
        assert "there is no signal 'SIGFOO' (name one" in said
        stopped = await call("killJob", sessionId=first, jobId=begun["jobId"], signal="SIGSTOP")
        assert stopped["status"] == "running"
        killed = await call("killJob", sessionId=first, jobId=begun["jobId"], signal=9)
        assert killed["exitCode"] == 137


async def test_secrets_stay_out_of_every_answer(tmp_path: Path) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    async with agent(tmp_path) as call:
        session = (await call("startSession"))["sessionId"]
        code = f"printf {token[:9]}; sleep 0.5; echo {token[9:]}; # {token}"
        job = (await call("exec", sessionId=session, code=code, background=True))["jobId"]
        asked = {"sessionId": session, "jobId": job}
        answers = [await call("getJobOutput", **asked)]
        while answers[-1]["status"] == "running":
            await asyncio.sleep(0.1)
            since = answers[-1]["offset"]
            answers.append(await call("getJobOutput", **asked, since=since))
        answers += [await call("listJobs", sessionId=session), await call("waitJob", **asked)]
        answers.append(await call("exec", code=f"echo {token}"))
    listed = answers[-3].pop()
    assert "[REDACTED:github:" in listed.pop("code")
    said = json.dumps([*answers, listed])
    assert token[9:] not in said and f'"{token[:9]}' not in said
    assert said.count("[REDACTED:github:") == 4


@pytest.mark.more
async def test_code_without_a_session_takes_the_place_of_none(tmp_path: Path) -> None:
    async with agent(tmp_path) as call:
        sessions = [await call("startSession", vars={"word": n}) for n in range(10)]
        assert (await call("exec", code="echo here"))["stdout"] == "here\n"
        left = await call("listSessions")
        assert {each["id"] for each in left} == {each["id"] for each in sessions}
        ran = await call("exec", sessionId=sessions[0]["id"], code="echo $word")
        assert ran["stdout"] == "0\n"


@pytest.mark.more
async def test_a_variable_that_no_process_can_have_is_refused_in_words(tmp_path: Path) -> None:
    async with agent(tmp_path) as call:
        told = await call.error("exec", code="true", env={"A": "b\0c"})
        assert told.startswith("the value of A has a NUL in it")
        assert "cannot be the name" in await call.error("startSession", env={"A=B": "c"})
        failed = await call("exec", language="python", code="print(cmd('true', ['a\\0b']).stderr)")
        assert "null byte" in failed["stdout"]


@pytest.mark.more
async def test_one_number_beyond_the_end_of_a_stream_skips_nothing_of_it(tmp_path: Path) -> None:
    async with agent(tmp_path) as call:
        at = {"sessionId": (await call("startSession"))["id"]}
        code = "echo 123456789; until [ -e go ]; do sleep 0.02; done; echo late >&2"
        job = {"jobId": (await call("exec", **at, code=code, background=True))["jobId"]}
        while not (await call("getJobOutput", **at, **job))["stdout"]:
            await asyncio.sleep(0.02)
        read = await call("getJobOutput", **at, **job, since=7)
        assert read["stdout"] == "89\n" and read["offsets"] == {"stdout": 10, "stderr": 0}
        (tmp_path / "go").touch()
        await call("waitJob", **at, **job)
        assert (await call("getJobOutput", **at, **job, since=10))["stderr"] == "late\n"


@pytest.mark.more
async def test_signals_are_taken_by_any_of_their_names(home: Path) -> None:
    async with agent_of_command("--no-sandbox") as call:
        at = {"sessionId": (await call("startSession"))["id"]}
        for signal in ("TERM", "15", 15, "SIGUSR1"):
            begun = await call("exec", **at, code="exec sleep 600", background=True)
            job = {**at, "jobId": begun["jobId"]}
            await call("killJob", **job, signal=signal)
            ended = await call("waitJob", **job, timeout=60_000)
            assert (signal, ended["status"] != "running") == (signal, True)


@pytest.mark.more
async def test_a_session_that_made_room_says_so(home: Path) -> None:
    async with agent_of_command() as call:
        first = (await call("startSession"))["id"]
        opened = first
        while first in {each["id"] for each in await call("listSessions")}:
            opened = (await call("startSession"))["id"]
        assert opened != first
        assert "was closed to make room" in await call.error("listJobs", sessionId=first)
