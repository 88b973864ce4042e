"""Jobs of a conversation: recorded when they are over, read as safe text, granted variables."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ollm_tui.core.errors import JobError
from ollm_tui.core.job import Job
from ollm_tui.core.provider import Completed, TextDelta
from ollm_tui.engine.conversation import Conversation
from ollm_tui.engine.jobs_keeper import TAIL_BYTES, JobsKeeper
from ollm_tui.services.jobs.jobs import Jobs
from tests.engine.conftest import OpenWorkspace

ANSWER = [TextDelta("Yes."), Completed(finish="stop")]


@pytest_asyncio.fixture
async def keeper(home: Path) -> AsyncIterator[JobsKeeper]:
    jobs = Jobs({"PATH": os.environ["PATH"]}, home / "jobs")
    made = JobsKeeper(jobs, Path.cwd(), {"SECRET": "hunter2", "OTHER": "x"}, _redact)
    yield made
    await made.close()


def _redact(text: str) -> str:
    return text.replace("hunter2", "[hidden]")


async def ran(keeper: JobsKeeper, conversation: Conversation, code: str) -> Job:
    """A job that is over, and recorded if it could be."""
    return await keeper.wait((await keeper.start(conversation, code)).id)


async def test_a_job_is_recorded_in_its_session(
    keeper: JobsKeeper, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace([ANSWER])).begin()
    async for _ in conversation.send("hi"):
        pass
    job = await ran(keeper, conversation, "echo hunter2; exit 3")
    await conversation.close()
    (call,) = conversation.state.tool_calls
    assert (call.id, call.name, call.timestamp) == (job.id, "exec", job.started_at)
    assert call.args == {"code": "echo [hidden]; exit 3", "language": "shell"}
    assert call.result.llm_content.startswith("[hidden]\n[exit 3 · ")


async def test_before_the_first_message_records_wait_for_it(
    keeper: JobsKeeper, open_workspace: OpenWorkspace
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
    keeper: JobsKeeper, open_workspace: OpenWorkspace
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
    keeper: JobsKeeper, open_workspace: OpenWorkspace
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
    keeper: JobsKeeper, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    job = await ran(keeper, conversation, "seq 500000")
    tail = keeper.tail(job.id)
    assert tail.endswith("\n500000\n") and len(tail) <= TAIL_BYTES
    text = await keeper.text(job.id)
    assert "bytes before this are no longer kept" in text.splitlines()[0]
    assert text.endswith("\n499999\n500000\n")


async def test_a_granted_variable_is_there_from_the_next_job_on(
    keeper: JobsKeeper, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    mine = conversation.session_id
    before = await ran(keeper, conversation, "echo ${#SECRET}")
    assert keeper.withheld(mine) == ("OTHER", "SECRET")
    keeper.grant(mine, "SECRET")
    after = await ran(keeper, conversation, "echo ${#SECRET}")
    assert [keeper.tail(before.id), keeper.tail(after.id)] == ["0\n", "7\n"]
    assert (keeper.withheld(mine), keeper.granted(mine)) == (("OTHER",), ("SECRET",))
    other = await (await open_workspace()).begin()
    elsewhere = await ran(keeper, other, "echo ${#SECRET}")
    assert keeper.tail(elsewhere.id) == "0\n"


async def test_a_job_is_found_by_its_number_or_its_id(
    keeper: JobsKeeper, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace()).begin()
    job = await ran(keeper, conversation, "true")
    for wanted in ("1", job.id):
        assert keeper.find(conversation.session_id, wanted).id == job.id
    with pytest.raises(JobError, match="no job '2'"):
        keeper.find(conversation.session_id, "2")


async def test_many_short_jobs_at_once_are_all_recorded(
    keeper: JobsKeeper, open_workspace: OpenWorkspace
) -> None:
    conversation = await (await open_workspace([ANSWER])).begin()
    async for _ in conversation.send("hi"):
        pass
    await asyncio.gather(*(ran(keeper, conversation, f"echo {n}") for n in range(20)))
    await conversation.close()
    printed = {call.result.llm_content.split()[0] for call in conversation.state.tool_calls}
    assert printed == {str(n) for n in range(20)}
