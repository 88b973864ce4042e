"""What a prompt costs, part by part, and how the number was come by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from ollm_tui.core.provider import PromptMessage, ToolSpec
from ollm_tui.core.session.message import Role

Source = Literal["measured", "exact", "estimated"]
"""Read by the model; counted by its own vocabulary or server; or neither, shown with "≈"."""

Group = Literal["system", "checkpoints", "user", "assistant", "tools"]
"""The segments of the gauge. `system` is everything that never leaves the prompt."""

GROUPS: tuple[Group, ...] = ("system", "checkpoints", "user", "assistant", "tools")


class Count(msgspec.Struct, frozen=True):
    """A number of tokens."""

    tokens: int
    source: Source

    def __str__(self) -> str:
        mark = "≈" if self.source == "estimated" else ""
        return f"{mark}{self.tokens:,}"


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of a prompt by what they belong to."""

    system: int = 0
    """System prompt, pinned messages, tool schemas, and what the chat template adds."""
    checkpoints: int = 0
    user: int = 0
    assistant: int = 0
    tools: int = 0

    @property
    def fixed(self) -> int:
        """What no compression makes smaller."""
        return self.system + self.checkpoints

    @property
    def conversation(self) -> int:
        """What was said and done; this is compared with the compression trigger."""
        return self.user + self.assistant + self.tools

    @property
    def total(self) -> int:
        """The whole prompt."""
        return self.fixed + self.conversation


class PromptCount(msgspec.Struct, frozen=True):
    """A prompt's tokens; the parts always add up to the whole."""

    parts: Parts = Parts()
    source: Source = "estimated"

    @property
    def tokens(self) -> int:
        """The whole prompt."""
        return self.parts.total

    @property
    def total(self) -> Count:
        """The whole prompt, with how it is known."""
        return Count(self.tokens, self.source)

    def plus(self, group: Group, tokens: int) -> PromptCount:
        """The count with something more in it, which makes it an estimate."""
        grown = getattr(self.parts, group) + tokens
        return PromptCount(replace(self.parts, **{group: grown}), "estimated")


def shared_out(total: int, weights: Sequence[float]) -> list[int]:
    """`total` cut into whole numbers in proportion to the weights; they add up to it."""
    whole = sum(weights)
    if not whole:
        return [total, *(0 for _ in weights[1:])] if weights else []
    shares, given, reached = list[int](), 0, 0.0
    for weight in weights:
        reached += weight
        # Rounding the running sum and not each share: nothing is lost and nothing is double.
        upto = round(total * (reached / whole))
        shares.append(upto - given)
        given = upto
    return shares


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
