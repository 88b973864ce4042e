"""The values of token counting: a prompt's tokens by part and by source, and the messages counted.

Also which texts of a message, and of the tools, get into the prompt.
"""

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
"""Where a count comes from: reported by the model after reading (`measured`), counted with its own
vocabulary or by its server (`exact`), or neither (`estimated`, shown with "≈")."""

Group = Literal["system", "checkpoints", "user", "assistant", "tools"]
"""The segments of the gauge. `system` is everything that compression never removes."""

GROUPS: tuple[Group, ...] = ("system", "checkpoints", "user", "assistant", "tools")

IMAGE_TOKENS: Mapping[str, int] = MappingProxyType(
    {"openai": 1105, "anthropic": 1600, "bedrock": 1600, "gemini": 258, "embedded": 0}
)
"""Tokens that providers count for a large image, used until a prompt with it is measured."""
OTHER_IMAGE_TOKENS = 1601
"""The tokens of an image for Llama 3.2 vision, the most of the common local models."""

_GROUPS: Mapping[Role, Group] = MappingProxyType(
    {"system": "system", "user": "user", "assistant": "assistant", "tool": "tools"}
)


class Count(msgspec.Struct, frozen=True):
    """A number of tokens and where it comes from."""

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
        """The tokens that no compression makes fewer."""
        return self.system + self.checkpoints

    @property
    def conversation(self) -> int:
        """The tokens of messages and tools; these are compared with the compression trigger."""
        return self.user + self.assistant + self.tools

    @property
    def total(self) -> int:
        """The tokens of the whole prompt."""
        return self.fixed + self.conversation

    def by_name(self) -> dict[str, int]:
        """Return the parts by their names, as they are stored."""
        return {group: getattr(self, group) for group in GROUPS}

    @classmethod
    def named(cls, parts: Mapping[str, int]) -> Parts:
        """Return the parts as they were stored; names that are not known are left out."""
        return cls(**{group: max(0, parts.get(group, 0)) for group in GROUPS})


class PromptCount(msgspec.Struct, frozen=True):
    """A prompt's tokens; the parts always add up to the whole."""

    parts: Parts = Parts()
    source: Source = "estimated"

    @property
    def tokens(self) -> int:
        """The tokens of the whole prompt."""
        return self.parts.total

    @property
    def total(self) -> Count:
        """The tokens of the whole prompt, with their source."""
        return Count(self.tokens, self.source)

    def plus(self, group: Group, tokens: int) -> PromptCount:
        """Return the count with more tokens in one part, which makes it an estimate."""
        grown = getattr(self.parts, group) + tokens
        return PromptCount(replace(self.parts, **{group: grown}), "estimated")


class Piece(NamedTuple):
    """One message of a prompt, made by `of`. Key and size identify it: it is counted only once."""

    key: str
    message: PromptMessage
    group: Group
    size: int
    """Characters of text and reasoning plus tool calls; it changes when a message grows."""
    data: int = 0
    """Characters of it that belong to the fixed part of the prompt, not to the conversation."""

    @classmethod
    def of(
        cls, key: str, message: PromptMessage, group: Group | None = None, data: int = 0
    ) -> Piece:
        """Make a piece of a message.

        `key` is the message's id. What has none, like the system prompt, gets a key that changes
        with its text. `group` is given where it does not follow from the role.
        """
        size = len(message.text) + len(message.reasoning) + len(message.tool_calls)
        return cls(key, message, group or _GROUPS[message.role], size, data)

    def fixed(self, tokens: int) -> int:
        """Return how many of its tokens belong to the fixed part of the prompt."""
        return min(tokens, tokens * self.data // self.size) if self.data else 0


def texts_of(message: PromptMessage) -> list[str]:
    """Return everything in a message that chat templates write into the prompt."""
    texts = [message.text, message.reasoning, message.role, message.tool_name or ""]
    for call in message.tool_calls:
        texts += [call.name, json.dumps(call.args, ensure_ascii=False)]
    return [text for text in texts if text]


def schema_texts(tools: Iterable[ToolSpec]) -> list[str]:
    """Return each tool as chat templates write it into the prompt: as JSON."""
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
    """Return the tokens of a message's images, by what its provider usually counts."""
    return len(message.images) * IMAGE_TOKENS.get(provider, OTHER_IMAGE_TOKENS)


def shared_out(total: int, weights: Sequence[float]) -> list[int]:
    """Divide `total` into whole numbers in proportion to the weights; they add up to it."""
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
