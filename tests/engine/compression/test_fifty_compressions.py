"""Compression after compression with the real embedded model in a small window: no dead end."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
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
from ollm_tui.core.message import Attachment, Message, new_id
from ollm_tui.core.record import MessageAdded
from ollm_tui.engine.conversation import Conversation
from ollm_tui.engine.workspace import Workspace
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.model_catalogue import SMOLLM2
from ollm_tui.services.recording import Recording
from ollm_tui.services.session_library import SessionLibrary
from ollm_tui.settings.schema import ModelSettings, Settings
from ollm_tui.storage.layout import StoreLayout
from tests.engine.compression.fact_conversations import conversation as written
from tests.engine.compression.fact_phrases import KNOWN
from tests.engine.test_context_with_the_embedded_server import OnlyEmbedded

pytestmark = pytest.mark.model

T = TypeVar("T")
WINDOW = 4096
COMPRESSIONS = 50 if os.environ.get("OLLM_LONG") else 2
ENDS = (ContextCompressed, CompressionFailed, CompressionSkipped, SummaryRejected)
ROUNDS_EACH = 5
"""More questions than this between two compressions, and they do not come when they are due."""


@pytest.fixture
async def workspace(model_home: Path) -> AsyncGenerator[Workspace, None]:
    settings = Settings(models={SMOLLM2.name: ModelSettings(max_output=24, window=WINDOW)})
    library = SessionLibrary.at(StoreLayout(model_home / "sessions"))
    recording = Recording(library.store, library.index)
    provider = OnlyEmbedded(Embedded(models_dir=model_home / "models"))
    opened = Workspace(settings, recording, library, provider, model_home)
    yield opened
    await opened.close()


async def begun(workspace: Workspace) -> Conversation:
    """A conversation as it is without a screen: nobody is there to be asked."""
    conversation = await workspace.begin()
    conversation.on_overflow = "compress"
    conversation.compression.folds_own = True
    return conversation


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


async def test_compression_follows_compression_without_a_dead_end(workspace: Workspace) -> None:
    conversation = await begun(workspace)
    seen: Counter[str] = Counter()
    number = 0
    for number in range(COMPRESSIONS * ROUNDS_EACH):
        await add_talk(conversation, number)
        await conversation.settle_context()
        if conversation.compression.is_due:
            seen.update(told(await collected(conversation.compression.run("auto"))))
        seen.update(told(await ask(conversation, f"Question {number}: what comes next?")))
        if seen["ContextCompressed"] >= COMPRESSIONS:
            break
    print(f"{number + 1} rounds: {dict(seen)}")
    assert seen["ContextCompressed"] >= COMPRESSIONS, seen
    assert not seen["CompressionFailed"] + seen["cannot-fit"] + seen["not-enough"], seen
    await conversation.close()


async def test_after_a_paste_that_fills_the_window_the_next_question_is_answered(
    workspace: Workspace,
) -> None:
    conversation = await begun(workspace)
    log = "\n".join(f"{n:03} upload {n * 7919 % 1000} done" for n in range(310))
    paste = Attachment(name="log.txt", media_type="text/plain", content=log)
    await ask(conversation, "What is this?", [paste])
    assert conversation.context().count.tokens > 2_900
    await ask(conversation, f"And what follows from that? {'Please say it. ' * 120}")
    assert "What is this?" in conversation.prompt_text()
    assert "117 upload" not in conversation.prompt_text()
    await conversation.close()


def told(events: Sequence[object]) -> Counter[str]:
    """How compressions ended, and how many summaries were of no use."""
    found = Counter(type(event).__name__ for event in events if isinstance(event, ENDS))
    found.update(event.reason for event in events if isinstance(event, CompressionSkipped))
    for event in events:
        if isinstance(event, ContextCompressed) and event.compression.created:
            found["facts alone"] += not event.compression.created[-1].summary
    return found
