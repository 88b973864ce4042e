"""The tool jobs, which lists jobs, reads their output, waits for them and ends them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import JobError, ToolError
from ollm_tui.core.job import Job, StreamPart
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.jobs.safe_text import LEAD_BYTES, safe_part
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.tools.call_arguments import Arguments, Planned, one_line, spec_of, understood
from ollm_tui.tools.job_printing import ending

WAIT_SECONDS = 30.0
"""How long to wait for a job if the model does not say."""
LISTED = 20
"""How many jobs are listed at most, the latest first."""
CODE_CHARACTERS = 80


class _Arguments(Arguments, frozen=True):
    action: Literal["list", "output", "wait", "kill"]
    job: Annotated[str, Meta(description="its number")] = ""
    since: Annotated[str, Meta(description="as answered before")] = "0"
    seconds: Annotated[float, Meta(description="longest wait")] = WAIT_SECONDS


class JobsTool:
    """Shows and ends the jobs of one session."""

    spec = spec_of("jobs", "See and end background jobs.", _Arguments)

    def __init__(
        self,
        jobs: JobRegistry,
        session_id: str,
        timeout_seconds: float,
        redactor: Redactor | None = None,
    ) -> None:
        self._jobs = jobs
        self._session_id = session_id
        self._timeout_seconds = timeout_seconds
        # Output is read in parts, and a secret may lie across the border of two: only here, where
        # a part is read together with what came before it, can it be found.
        self._redactor = redactor or Redactor()

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Find the job that is meant. ToolError if there is none."""
        arguments = understood(self.spec.name, _Arguments, args)
        if arguments.action == "list":
            return Planned(Action(effect="none", title="list jobs", subject=""), self._list)
        job = self._find(arguments.job)
        since = _offsets(arguments.since)

        async def work(_tell: Tell) -> ToolOutcome:
            try:
                if arguments.action == "wait":
                    await self._jobs.wait(job.id, min(arguments.seconds, self._timeout_seconds))
                elif arguments.action == "kill":
                    await self._jobs.kill(job.id)
            except JobError as error:
                raise ToolError(error.message, error.hint) from error
            return self._printed(job.id, *since, changed=arguments.action == "kill")

        subject = f"job {job.sequence}: {job.code}"
        if arguments.action == "kill":
            return Planned(Action(effect="run", title="end", subject=subject), work)
        return Planned(Action(effect="none", title="read", subject=subject), work)

    async def _list(self, _tell: Tell) -> ToolOutcome:
        jobs = self._all()
        lines = [_line(job) for job in jobs[:LISTED]]
        if len(jobs) > LISTED:
            lines.append(f"[{len(jobs) - LISTED:,} older ones]")
        text = "\n".join(lines) or "[there are no jobs; exec with background starts one]"
        return ToolOutcome(text=text, changed=False, summary=counted(len(jobs), "job"))

    def _all(self) -> list[Job]:
        try:
            return self._jobs.list_jobs(self._session_id)
        except JobError:
            return []  # no shell was needed so far

    def _find(self, name: str) -> Job:
        if not name:
            raise ToolError("jobs needs job: its number, as action list shows it")
        number = name.lower().removeprefix("job").strip(" #")
        for job in self._all():
            if name == job.id or number == str(job.sequence):
                return job
        raise ToolError(f"there is no job {one_line(name)!r}; jobs with action list shows all")

    def _printed(self, job_id: str, out: int, err: int, *, changed: bool) -> ToolOutcome:
        # Read from a bit earlier, so that a secret which begins there is recognised as a whole.
        output = self._jobs.job_output(job_id, max(out - LEAD_BYTES, 0), max(err - LEAD_BYTES, 0))
        job = output.job
        ended = not job.running
        stdout = safe_part(output.stdout, self._redactor, out, ended=ended)
        stderr = safe_part(output.stderr, self._redactor, err, ended=ended)
        texts = [_lost(output.stdout, out) + stdout.text]
        if stderr.text:
            texts.append(f"[stderr]\n{_lost(output.stderr, err)}{stderr.text}")
        state = ending(job) if ended else "running"
        texts.append(f"[job {job.sequence}: {state}; since={stdout.end}+{stderr.end}]")
        text = "\n".join(text.rstrip("\n") for text in texts if text)
        return ToolOutcome(text=text, changed=changed, summary=state.split(" · ", 1)[0])


def _lost(part: StreamPart, asked: int) -> str:
    lost = part.start - asked
    return f"[{lost:,} bytes before this are no longer kept]\n" if lost > 0 else ""


def _offsets(since: str) -> tuple[int, int]:
    """Return the offsets in stdout and stderr; a single number is the one in stdout."""
    try:
        out, _, err = since.partition("+")
        return max(int(out or 0), 0), max(int(err or 0), 0)
    except ValueError as error:
        raise ToolError("jobs: since must be as it was answered before, like 120+0") from error


def _line(job: Job) -> str:
    state = "running" if job.running else ending(job)
    code = one_line(job.code)
    code = code if len(code) <= CODE_CHARACTERS else f"{code[:CODE_CHARACTERS]}…"
    return f"{job.sequence}: {code} [{state}]"
