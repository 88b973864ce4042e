"""Commands for pictures: all over already, so that no time in them moves."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from textual.pilot import Pilot

from ollm_tui.core.job import Job, JobStatus
from ollm_tui.core.session.session import Session, ToolCall, ToolResult
from ollm_tui.engine.jobs.job_text import ending
from ollm_tui.engine.jobs.session_jobs import TOOL, SessionJobs
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.records import JobRecord, JobRecords, this_program
from ollm_tui.tui.jobs.screen import JobsScreen
from tests.snapshots.samples import PROJECT, all_sessions, id_of
from tests.snapshots.stage import StagedApp, scene, stage, until
from tests.tui.seen import stream

TESTED = "\n".join(
    [
        *(f"tests/test_uploader.py::test_case_{number} PASSED" for number in range(1, 40)),
        "tests/test_uploader.py::test_full_jitter FAILED",
        "",
        "    assert delay(5) <= 16",
        "E   AssertionError: assert 31.4 <= 16",
        "1 failed, 39 passed in 3.81s",
    ]
)
STATUS = "On branch main\nnothing to commit, working tree clean"
RUNS: tuple[tuple[str, JobStatus, int, int, str], ...] = (
    ("git status", "completed", 0, 31, STATUS),
    ("cd src && make", "completed", 0, 12_400, ""),
    ("python -m http.server 8000", "killed", 143, 754_000, ""),
    ("pytest -q tests/test_uploader.py", "failed", 1, 4_200, TESTED),
)


def _with_records(home: Path, theme: str) -> StagedApp:
    folder = home / "jobs"
    records = JobRecords(folder)
    for number in range(len(RUNS)):
        mark = this_program()
        records.write(JobRecord(job=_job(number), process=mark, supervisor=mark, owner=mark))
    withheld: dict[str, str] = dict.fromkeys(
        ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NODE_OPTIONS"), ""
    )
    jobs = SessionJobs(JobRegistry({}, folder), Path(PROJECT), withheld)
    return stage(home, theme, [_session()], resume=id_of(0), jobs=jobs)


@scene(_with_records)
async def commands(app: StagedApp, pilot: Pilot[int]) -> None:
    """What the user's own commands leave in the stream."""
    await until(pilot, lambda: bool(stream(app)))


@scene(_with_records)
async def panel(app: StagedApp, pilot: Pilot[int]) -> None:
    """The jobs of an earlier time, with what the session has recorded of them."""
    await until(pilot, lambda: bool(stream(app)))
    await pilot.press("f8")
    await until(pilot, lambda: isinstance(app.screen, JobsScreen))


def _session() -> Session:
    session = all_sessions()[0]
    last = max(message.timestamp for message in session.messages)
    calls = (_call(number, last) for number in range(len(RUNS)))
    return replace(session, tool_calls=tuple(calls))


def _call(number: int, at: str) -> ToolCall:
    job, text = _job(number), RUNS[number][-1]
    result = ToolResult(f"{text}\n[{ending(job)}]".lstrip("\n"))
    return ToolCall(job.id, TOOL, {"code": job.code, "language": "shell"}, result, at)


def _job(number: int) -> Job:
    code, status, exit_code, duration, _ = RUNS[number]
    return Job(
        id=f"job-{id_of(0)}-{number + 1}",
        session_id=id_of(0),
        sequence=number + 1,
        code=code,
        language="shell",
        cwd=PROJECT,
        background=status == "killed",
        started_at=f"2025-10-14T14:0{number}:00.000000Z",
        pid=4242,
        status=status,
        exit_code=exit_code,
        duration=duration,
    )
