"""How the window is divided, and what happens when: limit, reserve, trigger, thresholds.

Whole numbers only. Shares of something are rounded down, so that nothing is promised twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ollm_tui.services.tokens.prompt_count import Parts
from ollm_tui.settings.schema import Settings

RECENT_SHARE = 0.30
"""More of the limit than this is never kept from compression as recent."""
EXCHANGES_LOOKED_AT = 5
_MILLION = 1_000_000


class BudgetRules(msgspec.Struct, frozen=True, kw_only=True):
    """The shares the user decides on."""

    output_reserve: float = 0.15
    threshold: float = 0.80
    preserve_recent: int = 2048
    checkpoint_share: float = 0.30
    snapshot_threshold: float = 0.85

    @classmethod
    def of(cls, settings: Settings) -> BudgetRules:
        """The rules as the settings have them."""
        return cls(
            output_reserve=settings.context.output_reserve,
            threshold=settings.compression.threshold,
            preserve_recent=settings.compression.preserve_recent,
            checkpoint_share=settings.compression.checkpoint_share,
            snapshot_threshold=settings.snapshots.auto_threshold,
        )


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """A known window, divided."""

    window: int
    """What the provider is really told."""
    limit: int
    """The longest prompt that is sent."""
    reserve: int
    """Kept free for the answer."""
    available: int
    """For the conversation: the limit without system prompt and checkpoints."""
    trigger: int
    """Tokens of the conversation at which it is compressed."""
    snapshot: int
    """Tokens of the prompt at which a snapshot is taken."""
    checkpoint_cap: int
    """The most that all checkpoints together may take."""
    recent: int
    """Tokens of the newest messages that stay as they are."""
    free: int
    """How much longer the prompt may become."""
    percent: int
    """How much of the window the prompt takes."""


class Budget(msgspec.Struct, frozen=True):
    """A prompt in its window. Without a known window there is no room to speak of."""

    parts: Parts
    room: Room | None = None

    @classmethod
    def of(cls, window: int | None, parts: Parts, rules: BudgetRules | None = None) -> Budget:
        """The budget of a prompt; a window of None is unknown."""
        room = None if window is None else _room(max(window, 0), parts, rules or BudgetRules())
        return cls(parts, room)

    @property
    def used(self) -> int:
        """The tokens of the whole prompt."""
        return self.parts.total

    @property
    def over_limit(self) -> bool:
        """Whether the prompt may not be sent."""
        return not self.fits(self.used)

    @property
    def needs_compression(self) -> bool:
        """Whether the conversation has reached the trigger."""
        return self.room is not None and self.parts.conversation >= self.room.trigger

    @property
    def trigger_mark(self) -> int | None:
        """Where in the window the compression trigger lies: the gauge's first mark."""
        return None if self.room is None else self.parts.fixed + self.room.trigger

    def fits(self, prompt_tokens: int) -> bool:
        """Whether a prompt of this length may be sent; with an unknown window, any may."""
        return self.room is None or prompt_tokens <= self.room.limit

    def exchanges_left(self, exchanges: Sequence[int]) -> int | None:
        """About how many more exchanges until compression, if they go on like the last ones.

        `exchanges` are the tokens of each, the newest last. None if nothing can be said.
        """
        latest = [tokens for tokens in exchanges[-EXCHANGES_LOOKED_AT:] if tokens > 0]
        if self.room is None or not latest:
            return None
        left = max(0, self.room.trigger - self.parts.conversation)
        return left * len(latest) // sum(latest)


def _room(window: int, parts: Parts, rules: BudgetRules) -> Room:
    limit = _share(window, 1 - rules.output_reserve)
    available = max(0, limit - parts.fixed)
    # At least one: with no room at all everything is too much. Below the limit: a prompt
    # that may not be sent any more would be noticed too late.
    trigger = max(1, min(_share(available, rules.threshold), limit - 1))
    return Room(
        window=window,
        limit=limit,
        reserve=window - limit,
        available=available,
        trigger=trigger,
        snapshot=_share(limit, rules.snapshot_threshold),
        checkpoint_cap=_share(limit, rules.checkpoint_share),
        recent=min(rules.preserve_recent, _share(limit, RECENT_SHARE)),
        free=max(0, limit - parts.total),
        percent=parts.total * 100 // window if window else 100,
    )


def _share(total: int, share: float) -> int:
    """A share of a number, rounded down; 0.85 is taken for what is meant, not for its bits."""
    return total * round(share * _MILLION) // _MILLION
