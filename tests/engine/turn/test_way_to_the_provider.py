"""The way of a message to the provider is short, and the prompt is assembled once on it."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from types import FrameType

from ollm_tui.core.provider import ChatRequest, StreamEvent
from ollm_tui.providers.scripted import Scripted
from tests.engine.conftest import OpenWorkspace

MOST_GENERATORS = 4


class Looking(Scripted):
    """Looks at who asks it."""

    generators: tuple[str, ...] = ()

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        frame, found = inspect.currentframe(), list[str]()
        while frame := frame and frame.f_back:
            is_ours = "ollm_tui" in frame.f_code.co_filename
            if is_ours and frame.f_code.co_flags & inspect.CO_ASYNC_GENERATOR:
                found.append(frame.f_code.co_qualname)
        self.generators = tuple(found)
        return super().stream(request)


async def test_at_most_four_generators_lie_between_the_user_and_the_provider(
    open_workspace: OpenWorkspace,
) -> None:
    provider = Looking()
    conversation = await (await open_workspace(provider)).begin()
    async for _ in conversation.send("Hello"):
        pass
    assert provider.generators[0] == "ModelRound._ask"
    assert provider.generators[-1] == "Conversation._answer"
    assert len(provider.generators) <= MOST_GENERATORS
    await conversation.close()


async def test_nothing_is_assembled_again_for_a_message(
    open_workspace: OpenWorkspace,
) -> None:
    conversation = await (await open_workspace(Scripted())).begin()
    for text in ("One", "Two"):
        async for _ in conversation.send(text):
            pass
    entered = Counter[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            entered[frame.f_code.co_qualname] += 1

    sys.setprofile(note)
    try:
        async for _ in conversation.send("Three"):
            conversation.context()
    finally:
        sys.setprofile(None)
    assert entered["begin"] == 0, "what is new is added to the prompt before"
    assert entered["Assembly.add"] == 2, "the question and the reply"
    await conversation.close()
