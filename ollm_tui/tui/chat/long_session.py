"""A session that has become long: asks whether to go on in a new one that is linked to it."""

from __future__ import annotations

from ollm_tui.core.counts import counted
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.chat.trust import bar_of
from ollm_tui.tui.chat.trust_question import LENGTH, Question
from ollm_tui.tui.chat.words import LATER, LINKED, STAYS_HERE

_YES = "yes"


async def ask_to_go_on(chat: ChatPort) -> None:
    """Ask above the prompt; what is typed meanwhile goes on here."""

    async def give(answer: str) -> str:
        if answer != _YES:
            return STAYS_HERE
        await _go_on(chat)
        return LINKED

    items = counted(len(chat.conversation.state), "item")
    words = f"This session has {items} (retention.maxItems). Continue in a new, linked session?"
    question = Question(LENGTH, words, {"y": _YES, "n": LATER}, "", give, later=STAYS_HERE)
    (await bar_of(chat)).ask(question)


async def _go_on(chat: ChatPort) -> None:
    """Open the new session; what was being written is written there."""
    workspace, draft = chat.app.workspace, chat.prompt.draft
    session_id = await workspace.go_on(chat.conversation)
    linked = await chat.switch(lambda: workspace.resume(session_id))
    linked.prompt.restore(draft)
