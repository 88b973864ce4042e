"""Commands that ran when the program ended, told when their session is opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_tui.tui.jobs.shell_line import name_of
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.tui.chat.screen import ChatScreen


async def tell(chat: ChatScreen, conversation: Conversation) -> None:
    """One line in the stream for each; they are recorded at their place."""
    if chat.app.conversation is not conversation:
        return
    jobs = chat.app.jobs
    for job in await jobs.settle(conversation):
        name = name_of(jobs.shown(job))
        whose = f"the model's {name}" if job.by_model else f"!{name}"
        how = job.note.partition("; ")[2] or "it ended with it"
        text = f"{whose} was running when the program ended: {how}"
        if chat.app.conversation is conversation:
            chat.transcript.add(Entry(f"left-{job.id}", "note", text))
