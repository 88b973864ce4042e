"""The files of sessions in which something runs: compared before the user's commands, and when
what nobody waits for has ended, so that going back to a snapshot knows of its changes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ollm_tui.core.job import Job, JobEvent, JobFinished, JobMoved, JobOutputArrived

if TYPE_CHECKING:
    from ollm_tui.services.files.file_changes import FileWatch


class JobFiles:
    """Watches files for as long as somebody else keeps the watch of their session."""

    def __init__(self) -> None:
        self._watches: WeakValueDictionary[str, FileWatch] = WeakValueDictionary()
        self._comparing: set[asyncio.Task[object]] = set()

    def add(self, session_id: str, watch: FileWatch) -> None:
        """From now on the jobs of a session are watched."""
        self._watches[session_id] = watch

    async def before(self, session_id: str) -> None:
        """A command of the user's is about to start. Before a tool has changed anything there is
        nothing to go back to, and no reason to let the user wait."""
        watch = self._watches.get(session_id)
        if watch and watch.has_looked:
            await asyncio.to_thread(watch.before)

    def hear(self, event: JobEvent) -> None:
        """Something happened to a job. What a tool waits for is compared by that."""
        if isinstance(event, JobOutputArrived):
            return
        job = event.job
        watch = self._watches.get(job.session_id)
        if watch is None:
            return
        if isinstance(event, JobFinished):
            if watch.ended(job.id):
                task = asyncio.create_task(asyncio.to_thread(watch.settle))
                self._comparing.add(task)
                task.add_done_callback(self._comparing.discard)
        elif isinstance(event, JobMoved) or _is_alone(job):
            watch.begun(job.id)

    async def close(self) -> None:
        """Wait for the last comparison."""
        await asyncio.gather(*self._comparing)


def _is_alone(job: Job) -> bool:
    """Whether no tool waits for a job."""
    return job.parent is None and (job.background or not job.by_model)
