"""The prompt as a pure function of the record: the same record gives the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from ollm_tui.core.message import (
    Approval,
    Attachment,
    Message,
    Reasoning,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from ollm_tui.core.provider import Image, PromptMessage

_BACKTICKS = re.compile("`{3,}")


def assemble(system_prompt: str, branch: Iterable[Message]) -> tuple[PromptMessage, ...]:
    """The messages to send, in an order every provider accepts.

    A reply that failed before its first word is left out, and two messages of the user that
    then follow one another are joined: many chat templates insist on taking turns.
    """
    prompt: list[PromptMessage] = []
    if system_prompt:
        prompt.append(PromptMessage(role="system", text=system_prompt))
    for message in branch:
        for piece in _pieces(message):
            last = prompt[-1] if prompt else None
            if last and last.role == piece.role == "user":
                prompt[-1] = PromptMessage(
                    role="user",
                    text=f"{last.text}\n\n{piece.text}",
                    images=(*last.images, *piece.images),
                )
            else:
                prompt.append(piece)
    return tuple(prompt)


def _pieces(message: Message) -> list[PromptMessage]:
    """One message as the model sees it; each tool result is a message of its own."""
    text: list[str] = []
    images: list[Image] = []
    calls: list[ToolCallPart] = []
    results: list[PromptMessage] = []
    for part in message.parts:
        match part:
            case Text() | Retrieval():
                text.append(part.text)
            case ToolCallPart():
                calls.append(part)
            case ToolResultPart():
                results.append(
                    PromptMessage(
                        role="tool",
                        text=part.content,
                        tool_call_id=part.call_id,
                        tool_name=part.name,
                    )
                )
            case Attachment() if part.media_type.startswith("image/"):
                images.append(Image(part.media_type, part.content))
            case Attachment():
                text.append(f"\n\n{_fenced(part)}" if text else _fenced(part))
            case Reasoning() | Approval() | UnknownPart():
                pass  # for people, not for the model
            case _:
                assert_never(part)
    said = "".join(text)
    if not (said or images or calls):
        return results
    return [
        PromptMessage(role=message.role, text=said, tool_calls=tuple(calls), images=tuple(images)),
        *results,
    ]


def _fenced(attachment: Attachment) -> str:
    """Data below its name, in a fence longer than any it contains: it cannot end its own."""
    inside = (len(run) for run in _BACKTICKS.findall(attachment.content))
    fence = "`" * (max(inside, default=2) + 1)
    return f"[{attachment.name}]:\n{fence}\n{attachment.content}\n{fence}\n"
