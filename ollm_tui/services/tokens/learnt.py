"""What measured counts teach about a model: what its template adds, how it reads text."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

DECAY = 0.8
"""How much of what was known weighs after one more sample."""
LEAST_TEXT = 50
"""Tokens from which on a text says more about the vocabulary than about the template."""
_FEWEST_PER_PLAIN, _MOST_PER_PLAIN = 0.3, 8.0
_MOST_PER_MESSAGE, _MOST_PER_REQUEST = 40, 400
"""More than any template adds: numbers beyond come from something else."""

Tokens = Annotated[float, Meta(ge=0, le=1e12)]
Overhead = Annotated[int, Meta(ge=-_MOST_PER_REQUEST, le=_MOST_PER_REQUEST)]


class Learnt(msgspec.Struct, frozen=True, rename="camel"):
    """What is known of one model. Text is known by two estimates of it: `plain`, by a good
    vocabulary, and `careful`, by a poor one; `read` is what the model made of the same text.
    """

    request: Overhead = 4
    """What the template adds to every prompt."""
    per_message: Overhead = 4
    """What it adds to each message, besides the name of its role."""
    read: Tokens = 0.0
    plain: Tokens = 0.0
    careful: Tokens = 0.0
    agreed: bool = False
    """Whether the last count by the model's own vocabulary was right to the token."""
    takes_tools: bool = True
    """False once its server refused a request because of them."""

    @property
    def knows_text(self) -> bool:
        """Whether enough text was measured."""
        return min(self.read, self.plain, self.careful) > 0

    def text_tokens(self, plain: int, careful: float) -> float:
        """How many tokens the model will make of a text; at most, as long as nothing is known.

        The nearer the model came to one of the two estimates, the more that one counts.
        """
        if not self.knows_text:
            return max(plain, careful)
        by_plain, by_careful = plain * self.read / self.plain, careful * self.read / self.careful
        span = self.careful - self.plain
        weight = min(1.0, max(0.0, (self.read - self.plain) / span)) if span > 0 else 0.0
        return (1 - weight) * by_plain + weight * by_careful

    def with_text(self, read: int, plain: int, careful: float) -> Learnt:
        """After a text that was estimated had been read."""
        within = min(max(read, plain * _FEWEST_PER_PLAIN), plain * _MOST_PER_PLAIN)
        return replace(
            self,
            read=self.read * DECAY + within,
            plain=self.plain * DECAY + plain,
            careful=self.careful * DECAY + careful,
        )

    def with_request(self, request: int) -> Learnt:
        """After a prompt that had cost so much more than its messages."""
        return replace(self, request=_within(request, 0, _MOST_PER_REQUEST))

    def with_template(self, messages: int, rest: int, before: tuple[int, int] | None) -> Learnt:
        """After `messages` whose text is known exactly had cost `rest` more than that.

        `before` is the same of an earlier prompt of the conversation: what differs between
        the two is due to the messages, what is equal to the request.
        """
        per_message = self.per_message
        if before is not None and before[0] != messages:
            slope = (rest - before[1]) / (messages - before[0])
            per_message = _within(round(slope), 0, _MOST_PER_MESSAGE)
        request = _within(rest - per_message * messages, -_MOST_PER_REQUEST, _MOST_PER_REQUEST)
        return replace(self, per_message=per_message, request=request)


def _within(number: int, least: int, most: int) -> int:
    return min(max(number, least), most)
