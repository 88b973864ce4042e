"""How large checkpoints may be: each at its level, and all of them together."""

from __future__ import annotations

from typing import NamedTuple

from ollm_tui.core.session.compression import COMPACT, DETAILED, MODERATE

_SHARES = {DETAILED: 3, MODERATE: 6, COMPACT: 12}
"""A checkpoint may take one part in so many of what all together may."""
LEAST_TOKENS = 48
"""A checkpoint needs some words to say anything at all."""
LEAST_CAP = 3 * LEAST_TOKENS
"""Where less is allowed for all of them, nothing could ever be compressed."""
SURE_SHARE = 0.95
"""Of what is allowed: what a template adds is only known better later."""
_AGES = ((6, COMPACT), (3, MODERATE))
"""Compressions since, and the level a checkpoint then has at most."""


class Sizes(NamedTuple):
    """Tokens."""

    cap: int
    """All checkpoints together."""
    new: int
    """The one that is made now."""

    @classmethod
    def of(cls, cap: int, replaced: int) -> Sizes:
        """For a checkpoint that takes the place of so many tokens: it is at most half of them."""
        cap = max(int(cap * SURE_SHARE), LEAST_CAP)
        most = max(LEAST_TOKENS, cap // _SHARES[DETAILED])
        return cls(cap, min(most, replaced // 2))

    def at_level(self, level: int) -> int:
        """A checkpoint of that level."""
        return max(LEAST_TOKENS, self.cap // _SHARES.get(level, _SHARES[COMPACT]))


def level_at_age(age: int) -> int:
    """The most a checkpoint may still tell after so many compressions."""
    return next((level for old, level in _AGES if age >= old), DETAILED)
