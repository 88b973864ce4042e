"""Whether the model read the whole prompt: servers that cut one off do not say so."""

from __future__ import annotations

from collections.abc import Iterable

from ollm_tui.core.message import Message
from ollm_tui.core.provider import ChatRequest

TOKENS_PER_WORD = 0.75
"""Common tokenisers need one token a word and more; the few that join words stay above this."""


def least_tokens(request: ChatRequest, provider: str, branch: Iterable[Message]) -> int:
    """How many tokens a prompt has at the very least.

    It begins with every earlier prompt of the branch, so it is no shorter than what the same
    model read of those. Words are counted because most servers cannot count before they answer.
    """
    words = sum(len(message.text.split()) for message in request.messages)
    measured = (
        message.usage.input_tokens
        for message in branch
        if message.usage and (message.model, message.provider) == (request.model, provider)
    )
    return max(int(words * TOKENS_PER_WORD), *measured, 0)
