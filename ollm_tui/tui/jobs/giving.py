"""Giving the output of a job to the model: it becomes a chip in the prompt."""

from __future__ import annotations

from ollm_tui.core.counts import short_count
from ollm_tui.core.job import Job
from ollm_tui.core.session.message import Attachment
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.jobs.job_text import capped, ending
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.tui.jobs.words import GIVEN
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.entries.job_entries import output_and_ending


def earlier_output(state: SessionState, job_id: str) -> str:
    """Return what the session has recorded of the output of a job that ran at an earlier time."""
    found = (call for call in reversed(state.tool_calls) if call.id == job_id)
    call = next(found, None)
    return output_and_ending(call)[0] if call else ""


def give(prompt: Prompt, job: Job, code: str, text: str) -> str:
    """Add the output of a job to the prompt as a chip; returns a notice that says what it costs."""
    content = f"$ {code}\n{capped(text.strip(chr(10)))}\n[{ending(job)}]\n"
    cost = f"≈{short_count(round(careful_estimate(content)))} tokens"
    written = prompt.written
    name = f"job {job.sequence} {cost}"
    piece = Attachment(name=name, media_type="text/plain", content=content)
    others = tuple(known for known in written.attachments if known.name != name)
    prompt.put(written.text, (*others, piece))
    return GIVEN.format(cost=cost)
