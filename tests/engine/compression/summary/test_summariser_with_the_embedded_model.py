"""A real, very small model summarises a real conversation, in a small window."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.provider import ChatRequest
from ollm_tui.core.session.compression import DETAILED
from ollm_tui.core.session.message import Message, Role, Text
from ollm_tui.engine.compression.summary.summariser import (
    MessageTaken,
    Summarised,
    Summariser,
    Wrote,
)
from ollm_tui.engine.compression.summary.summary_input import transcript
from ollm_tui.engine.compression.summary.summary_request import (
    SummaryRequest,
    most_tokens_within,
    prompt_room,
    request_for,
    write_prompt,
)
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.services.tokens.careful_estimate import careful_estimate

pytestmark = pytest.mark.model

WINDOW, LIMIT = 2048, 1740
SAID: tuple[tuple[Role, str], ...] = (
    ("user", "I want to plan a trip to Lisbon with my two kids in May. We have 2,400 euros."),
    ("assistant", "May is a lovely time for Lisbon. Stay in Alfama or Baixa, near the tram 28."),
    ("user", "My daughter is allergic to fish. We take the train from Madrid."),
    ("assistant", "The train takes nine hours. Leave on the 9th of May in the morning."),
    ("tool", "timetable: 07:15 Madrid, 11:40 Badajoz, 16:20 Entroncamento, 17:35 Lisbon\n" * 200),
)
MESSAGES = [
    Message(id=f"m{place}", role=role, parts=(Text(text=text),), timestamp="")
    for place, (role, text) in enumerate(SAID)
]
WANTED = SummaryRequest(MESSAGES, "", "", "", "", 200, DETAILED)


def count(text: str) -> int:
    return round(careful_estimate(text))


@pytest.mark.long
async def test_a_tiny_model_summarises_in_a_tiny_window(model_home: Path) -> None:
    provider = Embedded(models_dir=model_home / "models")
    choice = ModelChoice(provider, SMOLLM2.name, window=WINDOW)
    try:
        steps = [step async for step in Summariser(choice, count, LIMIT).summarise(WANTED)]
        assert steps[:5] == [MessageTaken(message.id) for message in MESSAGES]
        assert any(isinstance(step, Wrote) for step in steps)
        last = steps[-1]
        assert isinstance(last, Summarised)
        assert "Lisbon" in last.text
        assert count(last.text) <= 220
        assert await _tokens_read(provider, choice) + 200 <= LIMIT
    finally:
        await provider.close()


async def _tokens_read(provider: Embedded, choice: ModelChoice) -> int:
    answer = most_tokens_within(LIMIT, WANTED.most_tokens)
    room = prompt_room(LIMIT, answer)
    prompt = write_prompt(WANTED, transcript(MESSAGES), room, room, count)
    request: ChatRequest = request_for(prompt, choice, answer)
    tokens = await provider.count_tokens(request)
    assert tokens is not None
    return tokens
