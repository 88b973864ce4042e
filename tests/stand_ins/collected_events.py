"""Asking a provider in tests, and its answer as one list."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, TypeVar

from ollm_tui.core.errors import ProviderError
from ollm_tui.core.provider import (
    ChatRequest,
    PromptMessage,
    Provider,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
)

T = TypeVar("T")


def ask(text: str = "Hello", model: str = "m", **fields: Any) -> ChatRequest:
    """A request with one user message."""
    fields.setdefault("messages", (PromptMessage(role="user", text=text),))
    return ChatRequest(model=model, **fields)


async def collect(provider: Provider, request: ChatRequest) -> list[StreamEvent]:
    """All events of an answer."""
    return [event async for event in provider.stream(request)]


async def until_error(stream: AsyncIterator[T]) -> tuple[list[T], ProviderError]:
    """What a stream gave before it failed, and the failure."""
    got: list[T] = []
    try:
        while True:
            got.append(await anext(stream))
    except ProviderError as error:
        return got, error


def joined(events: list[StreamEvent]) -> list[StreamEvent]:
    """The events with neighbouring deltas of one kind made one."""
    out: list[StreamEvent] = []
    for event in events:
        match out[-1] if out else None, event:
            case TextDelta(before), TextDelta(text):
                out[-1] = TextDelta(before + text)
            case ReasoningDelta(before), ReasoningDelta(text):
                out[-1] = ReasoningDelta(before + text)
            case _:
                out.append(event)
    return out


def text_of(events: list[StreamEvent]) -> str:
    """The words of an answer."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))
