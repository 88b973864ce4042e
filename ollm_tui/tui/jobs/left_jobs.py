"""Jobs that ran when the program ended, told when their session is opened again."""

from __future__ import annotations

from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.jobs.shell_line import name_of
from ollm_tui.tui.stream.transcript.entry import Entry


async def tell_left_jobs(chat: ChatPort) -> None:
    """Add a line to the stream for each of them, as long as their conversation is shown.

    The jobs themselves are recorded where they ran.
    """
    # This is called a while after the session was opened: another one may be shown by now.
    if chat.front() is not chat:
        return
    jobs = chat.app.jobs
    for job in await jobs.settle(chat.conversation):
        name = name_of(jobs.shown(job))
        whose = f"The model's {name}" if job.by_model else f"!{name}"
        how = job.note.partition("; ")[2] or "it was killed"
        text = f"{whose} was still running at exit: {how}"
        if chat.front() is chat:
            chat.transcript.add(Entry(f"left-{job.id}", "note", text))
