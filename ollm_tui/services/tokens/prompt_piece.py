"""A piece of a prompt: one message in its place, and the texts in it that cost tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ollm_tui.core.provider import PromptMessage, ToolSpec
from ollm_tui.core.session.message import Role
from ollm_tui.services.tokens.prompt_count import Group

IMAGE_TOKENS: Mapping[str, int] = MappingProxyType(
    {"openai": 1105, "anthropic": 1600, "bedrock": 1600, "gemini": 258, "embedded": 0}
)
"""What providers take for a large image; until it is measured, nobody can know better."""
OTHER_IMAGE_TOKENS = 1601
"""Llama 3.2 vision, the most of the common local models."""

_GROUPS: Mapping[Role, Group] = MappingProxyType(
    {"system": "system", "user": "user", "assistant": "assistant", "tool": "tools"}
)


class Piece(NamedTuple):
    """One message of a prompt, made by `of`; keep it, and counting it again costs nothing."""

    key: str
    message: PromptMessage
    group: Group
    size: int
    """Changes when a message grows."""
    data: int = 0
    """How much of it is no part of the conversation, but of what never leaves the prompt."""

    @classmethod
    def of(
        cls, key: str, message: PromptMessage, group: Group | None = None, data: int = 0
    ) -> Piece:
        """`key` is the id of the message. What has none, as the system prompt, gets a key that
        changes with its text. `group` is given where the role does not say the segment.
        """
        size = len(message.text) + len(message.reasoning) + len(message.tool_calls)
        return cls(key, message, group or _GROUPS[message.role], size, data)

    def fixed(self, tokens: int) -> int:
        """Of the tokens it takes, those that never leave the prompt."""
        return min(tokens, tokens * self.data // self.size) if self.data else 0


def texts_of(message: PromptMessage) -> list[str]:
    """Everything in a message that templates write into the prompt."""
    texts = [message.text, message.reasoning, message.role, message.tool_name or ""]
    for call in message.tool_calls:
        texts += [call.name, json.dumps(call.args, ensure_ascii=False)]
    return [text for text in texts if text]


def schema_texts(tools: Iterable[ToolSpec]) -> list[str]:
    """The tools as templates write them into the prompt."""
    return [
        json.dumps(
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            },
            ensure_ascii=False,
        )
        for tool in tools
    ]


def image_tokens(provider: str, message: PromptMessage) -> int:
    """The tokens of the images of a message, by what its provider usually takes."""
    return len(message.images) * IMAGE_TOKENS.get(provider, OTHER_IMAGE_TOKENS)
