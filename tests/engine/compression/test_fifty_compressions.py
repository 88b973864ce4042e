"""Compression after compression with the real embedded model in a small window: no dead end."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from ollm_tui.core import clock
from ollm_tui.core.compression_events import (
    CompressionFailed,
    CompressionSkipped,
    ContextCompressed,
    SummaryRejected,
)
from ollm_tui.core.events import TurnFinished
from ollm_tui.core.session.message import Attachment, Message, new_id
from ollm_tui.core.session.record import MessageAdded
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import ModelSettings, Settings
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.compression.fact_conversations import conversation as written
from tests.engine.compression.fact_phrases import KNOWN
from tests.engine.context.test_context_with_the_embedded_server import OnlyEmbedded

pytestmark = [pytest.mark.model, pytest.mark.long]

T = TypeVar("T")
WINDOW = 4096
COMPRESSIONS = 50
ENDS = (ContextCompressed, CompressionFailed, CompressionSkipped, SummaryRejected)
ROUNDS_EACH = 5
"""More questions than this between two compressions, and they do not come when they are due."""


@asynccontextmanager
async def opened(home: Path, window: int) -> AsyncGenerator[Conversation, None]:
    """A conversation as it is without a screen: nobody is there to be asked."""
    settings = Settings(models={SMOLLM2.name: ModelSettings(max_output=24, window=window)})
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    recording = Recording(library.store, library.index)
    provider = OnlyEmbedded(Embedded(models_dir=home / "models"))
    workspace = Workspace(settings, recording, library, provider, home)
    conversation = await workspace.begin()
    conversation.on_overflow = "compress"
    conversation.compression.folds_own = True
    yield conversation
    await conversation.close()
    await workspace.close()


async def collected(events: AsyncGenerator[T, None]) -> list[T]:
    async with aclosing(events):
        return [event async for event in events]


async def ask(
    conversation: Conversation, text: str, attachments: Sequence[Attachment] = ()
) -> list[object]:
    """An answer that came to its end, from a prompt that fitted."""
    events = await collected(conversation.send(text, attachments))
    assert isinstance(events[-1], TurnFinished), events[-1]
    assert_within_limits(conversation)
    return list(events)


async def add_talk(conversation: Conversation, seed: int) -> None:
    """Long replies and tool output of a made up conversation, without asking the model."""
    for message in written(KNOWN, seed, rounds=2).messages:
        if message.role != "user":
            head = conversation.state.header.head
            said = Message(new_id(), message.role, message.parts, clock.now(), parent_id=head)
            await conversation.record(MessageAdded(at=said.timestamp, message=said))


def assert_within_limits(conversation: Conversation) -> None:
    """The prompt that was sent, and the share of the checkpoints in it."""
    budget = conversation.context().budget
    assert budget.room is not None
    assert not budget.over_limit
    assert budget.parts.checkpoints <= budget.room.checkpoint_cap


async def test_compression_follows_compression_without_a_dead_end(model_home: Path) -> None:
    seen: Counter[str] = Counter()
    rounds = 0
    async with opened(model_home, WINDOW) as conversation:
        while seen["ContextCompressed"] < COMPRESSIONS and rounds < COMPRESSIONS * ROUNDS_EACH:
            await add_talk(conversation, rounds)
            await conversation.settle_context()
            if conversation.compression.is_due:
                seen.update(told(await collected(conversation.compression.run("auto"))))
            seen.update(told(await ask(conversation, f"Question {rounds}: what comes next?")))
            rounds += 1
    print(f"{rounds} rounds: {dict(seen)}")
    assert seen["ContextCompressed"] >= COMPRESSIONS, seen
    assert not seen["CompressionFailed"] + seen["cannot-fit"] + seen["not-enough"], seen


async def test_after_a_paste_that_fills_the_window_the_next_question_is_answered(
    model_home: Path,
) -> None:
    log = "\n".join(f"{n:03} upload {n * 7919 % 1000} done" for n in range(310))
    paste = Attachment(name="log.txt", media_type="text/plain", content=log)
    async with opened(model_home, WINDOW) as conversation:
        await ask(conversation, "What is this?", [paste])
        assert conversation.context().count.tokens > 2_900
        await ask(conversation, f"And what follows from that? {'Please say it. ' * 120}")
        assert "What is this?" in conversation.prompt_text()
        assert "117 upload" not in conversation.prompt_text()


def told(events: Sequence[object]) -> Counter[str]:
    """How compressions ended, and how many summaries were of no use."""
    found = Counter(type(event).__name__ for event in events if isinstance(event, ENDS))
    found.update(event.reason for event in events if isinstance(event, CompressionSkipped))
    for event in events:
        if isinstance(event, ContextCompressed) and event.compression.created:
            found["facts alone"] += not event.compression.created[-1].summary
    return found
