"""How the window is divided: limit, reserve, compression trigger, snapshot threshold.

All numbers are whole tokens. Shares are rounded down, so that no token is counted twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ollm_tui.services.tokens.prompt_count import Parts
from ollm_tui.settings.schema import Settings

RECENT_SHARE = 0.30
"""The largest share of the limit that is kept from compression as the recent part."""
EXCHANGES_LOOKED_AT = 5
"""How many of the last exchanges say how long the next ones will be."""
_MILLION = 1_000_000


class BudgetRules(msgspec.Struct, frozen=True, kw_only=True):
    """The shares that the settings decide on."""

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
    """A window of known size, divided. All fields but `percent` are tokens."""

    window: int
    """The size the provider is really told."""
    limit: int
    """The longest prompt that is sent."""
    reserve: int
    """Kept free for the answer."""
    available: int
    """What is left for the conversation: the limit without system prompt and checkpoints."""
    trigger: int
    """The length of the conversation at which it is compressed."""
    snapshot: int
    """The length of the prompt at which a snapshot is taken."""
    checkpoint_cap: int
    """The most that all checkpoints together may take."""
    recent: int
    """The length of the newest messages that compression leaves as they are."""
    free: int
    """How much longer the prompt may become."""
    percent: int
    """The share of the window that the prompt takes, in percent."""


class Budget(msgspec.Struct, frozen=True):
    """The parts of a prompt, and the room in its window; None where the window is unknown."""

    parts: Parts
    room: Room | None = None

    @classmethod
    def of(cls, window: int | None, parts: Parts, rules: BudgetRules | None = None) -> Budget:
        """The budget of a prompt; None stands for a window of unknown size."""
        room = None if window is None else _room(max(window, 0), parts, rules or BudgetRules())
        return cls(parts, room)

    @property
    def used(self) -> int:
        """The tokens of the whole prompt."""
        return self.parts.total

    @property
    def over_limit(self) -> bool:
        """Whether the prompt is too long to be sent."""
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
        """About how many more exchanges fit before compression, if they are like the last ones.

        `exchanges` are the tokens of each, the newest last. None if nothing can be said.
        """
        latest = [tokens for tokens in exchanges[-EXCHANGES_LOOKED_AT:] if tokens > 0]
        if self.room is None or not latest:
            return None
        left = max(0, self.room.trigger - self.parts.conversation)
        return rounded(left * len(latest) // sum(latest))


def rounded(exchanges: int) -> int:
    """Round a number that is only a guess: to fives from ten on, to tens from thirty on."""
    step = 1 if exchanges < 10 else 5 if exchanges < 30 else 10
    return exchanges // step * step


def _room(window: int, parts: Parts, rules: BudgetRules) -> Room:
    # The answer is written into the same window, so its reserve comes off first.
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
    """A share of a number, rounded down. The share is taken to six decimals: a float such as
    0.29 is a little less than written, and could make the result one too low."""
    return total * round(share * _MILLION) // _MILLION
