"""What has to go first, over random histories, by rule and with real jobs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_tui.core.errors import JobError
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.output_tail import Kept, Limits, ShellUsage, to_close, to_trim
from tests.services.jobs.conftest import ENVIRONMENT, SESSION

LIMITS = Limits(session_bytes=1000, young_seconds=300.0, shells=4)
ended_jobs = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 1000)).map(tuple[int, int]), max_size=30
)


@given(ended_jobs, st.integers(0, 3000))
def test_the_oldest_output_goes_first_and_no_more_than_needed(
    sizes: list[tuple[int, int]], running: int
) -> None:
    now = 1000.0
    kept = [Kept(f"job-{n}", size, float(at)) for n, (size, at) in enumerate(sizes)]
    used = running + sum(job.size for job in kept)
    gone = to_trim(kept, used, now, LIMITS)
    may_go = [job for job in kept if job.size and now - job.ended >= LIMITS.young_seconds]
    assert gone == [job.job_id for job in may_go[: len(gone)]]
    left = used - sum(job.size for job in may_go[: len(gone)])
    assert left <= LIMITS.session_bytes or len(gone) == len(may_go)
    if gone:
        assert left + may_go[len(gone) - 1].size > LIMITS.session_bytes


@given(st.lists(st.booleans(), max_size=8))
def test_the_least_recently_used_idle_shells_make_room(busy: list[bool]) -> None:
    shells = [ShellUsage(f"s{at}", at, is_busy) for at, is_busy in enumerate(busy)]
    idle = [shell.session_id for shell in shells if not shell.busy]
    closed = to_close(reversed(shells), LIMITS)
    over = max(0, len(shells) + 1 - LIMITS.shells)
    assert closed == idle[:over]


actions = st.lists(
    st.one_of(
        st.tuples(st.just("run"), st.integers(0, 5), st.integers(0, 3000)),
        st.tuples(st.just("background"), st.integers(0, 5), st.integers(0, 3000)),
        st.tuples(st.just("end"), st.integers(0, 5), st.just(0)),
    ),
    max_size=12,
)


@settings(max_examples=12)
@given(actions)
def test_random_histories_of_real_jobs_keep_every_limit(
    history: list[tuple[str, int, int]],
) -> None:
    asyncio.run(_live(history))


async def _live(history: list[tuple[str, int, int]]) -> None:
    limits = Limits(stream_bytes=1000, session_bytes=4000, young_seconds=0.0, shells=3)
    jobs = JobRegistry(ENVIRONMENT, limits=limits)
    opened: list[str] = []
    numbers: dict[str, int] = {}
    for action, which, size in history:
        session = f"s{which}"
        alive = [view.id for view in jobs.shells()]
        assert len(alive) <= limits.shells
        if action == "end":
            for job in jobs.list_jobs(session, "running") if session in alive else []:
                assert (await jobs.kill(job.id, "SIGKILL")).status == "killed"
            continue
        busy = {view.id for view in jobs.shells() if view.running_jobs}
        try:
            await jobs.open_shell(session, Path("/"))
        except JobError:
            assert len(busy) == limits.shells
            continue
        assert busy <= {view.id for view in jobs.shells()}, "a shell with running jobs never goes"
        if session not in alive:
            numbers[session] = 0
        opened = [each for each in opened if each != session] + [session]
        numbers[session] += 1
        code = f"head -c {size} /dev/zero"
        job = await jobs.exec(
            session, code + "; sleep 60" * (action == "background"), background=action != "run"
        )
        assert job.id == f"job-{session}-{numbers[session]}"
        if action == "run":
            output = jobs.job_output(job.id)
            assert job.stdout_bytes == size == output.stdout.end
            assert len(output.stdout.data) in (min(size, limits.stream_bytes), 0)
        listed = jobs.list_jobs(session)
        assert [each.sequence for each in listed] == sorted(
            (each.sequence for each in listed), reverse=True
        )
        ended = [each for each in listed if not each.running]
        kept = [len(jobs.job_output(each.id).stdout.data) for each in ended if not each.trimmed]
        assert sum(kept) <= limits.session_bytes
        ended.sort(key=lambda each: each.completed_at or "", reverse=True)
        trimmed = [each.trimmed for each in ended]
        assert trimmed == sorted(trimmed), "what ended first is trimmed first"
        assert jobs.shells()[0].id == opened[-1]
    await jobs.close()


async def test_an_eleventh_shell_closes_the_least_recently_used_one(jobs: JobRegistry) -> None:
    for number in range(9):
        await jobs.open_shell(f"other-{number}", Path("/"))
    await jobs.exec(SESSION, "true")
    await jobs.open_shell("eleventh", Path("/"))
    ids = [view.id for view in jobs.shells()]
    assert len(ids) == 10
    assert "other-0" not in ids
    assert {SESSION, "eleventh"} <= set(ids)


async def test_a_session_that_made_room_says_so_until_it_is_opened_again(jobs: JobRegistry) -> None:
    job = await jobs.exec(SESSION, "true")
    for number in range(10):
        await jobs.open_shell(f"other-{number}", Path("/"))
    words = f"session {SESSION} was closed to make room"
    for asking in (lambda: jobs.list_jobs(SESSION), lambda: jobs.job_output(job.id)):
        with pytest.raises(JobError, match=words):
            asking()
    with pytest.raises(JobError, match=words):
        await jobs.exec(SESSION, "true")
    await jobs.open_shell(SESSION, Path("/"))
    assert jobs.job(job.id).status == "completed"


async def test_young_output_stays_however_much_it_is(tmp_path: Path) -> None:
    jobs = JobRegistry(ENVIRONMENT, limits=Limits(session_bytes=10))
    await jobs.open_shell(SESSION, tmp_path)
    first = await jobs.exec(SESSION, "echo first")
    await jobs.exec(SESSION, "echo second")
    assert jobs.job_output(first.id).stdout.data == b"first\n"
    await jobs.close()


async def test_old_output_is_dropped_and_the_job_says_so(tmp_path: Path) -> None:
    jobs = JobRegistry(ENVIRONMENT, limits=Limits(session_bytes=1000, young_seconds=0.0))
    await jobs.open_shell(SESSION, tmp_path)
    first = await jobs.exec(SESSION, "head -c 900 /dev/zero")
    await jobs.exec(SESSION, "head -c 900 /dev/zero")
    output = jobs.job_output(first.id)
    assert (output.stdout.data, output.stdout.start) == (b"", 900)
    assert output.job.trimmed
    assert output.job.stdout_truncated
    await jobs.close()


async def test_no_more_jobs_run_at_once_than_allowed(tmp_path: Path) -> None:
    jobs = JobRegistry(ENVIRONMENT, limits=Limits(running_jobs=2))
    await jobs.open_shell(SESSION, tmp_path)
    for _ in range(2):
        await jobs.exec(SESSION, "sleep 60", background=True)
    with pytest.raises(JobError, match="2 jobs are running"):
        await jobs.exec(SESSION, "true")
    await jobs.close()
