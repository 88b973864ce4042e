"""Real conversations on a scripted model, in memory, so that a hundred of them take seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ollm_tui.core.session.message import Message, Text, ToolCallPart, ToolResultPart
from ollm_tui.core.session.session import Session, new_session_id
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.providers.scripted import MODEL, Script, Scripted
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.store_layout import StoreLayout

AT = "2026-03-01T10:00:00.000Z"
SYSTEM_PROMPT = "You are a gardener."
WORDS = "raised beds warm early drain well fill compost sand water morning mulch June".split()

R = TypeVar("R")
History = list[tuple[int, int, int, int]]
"""Turns: words of the question, of the answer, tools, and words of what each says."""


class Conversations:
    """Opens conversations; the vocabulary is loaded once for all of them."""

    def __init__(self, home: Path) -> None:
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        self._recording = Recording(library.store, library.index)
        self._counters = TokenCounters(None)
        self._runner = asyncio.Runner()
        self._made = 0

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Run something with a conversation in it to its end."""
        return self._runner.run(work)

    def close(self) -> None:
        self._runner.run(self._recording.close())
        self._runner.close()

    def open(
        self,
        script: Script,
        messages: Sequence[Message] = (),
        *,
        window: int = 8192,
        tools: bool = False,
        settings: Settings | None = None,
    ) -> tuple[Conversation, Scripted]:
        """A conversation in which something was said, and the server of its model."""
        self._made += 1  # a name of its own: nothing is learnt from the one before
        server = Scripted(script, name=f"s{self._made}", window=window)
        session = Session(
            session_id=new_session_id(),
            start_time=AT,
            last_activity=AT,
            model=MODEL,
            provider=server.name,
            system_prompt=SYSTEM_PROMPT,
            messages=tuple(messages),
        )
        conversation = Conversation(
            self._recording.create(session, ephemeral=True),
            ModelChoice(server, MODEL, window, counting=True, tools=tools),
            self._recording.topic,
            begun=True,
            counters=self._counters,
            settings=settings,
        )
        return conversation, server


def words(number: int, turn: int) -> str:
    """So many words, other ones in each turn."""
    return f"{turn}: " + " ".join(WORDS[(turn + place) % len(WORDS)] for place in range(number))


def messages_of(history: History) -> list[Message]:
    """Turns of a question, calls of tools with their results, and an answer."""
    said: list[Message] = []

    def say(role: Any, *parts: Any) -> None:
        parent = said[-1].id if said else None
        said.append(Message(f"m{len(said)}", role, parts, AT, parent_id=parent))

    for turn, (asked, answered, calls, output) in enumerate(history):
        say("user", Text(words(asked, turn)))
        ids = [f"call_{turn}_{number}" for number in range(calls)]
        if ids:
            say("assistant", *(ToolCallPart(key, "look", {"at": "bed"}) for key in ids))
            say("tool", *(ToolResultPart(key, "look", words(output, turn)) for key in ids))
        say("assistant", Text(words(answered, turn)))
    return said
