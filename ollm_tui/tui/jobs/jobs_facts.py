"""What the jobs panel says about one job."""

from __future__ import annotations

from textual.content import Content

from ollm_tui.core.intake import clean, visible
from ollm_tui.core.job import Job
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.jobs.job_text import ending
from ollm_tui.tui.stream.entries.job_entries import output_and_ending
from ollm_tui.tui.stream.entries.message_entries import local_time

LONGEST_CODE = 400


def about(job: Job) -> Content:
    """The command itself, and below it how it does and where it runs."""
    code = clean(job.code).strip()
    facts = [
        f"job {job.sequence}",
        "running" if job.running else ending(job),
        "in the background" if job.background else "",
        f"since {local_time(job.started_at)}" if job.running else local_time(job.started_at),
        f"in {visible(job.cwd)}",
        f"process {job.pid}" if job.running else "",
        "its output was dropped to save memory" if job.trimmed else "",
    ]
    return Content.assemble(
        (code if len(code) <= LONGEST_CODE else f"{code[:LONGEST_CODE]} …", "bold"),
        "\n",
        (" · ".join(fact for fact in facts if fact), "$text-muted"),
    )


def earlier_output(state: SessionState, job_id: str) -> str:
    """What a job of an earlier time printed, as far as the session has it recorded."""
    found = (call for call in reversed(state.tool_calls) if call.id == job_id)
    call = next(found, None)
    return output_and_ending(call)[0] if call else ""
