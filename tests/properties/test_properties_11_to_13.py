"""Properties 11 to 13 of the seeds: what compressing keeps, that it makes less, that it counts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.compression_events import ContextCompressed
from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.compression import Compression, Strategy
from ollm_tui.core.session.message import Message, Text, ToolCallPart, ToolResultPart
from ollm_tui.core.session.session import Session, new_session_id
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.providers.scripted import MODEL, Scripted
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.storage.store_layout import StoreLayout

AT = "2026-03-01T10:00:00.000Z"
SUMMARY = "They spoke about beds, soil and water, and agreed on three beds in the shade."
WORDS = "raised beds warm early drain well fill compost sand water morning mulch June".split()

History = list[tuple[int, int, int, int]]
"""Turns: words of the question, of the answer, tools, and words of what each says."""

sizes = st.integers(1, 160)
turns = st.tuples(sizes, sizes, st.integers(0, 3), sizes)
histories = st.lists(turns, min_size=3, max_size=14)
windows = st.sampled_from((1024, 2048, 4096))
strategies: st.SearchStrategy[Strategy] = st.sampled_from(("hybrid", "summarize", "truncate"))


class Done(NamedTuple):
    """A conversation before and after it was asked to be compressed."""

    before: list[dict[str, Any]]
    after: list[dict[str, Any]]
    counts: tuple[int, int]
    recent: int
    """Tokens that stay as they are."""
    costs: dict[str, int]
    was_due: bool
    """Whether there was no room: then no more than the last turn has to stay."""
    compression: Compression | None


def words(number: int, turn: int) -> str:
    return f"{turn}: " + " ".join(WORDS[(turn + place) % len(WORDS)] for place in range(number))


def messages(history: History) -> list[Message]:
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


class Compressing:
    """Real conversations in memory; the vocabulary is loaded once for all of them."""

    def __init__(self, home: Path) -> None:
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        self._recording = Recording(library.store, library.index)
        self._counters = TokenCounters(None)
        self._runner = asyncio.Runner()
        self._made = 0

    def close(self) -> None:
        self._runner.run(self._recording.close())
        self._runner.close()

    def done(self, history: History, window: int, strategy: Strategy) -> Done:
        """A conversation, compressed by hand."""
        return self._runner.run(self._compressed(history, window, strategy))

    async def _compressed(self, history: History, window: int, strategy: Strategy) -> Done:
        self._made += 1  # a name of its own: nothing is learnt from the one before
        server = Scripted(lambda _: [TextDelta(SUMMARY)], name=f"s{self._made}", window=window)
        session = Session(
            session_id=new_session_id(),
            start_time=AT,
            last_activity=AT,
            model=MODEL,
            provider=server.name,
            system_prompt="You are a gardener.",
            messages=tuple(messages(history)),
        )
        conversation = Conversation(
            self._recording.create(session, ephemeral=True),
            ModelChoice(server, MODEL, window, counting=True),
            self._recording.topic,
            begun=True,
            counters=self._counters,
        )
        before, counted = prompt(conversation), count(conversation)
        await conversation.settle_context()
        view = conversation.context()
        room, costs = view.budget.room, {item.key: item.tokens.tokens for item in view.items}
        assert room is not None
        events = conversation.compression.run(strategy=strategy)
        async with aclosing(events):
            last = [event async for event in events][-1]
        done = last.compression if isinstance(last, ContextCompressed) else None
        return Done(
            before,
            prompt(conversation),
            (counted, count(conversation)),
            room.recent,
            costs,
            view.budget.needs_compression,
            done,
        )


@pytest.fixture(scope="module")
def compressing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compressing]:
    made = Compressing(tmp_path_factory.mktemp("store"))
    yield made
    made.close()


def prompt(conversation: Conversation) -> list[dict[str, Any]]:
    return json.loads(conversation.prompt_json())["messages"]


def count(conversation: Conversation) -> int:
    return conversation.state.header.metadata.compression_count


def words_in(said: list[dict[str, Any]]) -> int:
    """A word is a token here."""
    return sum(len(message.get("text", "").split()) for message in said)


@given(history=histories, window=windows, strategy=strategies)
def test_property_11_system_prompt_and_recent_messages_stay(
    compressing: Compressing, history: History, window: int, strategy: Strategy
) -> None:
    done = compressing.done(history, window, strategy)
    assert done.after[0] == done.before[0] and done.before[0]["role"] == "system"
    after = json.dumps(done.after)
    said = messages(history)
    last = max(place for place, message in enumerate(said) if message.role == "user")
    left = 0 if done.was_due else done.recent
    for place, message in reversed(list(enumerate(said))):
        left -= done.costs[message.id]
        if left < 0 and place < last:
            break
        for part in message.parts:
            text = part.content if isinstance(part, ToolResultPart) else getattr(part, "text", "")
            assert json.dumps(text)[1:-1] in after


@given(history=histories, window=windows, strategy=strategies)
def test_property_12_there_are_fewer_tokens_or_nothing_is_done(
    compressing: Compressing, history: History, window: int, strategy: Strategy
) -> None:
    done = compressing.done(history, window, strategy)
    before, after = words_in(done.before), words_in(done.after)
    if done.compression is None:
        assert done.after == done.before
    else:
        assert after < before
        assert done.compression.after_tokens < done.compression.before_tokens
        assert done.after[0] == done.before[0]
        assert done.after[-1] == done.before[-1]


@given(history=histories, window=windows, strategy=strategies)
def test_property_13_the_count_grows_by_one_with_every_compression(
    compressing: Compressing, history: History, window: int, strategy: Strategy
) -> None:
    done = compressing.done(history, window, strategy)
    before, after = done.counts
    assert after == before + (done.compression is not None)
