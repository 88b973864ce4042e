"""Offers to switch to a model server that answers only after another model was chosen."""

from __future__ import annotations

import asyncio
from itertools import chain, repeat
from typing import TYPE_CHECKING

from ollm_tui.tui.chat.trust import bar_of
from ollm_tui.tui.chat.trust_question import Question
from ollm_tui.tui.models.commands import provider as use_provider

if TYPE_CHECKING:
    from ollm_tui.core.provider import Missed
    from ollm_tui.tui.chat.port import ChatPort

LOOKED_AFTER_SECONDS = (2, 5, 10, 20, 40)
"""How long to wait before each look at the server; from then on `LATER_SECONDS`."""
LATER_SECONDS = 60
OFFER = "late-server"
"""The subject of the question."""


def watch(chat: ChatPort, missed: Missed) -> None:
    """Look for a server that was missed now and then; the user is asked when it answers."""
    looking = _look(chat, missed, chat.conversation.choice.provider.name)
    chat.screen.run_worker(looking, group="late-server", exclusive=True)


async def _look(chat: ChatPort, missed: Missed, instead: str) -> None:
    for seconds in chain(LOOKED_AFTER_SECONDS, repeat(LATER_SECONDS)):
        await asyncio.sleep(seconds)
        front = chat.front()
        if front.opened is None or front.opened.choice.provider.name != instead:
            return  # the user has chosen another one meanwhile
        if model := await chat.app.workspace.models.came_back(missed.provider):
            (await bar_of(front)).ask(_question(front, missed, model))
            return


def _question(chat: ChatPort, missed: Missed, model: str) -> Question:
    async def give(answer: str) -> str:
        if answer == "no":
            return f"Staying with {chat.conversation.choice.model}"
        use_provider(chat.front(), missed.provider)
        return f"Switching to {model} …"

    words = f"{missed.provider.capitalize()} is available now. Switch to {model}?"
    return Question(OFFER, words, {"y": "yes", "n": "no"}, "", give)
