"""Planted facts are still known after a conversation was compressed to 35 %, once and three times.

`make gates` runs sixty conversations; what is told there is the share that was still known.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import chain
from typing import TypeVar

from msgspec.structs import replace

from ollm_tui.core.compression_events import ContextCompressed
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.record import MessageAdded
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import Scripted
from ollm_tui.settings.schema import Compression, Settings
from tests.conftest import Tell, runs
from tests.engine.compression.fact_conversations import Planted, text_of
from tests.engine.compression.fact_conversations import conversation as written
from tests.engine.compression.fact_phrases import KNOWN, VARIED
from tests.engine.conftest import OpenWorkspace

T = TypeVar("T")
SHARE = 0.35
WINDOW = 131_072
TALKS = runs(4, of_gate=60)
ROUNDS = 8
AT = "2026-03-01T10:00:00.000Z"


async def collected(events: AsyncGenerator[T, None]) -> list[T]:
    async with aclosing(events):
        return [event async for event in events]


async def opened(open_workspace: OpenWorkspace) -> Workspace:
    """A workspace in which checkpoints are made without a model."""
    settings = Settings(compression=Compression(summaries="never", enabled=False))
    return await open_workspace(Scripted((), window=WINDOW), settings)


async def say(conversation: Conversation, messages: Sequence[Message], name: str) -> None:
    """Add messages of a made up conversation."""
    for message in messages:
        head = conversation.state.header.head
        said = replace(message, id=f"{name}-{message.id}", parent_id=head)
        await conversation.record(MessageAdded(at=AT, message=said))


async def compress(conversation: Conversation, tokens: int) -> None:
    """To a share of the tokens of all that was said."""
    target = int(tokens * SHARE)
    ended = (await collected(conversation.compression.run(target=target)))[-1]
    assert isinstance(ended, ContextCompressed), ended
    assert conversation.context().count.tokens <= target


def known(conversation: Conversation, facts: Sequence[Planted]) -> int:
    """How many facts are told by one entry of a checkpoint, or by a message as it was said."""
    shortening = conversation.context().prompt.assembly.shortening
    told = "\n".join(each.facts for each in shortening.checkpoints)
    unsaid = shortening.covered | shortening.elided.keys()
    said = "\n".join(text_of(m) for m in conversation.state.branch() if m.id not in unsaid)
    return sum(fact.is_in(told) or is_said(fact, said) for fact in facts)


def is_said(fact: Planted, said: str) -> bool:
    """Whether messages that are sent as they were tell a fact; a command with its result."""
    words = fact.words[:1] if fact.kind == "command" else fact.words
    return all(word.lower() in said.lower() for word in words)


def of(origin: str, facts: Sequence[Planted]) -> list[Planted]:
    """The facts that the user said, or that a record of a tool tells."""
    return [fact for fact in facts if fact.origin == origin]


async def test_after_a_compression_to_35_percent_the_facts_are_known(
    open_workspace: OpenWorkspace, record_property: Tell
) -> None:
    workspace = await opened(open_workspace)
    users, recorded, kept = 0, 0, [0, 0]
    for seed in range(TALKS):
        talk = written((KNOWN, VARIED)[seed % 2], seed, rounds=2 * ROUNDS)
        conversation = await workspace.begin()
        await say(conversation, talk.messages, "a")
        await compress(conversation, conversation.context().count.tokens)
        own, records = of("user", talk.planted), of("tool", talk.planted)
        users, recorded = users + len(own), recorded + len(records)
        kept = [kept[0] + known(conversation, own), kept[1] + known(conversation, records)]
        await conversation.close()
    record_property("facts of the user", f"{kept[0]}/{users}")
    record_property("facts in records", f"{kept[1]}/{recorded}")
    assert kept[0] == users
    assert kept[1] >= 0.90 * recorded


async def test_after_three_compressions_in_a_row_the_facts_are_known(
    open_workspace: OpenWorkspace, record_property: Tell
) -> None:
    workspace = await opened(open_workspace)
    planted, kept = 0, 0
    for seed in range(TALKS):
        talks = [
            written((KNOWN, VARIED)[seed % 2], 3 * seed + part, rounds=ROUNDS) for part in range(3)
        ]
        conversation, whole = await workspace.begin(), await workspace.begin()
        for part, talk in enumerate(talks):
            for each in (conversation, whole):
                await say(each, talk.messages, str(part))
            await compress(conversation, whole.context().count.tokens)
        facts = list(chain.from_iterable(talk.planted for talk in talks))
        assert known(conversation, of("user", facts)) == len(of("user", facts))
        planted += len(of("tool", facts))
        kept += known(conversation, of("tool", facts))
        for each in (conversation, whole):
            await each.close()
    record_property("facts after three", f"{kept}/{planted}")
    assert kept >= 0.85 * planted
