"""Compressing a context of 100 messages without the model's time, and what it holds up."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import chain, count, islice
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace

from bench.measure import Outcome, Promise, interleaved, milliseconds, watch_turns
from bench.sample_sessions import sample_session
from bench.scratch_home import scratch_home
from ollm_tui.core.compression_events import AnyCompressionEvent, ContextCompressed
from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.compression import Strategy
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Session
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.providers.scripted import MODEL, Scripted
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.compression.fact_conversations import conversation
from tests.engine.compression.fact_phrases import VARIED

MESSAGES = 100
WINDOW = 32_768
ROUNDS = 11
JSON_TIMES = 75
"""That takes 50 ms where the promise is 100 ms."""
TICK_SECONDS = 0.001
FRAME_SECONDS = 0.033
SUMMARY = "They spoke about sessions, journals and line ends, and kept the quotes as they were."

COMPRESSION = "ollm_tui.engine.compression."
REFERENCE = f"the session as JSON and back, {JSON_TIMES} times"
TRUNCATE = Promise(f"compressing {MESSAGES} messages, truncate", REFERENCE, 2)
HYBRID = Promise(f"compressing {MESSAGES} messages, hybrid, a summary at once", REFERENCE, 2)
GAP = Promise(f"the longest wait of a key while {MESSAGES} messages are compressed", "33 ms", 1)
PROMISES = (TRUNCATE, HYBRID, GAP)


class Run(NamedTuple):
    """Seconds."""

    cpu: float
    gap: float
    """The longest time in which nothing else had its turn."""


def main() -> list[Outcome]:
    """Compress the same session again and again, each time from the beginning."""
    with scratch_home() as home, asyncio.Runner() as runner:
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        compressing = Compressing(Recording(library.store, library.index))
        runs = interleaved(
            {
                "json": lambda: Run(_json_seconds(compressing.session), 0),
                "truncate": lambda: runner.run(compressing.run("truncate")),
                "hybrid": lambda: runner.run(compressing.run("hybrid")),
                "watched": lambda: runner.run(compressing.watched("hybrid")),
            },
            ROUNDS,
        )
        runner.run(compressing.recording.close())
    middle = {name: median(run.cpu for run in found) for name, found in runs.items()}
    told = ", ".join(f"{name} {milliseconds(seconds)}" for name, seconds in middle.items())
    print(f"processor time: {told}")
    gap = median(run.gap for run in runs["watched"])
    print(f"the longest wait meanwhile: {milliseconds(gap)}")
    return [
        Outcome(TRUNCATE, middle["truncate"] / middle["json"]),
        Outcome(HYBRID, middle["hybrid"] / middle["json"]),
        Outcome(GAP, gap / FRAME_SECONDS),
    ]


class Compressing:
    """Conversations in memory on a model that summarises at once."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.session = talk(MESSAGES)
        self._counters = TokenCounters(None)
        self._server = Scripted(lambda _: [TextDelta(SUMMARY)], window=WINDOW)

    async def run(self, strategy: Strategy) -> Run:
        """One compression, from the first look to the record."""
        conversation = Conversation(
            self.recording.create(self.session, ephemeral=True),
            ModelChoice(self._server, MODEL, WINDOW),
            self.recording.topic,
            begun=True,
            counters=self._counters,
        )
        await conversation.settle_context()  # as the gauge had it done
        _forget()
        start = time.process_time()
        last = await _last(conversation.compression.run(strategy=strategy))
        cpu = time.process_time() - start
        if not isinstance(last, ContextCompressed):
            raise RuntimeError(f"nothing was compressed: {last}")
        return Run(cpu, 0)

    async def watched(self, strategy: Strategy) -> Run:
        """The same beside something else that wants its turn: that costs time by itself."""
        gaps: list[float] = []
        watching = asyncio.create_task(watch_turns(gaps, TICK_SECONDS))
        await asyncio.sleep(TICK_SECONDS)
        run = await self.run(strategy)
        watching.cancel()
        return Run(run.cpu, max(gaps, default=0))


def _forget() -> None:
    """What was read of the same text before: every round is the first of its program."""
    modules = [module for name, module in sys.modules.items() if name.startswith(COMPRESSION)]
    for kept in (value for module in modules for value in vars(module).values()):
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()


async def _last(events: AsyncGenerator[AnyCompressionEvent, None]) -> AnyCompressionEvent:
    async with aclosing(events):
        return [event async for event in events][-1]


def talk(messages: int) -> Session:
    """Questions, answers, calls and results about real things: random words have no facts."""
    talks = (conversation(VARIED, seed).messages for seed in count())
    said: list[Message] = []
    for message in islice(chain.from_iterable(talks), messages):
        parent = said[-1].id if said else None
        said.append(replace(message, id=f"m{len(said)}", parent_id=parent))
    return replace(sample_session(0), messages=tuple(said), head=said[-1].id)


def _json_seconds(session: Session) -> float:
    start = time.process_time()
    for _ in range(JSON_TIMES):
        json.loads(json.dumps(to_tree(session)))
    return time.process_time() - start
