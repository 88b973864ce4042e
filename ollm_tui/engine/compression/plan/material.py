"""The input of a plan: the request, the messages in the context, their costs and the room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

from ollm_tui.core.session.compression import Strategy, Trigger
from ollm_tui.core.session.message import Attachment, Message, Retrieval
from ollm_tui.core.session.session import Metadata
from ollm_tui.engine.context.budget import Budget, Room
from ollm_tui.engine.context.context_view import cost_of
from ollm_tui.engine.context.prompt_assembly import Assembly
from ollm_tui.services.tokens.counter import TokenCounter
from ollm_tui.services.tokens.prompt_count import shared_out

OwnMessages = Literal["keep", "fold-if-full", "fold"]
"""What may happen to the oldest of the user's own messages: nothing, to be folded where they
fill half of the room, or to be folded because the user wants that."""


Choice = Literal["keep", "excerpt", "fold"]
"""What the user may decide for one message: it stays, is cut short, or folds."""


class CompressionRequest(NamedTuple):
    """A compression as it was asked for."""

    strategy: Strategy
    trigger: Trigger = "manual"
    above: str | None = None
    """The id of a message: only what stands above it is compressed."""
    instructions: str = ""
    """What the summary should take care of, in the user's words."""
    own: OwnMessages = "keep"
    target: int | None = None
    """Tokens that the whole prompt may have afterwards; None if the room decides."""
    choices: Mapping[str, Choice] = MappingProxyType({})
    """What the user decided for single messages, by their ids."""


@dataclass(frozen=True)
class Material:
    """The context at one moment, as the plan is made from it."""

    assembly: Assembly
    counter: TokenCounter
    budget: Budget
    room: Room
    metadata: Metadata

    @cached_property
    def costs(self) -> dict[str, int]:
        """The tokens of each message in the prompt; their sum never exceeds those of the prompt."""
        # Messages merged into one piece of the prompt share its tokens by their sizes.
        costs = {message.id: 0 for message in self.messages}
        for piece, owners in zip(self.assembly.pieces, self.assembly.owners, strict=True):
            tokens = self.counter.message(piece).tokens
            shares = shared_out(tokens, [owner.size for owner in owners]) if owners else []
            for owner, share in zip(owners, shares, strict=True):
                costs[owner.key] = costs.get(owner.key, 0) + share
        return costs

    @property
    def messages(self) -> Sequence[Message]:
        """All messages of the branch that are no part of the system prompt."""
        return self.assembly.messages

    @property
    def conversation(self) -> int:
        """The tokens that are compared with the trigger."""
        return self.budget.parts.conversation

    @cached_property
    def own_tokens(self) -> int:
        """The tokens of the user's own words, without attachments: those can be cut short."""
        return sum(self._own_cost(message) for message in self.messages if message.role == "user")

    def is_sent(self, message: Message) -> bool:
        """Whether a message stands in the prompt by itself."""
        return message.id in self._sent

    def is_pinned(self, message: Message) -> bool:
        """Whether a message, or another one of its batch of calls and results, is pinned."""
        return message.id in self._pinned

    @cached_property
    def batches(self) -> list[int]:
        """The indexes at which batches begin; a round of a turn is one."""
        return [place for place, m in enumerate(self.messages) if self.begins_batch(m)]

    @cached_property
    def turns(self) -> list[int]:
        """The indexes of the messages of the user: there turns begin."""
        return [place for place, m in enumerate(self.messages) if m.role == "user"]

    def total(self, messages: Sequence[Message]) -> int:
        """Return the tokens of some messages together."""
        return sum(self.costs[message.id] for message in messages)

    def said(self, messages: Sequence[Message]) -> int:
        """Return the tokens of some messages without those of the user."""
        return sum(self.costs[message.id] for message in messages if message.role != "user")

    def _own_cost(self, message: Message) -> int:
        cost = self.costs[message.id]
        if cost and any(isinstance(part, Attachment | Retrieval) for part in message.parts):
            return min(cost, cost_of(self.counter, message, None, ""))
        return cost

    @cached_property
    def _sent(self) -> frozenset[str]:
        return frozenset(owner.key for owners in self.assembly.owners for owner in owners)

    def batch_start(self, place: int) -> int:
        """Return the index at which the batch of a message begins."""
        while place and not self.begins_batch(self.messages[place]):
            place -= 1
        return place

    def begins_batch(self, message: Message) -> bool:
        """Whether a batch, which is a message with its calls and their results, begins here."""
        return message.id in self._batch_starts

    @cached_property
    def _batch_starts(self) -> frozenset[str]:
        """The ids of messages that begin a batch.

        Replies that follow one another are sent as one, so they are one batch with their results.
        """
        before = "user"
        starts: set[str] = set()
        for message in self.messages:
            if message.role != "tool" and (message.role, before) != ("assistant", "assistant"):
                starts.add(message.id)
            before = message.role
        return frozenset(starts)

    @cached_property
    def _pinned(self) -> frozenset[str]:
        """The ids of pinned messages and of their batches: calls stay with their results."""
        pinned = self.assembly.marks.pinned
        kept: set[str] = set()
        batch: list[str] = []
        # None ends the last batch.
        for message in (*self.messages, None):
            if message is None or self.begins_batch(message):
                if pinned.intersection(batch):
                    kept.update(batch)
                batch = []
            if message is not None:
                batch.append(message.id)
        return frozenset(kept)
