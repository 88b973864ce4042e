"""Jobs of a conversation: recorded when they are over, read as safe text, granted variables."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job
from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.jobs.session_jobs import TAIL_BYTES, SessionJobs
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.starting import JobRequest
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.sandbox.sandbox import Sandbox
from tests.engine.conftest import OpenWorkspace

VALUE = "open sesame 7"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
MARK = r"\[REDACTED:[a-z]+:[0-9a-f]{4}\]"
ANSWER = [TextDelta("Yes."), Completed(finish="stop")]


@pytest_asyncio.fixture
async def keeper(home: Path) -> AsyncIterator[SessionJobs]:
    jobs = JobRegistry({"PATH": os.environ["PATH"]}, home / "jobs")
    made = SessionJobs(jobs, Path.cwd(), {"SECRET": VALUE, "OTHER": "x"}, Redactor([VALUE]))
    yield made
    await made.close()


async def ran(keeper: SessionJobs, conversation: Conversation, code: str) -> Job:
    """A job that is over, and recorded if it could be."""
    return await keeper.wait((await keeper.start(conversation, code)).id)


async def test_a_job_is_recorded_in_its_session(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace([ANSWER])).begin()
    async for _ in conversation.send("hi"):
        pass
    job = await ran(keeper, conversation, f"echo {VALUE}; exit 3")
    await conversation.close()
    (call,) = conversation.state.tool_calls
    assert (call.id, call.name, call.timestamp) == (job.id, "exec", job.started_at)
    assert call.args["language"] == "shell"
    assert re.fullmatch(f"echo {MARK}; exit 3", str(call.args["code"]))
    assert re.match(rf"{MARK}\n\[exit 3 · ", call.result.llm_content)


async def test_before_the_first_message_records_wait_for_it(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    workspace = await open_workspace([ANSWER])
    conversation = await workspace.begin()
    await ran(keeper, conversation, "echo early")
    assert not await workspace.sessions()
    async for _ in conversation.send("hi"):
        pass
    await conversation.close()
    again, problems = await workspace.resume(conversation.session_id)
    assert [call.args["code"] for call in again.state.tool_calls] == ["echo early"]
    assert not problems
    await again.close()


async def test_a_session_that_is_closed_records_what_still_runs(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace([ANSWER])).begin()
    async for _ in conversation.send("hi"):
        pass
    job = await keeper.start(conversation, "sleep 1000")
    await conversation.close()
    (call,) = conversation.state.tool_calls
    assert call.result.llm_content == "[still running]"
    await keeper.kill(job.id)
    assert len(conversation.state.tool_calls) == 1


async def test_closing_ends_and_records_every_job(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace([ANSWER])).begin()
    async for _ in conversation.send("hi"):
        pass
    started = [await keeper.start(conversation, "sleep 1000", background=True) for _ in range(3)]
    assert len(keeper.running) == 3
    await keeper.close()
    assert {call.id for call in conversation.state.tool_calls} == {job.id for job in started}
    assert not keeper.running
    await conversation.close()


async def test_the_tail_of_a_flood_is_its_end(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    job = await ran(keeper, conversation, "seq 500000")
    tail = keeper.tail(job.id)
    assert tail.endswith("\n500000\n") and len(tail) <= TAIL_BYTES
    text = await keeper.text(job.id)
    assert "bytes before this are no longer kept" in text.splitlines()[0]
    assert text.endswith("\n499999\n500000\n")


async def test_a_granted_variable_is_there_from_the_next_job_on(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    mine = conversation.session_id
    before = await ran(keeper, conversation, "echo ${#SECRET}")
    assert keeper.withheld(mine) == ("OTHER", "SECRET")
    keeper.grant(mine, "SECRET")
    after = await ran(keeper, conversation, "echo ${#SECRET}")
    assert [keeper.tail(before.id), keeper.tail(after.id)] == ["0\n", f"{len(VALUE)}\n"]
    assert (keeper.withheld(mine), keeper.granted(mine)) == (("OTHER",), ("SECRET",))
    other = await (await open_workspace()).begin()
    elsewhere = await ran(keeper, other, "echo ${#SECRET}")
    assert keeper.tail(elsewhere.id) == "0\n"


async def test_a_variable_granted_after_a_job_in_the_sandbox_is_there_for_the_next_one(
    keeper: SessionJobs, open_workspace: OpenWorkspace, tmp_path: Path
) -> None:
    sandbox = await asyncio.to_thread(Sandbox.find, (tmp_path,), network=False)
    if sandbox.confinement is None:
        pytest.skip("nothing on this machine holds commands")
    mine = (await (await open_workspace()).begin()).session_id
    await keeper.open(mine)
    wanted = JobRequest(code="echo ${#SECRET}", confinement=sandbox.confinement)
    seen: list[str] = []
    for _ in range(2):
        job = await keeper.wait((await keeper.service.start(mine, wanted)).id)
        seen.append(keeper.tail(job.id))
        keeper.grant(mine, "SECRET")
    assert seen == ["0\n", f"{len(VALUE)}\n"]


async def test_a_variable_granted_while_a_job_runs_is_there_for_the_next_one(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    running = await keeper.start(conversation, "until [ -e go ]; do sleep 0.05; done")
    keeper.grant(conversation.session_id, "SECRET")
    Path("go").touch()
    await keeper.wait(running.id)
    after = await ran(keeper, conversation, "echo ${#SECRET}")
    assert keeper.tail(after.id) == f"{len(VALUE)}\n"


async def test_a_job_is_found_by_its_number_or_its_id(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    job = await ran(keeper, conversation, "true")
    for wanted in ("1", job.id):
        assert keeper.find(conversation.session_id, wanted).id == job.id
    with pytest.raises(JobError, match="no job '2'"):
        keeper.find(conversation.session_id, "2")


async def test_many_short_jobs_at_once_are_all_recorded(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace([ANSWER])).begin()
    async for _ in conversation.send("hi"):
        pass
    await asyncio.gather(*(ran(keeper, conversation, f"echo {n}") for n in range(20)))
    await conversation.close()
    printed = {call.result.llm_content.split()[0] for call in conversation.state.tool_calls}
    assert printed == {str(n) for n in range(20)}


async def test_a_secret_that_two_prints_share_is_never_shown(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    printed = f"printf {TOKEN[:14]}; sleep 0.2; echo warning >&2; sleep 0.2; echo {TOKEN[14:]}"
    job = await keeper.start(conversation, printed)
    seen: list[str] = []
    keeper.events.subscribe(lambda _event: seen.append(keeper.tail(job.id)))
    await keeper.wait(job.id)
    seen += [keeper.tail(job.id), await keeper.text(job.id)]
    assert not [text for text in seen if TOKEN[:14] in text or TOKEN[14:] in text]
    assert re.fullmatch(rf"warning\n{MARK}\n", seen[-1])


async def test_a_secret_at_the_border_of_the_tail_is_not_shown(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    for more in range(0, len(TOKEN), 5):
        filler = TAIL_BYTES - 1 - more
        printed = f"seq 30000; echo {TOKEN}; head -c {filler} /dev/zero | tr '\\0' x; echo"
        job = await ran(keeper, conversation, printed)
        assert TOKEN[-6:] not in keeper.tail(job.id)


async def test_what_is_shown_of_a_cut_output_begins_with_a_whole_line(
    keeper: SessionJobs, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    line = "x" * 90 + ":" + TOKEN
    job = await ran(keeper, conversation, f"yes {line} | head -c 1400000; sleep 0.3; echo end")
    text = await keeper.text(job.id)
    assert TOKEN[-12:] not in text
    assert text.splitlines()[1].startswith("x" * 90)
