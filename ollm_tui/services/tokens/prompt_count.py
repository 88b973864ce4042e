"""What a prompt costs, part by part, and how the number was come by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

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
