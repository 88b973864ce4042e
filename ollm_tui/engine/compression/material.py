"""What a compression has to work with: the messages in the context, what each costs, the room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ollm_tui.core.message import Message
from ollm_tui.core.session import Metadata
from ollm_tui.engine.budget import Budget, Room
from ollm_tui.engine.context import Assembly
from ollm_tui.engine.context_view import cost_of
from ollm_tui.services.tokens.counter import TokenCounter


@dataclass(frozen=True)
class Material:
    """The context at one moment, as the planner looks at it."""

    assembly: Assembly
    counter: TokenCounter
    budget: Budget
    room: Room
    metadata: Metadata

    @cached_property
    def costs(self) -> dict[str, int]:
        """The tokens each message takes in the prompt now."""
        facts = self.assembly.shortening.elided
        folded = self.assembly.marks.folded
        return {
            message.id: cost_of(
                self.counter, message, folded.get(message.id), facts.get(message.id)
            )
            if message.id in self._sent
            else 0
            for message in self.messages
        }

    @property
    def messages(self) -> Sequence[Message]:
        """All messages of the branch that are no part of the system prompt."""
        return self.assembly.messages

    @property
    def conversation(self) -> int:
        """What is compared with the trigger."""
        return self.budget.parts.conversation

    @cached_property
    def own_tokens(self) -> int:
        """What the user's own messages take."""
        return sum(self.costs[m.id] for m in self.messages if m.role == "user")

    def is_sent(self, message: Message) -> bool:
        """Whether a message stands in the prompt by itself."""
        return message.id in self._sent

    def is_pinned(self, message: Message) -> bool:
        """Whether the user wants it to stay, or it answers a call of one that stays."""
        return message.id in self._pinned

    @cached_property
    def turns(self) -> list[int]:
        """Where turns begin: at every message of the user."""
        return [place for place, m in enumerate(self.messages) if m.role == "user"]

    def total(self, messages: Sequence[Message]) -> int:
        """What some messages take together."""
        return sum(self.costs[message.id] for message in messages)

    @cached_property
    def _sent(self) -> frozenset[str]:
        return frozenset(owner.key for owners in self.assembly.owners for owner in owners)

    @cached_property
    def _pinned(self) -> frozenset[str]:
        """A call and its results stay together."""
        pinned = self.assembly.marks.pinned
        kept: set[str] = set()
        batch: list[str] = []
        for message in (*self.messages, None):
            if message is None or message.role != "tool":
                if pinned.intersection(batch):
                    kept.update(batch)
                batch = []
            if message is not None:
                batch.append(message.id)
        return frozenset(kept)
