"""Answers from the history: the model gets the best passages, and each can be gone to."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.graft import grafted
from ollm_tui.core.session.message import Attachment, Retrieval
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.engine.project.history_search import Passage
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.chat.chat_points import ChatPoints
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.kit.question import Confirmation
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.search.words import (
    ASK_USAGE,
    ASK_WHAT,
    ASKED,
    NO_MATCHES_ELSEWHERE,
    NO_SOURCES,
    SOURCES_KEYS,
    SOURCES_TITLE,
    TRY_OTHER_WORDS,
    leave_question,
    numbered,
)

MOST_PASSAGES = 10
"""What answers a question is nearly always among these; more only distract a small model."""


async def ask(chat: ChatPort, argument: str) -> None:
    """Have the model answer from the best passages of earlier sessions.

    Where the model is on another machine, the user is asked first. UsageError without words, and
    if nothing is found.
    """
    words = " ".join(argument.split())
    if not words:
        raise UsageError(ASK_WHAT, ASK_USAGE)
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    conversation = chat.conversation
    finder = chat.app.workspace.history.recall
    found = await finder.passages(words, conversation.session_id)
    passages = finder.within_budget(found[:MOST_PASSAGES])
    if not passages:
        raise UsageError(NO_MATCHES_ELSEWHERE, TRY_OTHER_WORDS)

    def send(may: bool | None) -> None:
        if may:
            chat.run(conversation.send(ASKED.format(words=words), _as_sources(passages)))

    host = conversation.choice.remote_host
    if host:
        chat.ask(Confirmation(leave_question(host, len(passages))), send)
    else:
        send(True)


def sources(chat: ChatPort, argument: str) -> None:
    """Go to where a passage that was sent is from: the one of this number, or a chosen one.

    UsageError if there is none.
    """
    branch = chat.conversation.state.branch()
    brought = [
        [part for part in message.parts if isinstance(part, Retrieval) and part.message_id]
        for message in branch
    ]
    last = next((each for each in reversed(brought) if each), None)
    if last is None:
        raise UsageError(NO_SOURCES, ASK_USAGE)

    async def go(number: str | None) -> None:
        if number is not None:
            part = last[int(number)]
            await ChatPoints(chat).open_at(Point(part.session_id, message=part.message_id or ""))

    if argument.strip("[] ").isdecimal() and 0 < int(argument.strip("[] ")) <= len(last):
        number = str(int(argument.strip("[] ")) - 1)
        chat.screen.run_worker(chat.attempt(lambda: go(number)), group="sources")
        return

    def open_chosen(number: str | None) -> None:
        chat.screen.run_worker(chat.attempt(lambda: go(number)), group="sources")

    lines = [
        Choice(str(number), " ".join(visible(part.text).split()))
        for number, part in enumerate(last)
    ]
    chat.ask(Picker(SOURCES_TITLE, lines, keys=SOURCES_KEYS), open_chosen)


def _as_sources(passages: Sequence[Passage]) -> list[Attachment]:
    """Return passages as what is sent along, each with its number."""
    return [
        replace(part, content=numbered(number, title, passage.timestamp, part.content))
        for number, passage in enumerate(passages, 1)
        for title in (" ".join(passage.title.split()) or UNTITLED,)
        for part in grafted((passage.message,), passage.session_id)
    ]
