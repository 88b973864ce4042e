"""Commands after a ! in the plain chat: run in the session's shell, and printed when they end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ollm_tui.core.errors import UsageError
from ollm_tui.core.job import Job
from ollm_tui.engine.jobs.job_text import ending

if TYPE_CHECKING:
    from ollm_tui.plain.desk import Desk


async def run_in_shell(desk: Desk, code: str) -> None:
    """Run a command and print what it printed; Ctrl+C ends it. UsageError without one."""
    if not code:
        raise UsageError("no command after !", "for example !ls")
    jobs = desk.around.open_jobs()
    started: list[Job] = []
    stopping: set[asyncio.Task[object]] = set()

    def stop() -> None:
        for job in started:
            # The second time by force: the first may be ignored.
            signal = "SIGKILL" if stopping else "SIGTERM"
            stopping.add(asyncio.ensure_future(jobs.kill(job.id, signal)))

    with desk.stopped_by_ctrl_c(stop):
        job = await jobs.start(desk.conversation, code)
        started.append(job)
        ended = await jobs.wait(job.id)
    await asyncio.gather(*stopping, return_exceptions=True)
    desk.say(await jobs.text(job.id))
    if ended.exit_code != 0:
        desk.say(f"[{ending(ended)}]")
