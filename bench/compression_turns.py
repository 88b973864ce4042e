"""What happens to real conversations in small windows: is any turn refused, and what is kept.

Run with files: python -m bench.compression_turns FILE… [--windows 8192,16384,32768]"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from bench.sample_sessions import sample_session
from bench.scratch_home import scratch_home
from bench.transcripts import FORM, messages_in
from ollm_tui.core.compression_events import AnyCompressionEvent, ContextCompressed
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.record import MessageAdded
from ollm_tui.engine.context.budget import Budget
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.providers.scripted import MODEL, Scripted
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.tokens.counter import TokenCounters
from ollm_tui.settings.schema import Compression, Settings
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.compression.entry_sources import unfounded

HOW = f"""{FORM} It is said again message by message in windows of several sizes; what does not fit
is compressed without a model. Told are the turns that overflow and those that are refused, the
share of the limit that checkpoints and recent part have then, and entries without a source."""
LEAST_SHARE, MOST_SHARE = 0.30, 0.45
"""Of the limit, for checkpoints and the recent part together where there is so much to keep."""
LEAST_CHECKPOINTS = 0.10
"""Of the limit, for the checkpoints beside a last round that is large: that one stays whole."""


@dataclass
class Told:
    """What was found in all conversations."""

    overflowing: int = 0
    refused: list[str] = field(default_factory=list[str])
    low: list[str] = field(default_factory=list[str])
    high: list[str] = field(default_factory=list[str])
    large: int = 0
    shares: list[float] = field(default_factory=list[float])
    unfounded: list[str] = field(default_factory=list[str])


class Replay:
    """One transcript, said again in a window."""

    def __init__(self, name: str, recording: Recording, window: int, told: Told) -> None:
        self._name = f"{name} in {window:,}"
        self._told = told
        self._window = window
        self._conversation = Conversation(
            recording.create(sample_session(0), ephemeral=True),
            ModelChoice(Scripted(lambda _: [], window=window), MODEL, window),
            recording.topic,
            begun=True,
            counters=TokenCounters(None),
            settings=Settings(compression=Compression(summaries="never")),
        )

    async def run(self, messages: Sequence[Message]) -> None:
        """Say everything; before each reply the prompt has to fit."""
        parent: str | None = None
        for message in messages:
            await self._conversation.settle_context()
            if message.role == "assistant" and self._conversation.context().budget.over_limit:
                await self._make_room(messages)
            said = replace(message, parent_id=parent)
            parent = said.id
            await self._conversation.record(MessageAdded(at="", message=said))

    async def _make_room(self, messages: Sequence[Message]) -> None:
        self._told.overflowing += 1
        before = self._conversation.context().budget
        place = len(self._conversation.state)
        last = await _last(self._conversation.compression.make_room("overflow"))
        await self._conversation.settle_context()
        after = self._conversation.context().budget
        where = f"{self._name} at {place}"
        if not isinstance(last, ContextCompressed) or after.over_limit:
            self._told.refused.append(f"{where}: {getattr(last, 'message', last)}")
            return
        self._look_at_share(where, before, after, self._last_round())
        self._told.unfounded += (
            f"{where}: {wrong}"
            for checkpoint in last.compression.created
            for wrong in unfounded(checkpoint.ledger, checkpoint.facts, messages)
        )

    def _last_round(self) -> int:
        """Return the tokens of the last reply and of the results of its calls."""
        tokens = 0
        for item in reversed(self._conversation.context().items):
            if item.group not in ("assistant", "tools"):
                break
            tokens += item.tokens.tokens
            if item.group == "assistant":
                break
        return tokens

    def _look_at_share(self, where: str, before: Budget, after: Budget, last: int) -> None:
        assert after.room
        limit = after.room.limit
        had, kept = (_said(budget) / limit for budget in (before, after))
        self._told.shares.append(kept)
        line = f"{where}: {kept:.2f} of the limit, before {had:.2f}, last round {last / limit:.2f}"
        if kept > MOST_SHARE and last / limit > MOST_SHARE - LEAST_CHECKPOINTS:
            self._told.large += 1
        elif kept > MOST_SHARE:
            self._told.high.append(line)
        elif kept < LEAST_SHARE and had > MOST_SHARE:
            self._told.low.append(line)


def _said(budget: Budget) -> int:
    """Return the tokens of checkpoints and of all that is not the user's."""
    return budget.parts.checkpoints + budget.parts.assistant + budget.parts.tools


async def _last(events: AsyncGenerator[AnyCompressionEvent, None]) -> AnyCompressionEvent:
    async with aclosing(events):
        return [event async for event in events][-1]


async def _replay(files: Sequence[Path], windows: Sequence[int]) -> Told:
    told = Told()
    with scratch_home() as home:
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        recording = Recording(library.store, library.index)
        for path in files:
            messages = messages_in(path)
            for window in windows:
                await Replay(path.stem, recording, window, told).run(messages)
        await recording.close()
    return told


def _lines(told: Told) -> Iterator[str]:
    yield f"{told.overflowing} turns overflow, {len(told.refused)} refused"
    yield from told.refused
    middle = sorted(told.shares)[len(told.shares) // 2] if told.shares else 0
    yield f"checkpoints and recent part: {middle:.2f} of the limit in the middle"
    yield f"above {MOST_SHARE} because the last round is that large: {told.large}"
    yield f"below {LEAST_SHARE}: {len(told.low)}, above {MOST_SHARE}: {len(told.high)}"
    yield from (*told.low, *told.high)
    yield f"entries without a source: {len(told.unfounded)}"
    yield from told.unfounded[:20]


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=HOW)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--windows", default="8192,16384,32768")
    arguments = parser.parse_args()
    windows = [int(each) for each in arguments.windows.split(",")]
    print("\n".join(_lines(asyncio.run(_replay(arguments.files, windows)))))


if __name__ == "__main__":
    main()
