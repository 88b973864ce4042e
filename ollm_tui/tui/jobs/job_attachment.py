"""What a job printed, as a chip in the prompt: it goes to the model with the next message."""

from __future__ import annotations

from ollm_tui.core.counts import short_count
from ollm_tui.core.job import Job
from ollm_tui.core.session.message import Attachment
from ollm_tui.engine.jobs.job_text import capped, ending
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.tui.prompt.prompt import Prompt


def give(prompt: Prompt, job: Job, code: str, text: str) -> str:
    """Add a chip behind what is written; says about what it costs."""
    content = f"$ {code}\n{capped(text.strip(chr(10)))}\n[{ending(job)}]\n"
    cost = f"≈{short_count(round(careful_estimate(content)))} tokens"
    written = prompt.written
    name = f"job {job.sequence} {cost}"
    piece = Attachment(name=name, media_type="text/plain", content=content)
    others = tuple(known for known in written.attachments if known.name != name)
    prompt.put(written.text, (*others, piece))
    return cost
