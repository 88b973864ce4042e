"""Checkpoints: how they are made, aged and merged, always within their size in tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.compression import COMPACT, DETAILED, MODERATE, Checkpoint, Ledger
from ollm_tui.core.session.message import Message, new_id
from ollm_tui.engine.compression.ledger.ledger import merged, rendered
from ollm_tui.engine.compression.summary.summary_syntax import sentences
from ollm_tui.engine.context.prompt_message import checkpoint_text

_SHARES = {DETAILED: 1, MODERATE: 3, COMPACT: 6}
"""By level, the divisor of the cap of all checkpoints that gives the most of one."""
LEAST_TOKENS = 48
"""The smallest size of a checkpoint: with less it could say nothing."""
LEAST_CAP = 3 * LEAST_TOKENS
"""The smallest cap of all checkpoints: with less, nothing could ever be compressed."""
SURE_SHARE = 0.98
"""Share of the cap that is used: what a template adds is only estimated here."""
_AGES = ((6, COMPACT), (3, MODERATE))
"""Pairs of an age in compressions and the highest level a checkpoint has from then on."""


class Sizes(NamedTuple):
    """The sizes of checkpoints in tokens."""

    cap: int
    """The most that all checkpoints together may have."""
    new: int
    """The most that the new checkpoint may have."""

    def at_level(self, level: int) -> int:
        """Return the size of a checkpoint of that level."""
        return max(LEAST_TOKENS, self.cap // _SHARES.get(level, _SHARES[COMPACT]))


def level_at_age(age: int) -> int:
    """Return the highest level a checkpoint may have after so many compressions."""
    return next((level for old, level in _AGES if age >= old), DETAILED)


FACTS_SHARE = 2
"""The divisor of a checkpoint's size that gives the part for the ledger beside a summary."""
LITTLE_MORE = 50
"""The divisor of a checkpoint's size that gives what is cut beyond the excess at first."""
FRAME_TOKENS = 24
"""Tokens of the fixed words around summary and ledger in the prompt, at most."""

Count = Callable[[str], int]
"""Returns the tokens of a text."""


class CheckpointMaker:
    """Makes the checkpoints of one compression."""

    def __init__(
        self, number: int, sizes: Sizes, count: Count, around: int, model: str | None
    ) -> None:
        """`count` gives the tokens of a text, `around` what a template adds to a message."""
        self.sizes = sizes
        self._number = number
        self._count = lru_cache(maxsize=64)(count)
        self._frame = FRAME_TOKENS + around
        self._around = around
        self._model = model

    def facts(self, ledger: Ledger, *, alone: bool) -> str:
        """Return the ledger as text for the new checkpoint, with a summary beside it or alone."""
        room = max(0, self.sizes.new - self._frame)
        return rendered(ledger, room if alone else room // FACTS_SHARE, self._count).text

    def made(
        self,
        folded: Sequence[Message],
        rolled: Sequence[Checkpoint],
        ledger: Ledger,
        summary: str,
        original_tokens: int,
    ) -> Checkpoint:
        """Return the new checkpoint; without a summary its ledger has all of the room."""
        keys = (*(key for each in rolled for key in each.messages), *(m.id for m in folded))
        original = original_tokens + sum(each.original_tokens for each in rolled)
        return self._sized(
            Checkpoint(
                id=new_id(),
                level=DETAILED,
                covers=(keys[0], keys[-1]),
                messages=keys,
                summary=summary,
                ledger=ledger,
                facts="",
                original_tokens=original,
                current_tokens=0,
                compression_number=self._number,
                created_at=clock.now(),
                model=self._model if summary else None,
            ),
            self.sizes.new,
        )

    def room_beside(self, facts: str) -> int:
        """Return the tokens that the summary of the new checkpoint may have beside its ledger."""
        return max(0, self.sizes.new - self._frame - self._count(facts))

    def aged(self, checkpoint: Checkpoint) -> Checkpoint:
        """Return an older checkpoint at the level of its age, its quotes shortened if need be.

        Returns the same object if its level stays.
        """
        level = min(checkpoint.level, level_at_age(self._number - checkpoint.compression_number))
        if level == checkpoint.level:
            return checkpoint
        older = replace(checkpoint, id=new_id(), level=level)
        most = self.sizes.at_level(level)
        return self._sized(older, most) if older.current_tokens > most else older

    def merged(self, first: Checkpoint, second: Checkpoint, size: int) -> Checkpoint:
        """Return one checkpoint of `size` tokens that replaces two adjacent ones."""
        together = Checkpoint(
            id=new_id(),
            level=min(first.level, second.level),
            covers=(first.covers[0], second.covers[1]),
            messages=(*first.messages, *second.messages),
            summary="\n".join(each.summary for each in (first, second) if each.summary),
            ledger=merged(first.ledger, second.ledger),
            facts="",
            original_tokens=first.original_tokens + second.original_tokens,
            current_tokens=0,
            # The age of the older one: merging must not make its content young again.
            compression_number=first.compression_number,
            created_at=clock.now(),
            model=second.model or first.model,
        )
        return self._sized(together, size)

    def within(self, checkpoint: Checkpoint, size: int) -> Checkpoint:
        """Return a checkpoint cut down to a size in tokens."""
        return self._sized(replace(checkpoint, id=new_id()), size)

    def shares(self, older: Sequence[Checkpoint], room: int) -> list[int]:
        """Return how many tokens each older checkpoint may keep so that they fit into `room`.

        The longest are cut first, and of those the oldest most.
        """
        ages = (max(1, self._number - each.compression_number) for each in older)
        weights = [1 / age for age in ages]
        sizes = [each.current_tokens for each in older]
        low, high = 0.0, float(max(sizes, default=0)) / min(weights, default=1)
        for _ in range(20):
            level = (low + high) / 2
            taken = sum(min(size, level * w) for size, w in zip(sizes, weights, strict=True))
            low, high = (level, high) if taken <= room else (low, level)
        return [int(min(size, low * w)) for size, w in zip(sizes, weights, strict=True)]

    def _sized(self, checkpoint: Checkpoint, size: int) -> Checkpoint:
        """Return a checkpoint cut down to its size.

        The tokens of a text are not the sum of those of its parts, so the whole is counted and
        cut down until it fits.
        """
        frame = checkpoint_text(replace(checkpoint, summary="…", facts=""))
        room = size - self._count(frame) - self._around
        made = self._filled(checkpoint, room)
        more = max(size // LITTLE_MORE, 1)
        while room > 0 and made.current_tokens > size:
            # By more each time, so that few tries are needed: each of them counts tokens again.
            room -= made.current_tokens - size + more
            more *= 3
            made = self._filled(checkpoint, room)
        return made

    def _filled(self, checkpoint: Checkpoint, room: int) -> Checkpoint:
        """Return a checkpoint with the whole sentences and the ledger that fit into `room`."""
        most = room - room // FACTS_SHARE if checkpoint.ledger.facts else room
        summary = shortened(checkpoint.summary, most, self._count)
        left = room - self._count(summary) if summary else room
        told = rendered(checkpoint.ledger, max(0, left), self._count)
        # What a server compacted stands for the longer text, so it goes too.
        made = replace(
            checkpoint, summary=summary, facts=told.text, ledger=told.ledger, compacted=None
        )
        return replace(made, current_tokens=self._count(checkpoint_text(made)) + self._around)


def shortened(text: str, most: int, count: Count) -> str:
    """Return the first whole sentences of a text that have at most `most` tokens together."""
    if most <= 0 or not text.strip():
        return ""
    if count(text) <= most:
        return text
    kept: list[str] = []
    used = 0
    for sentence in sentences(text):
        used += count(sentence) + 1
        if used > most:
            break
        kept.append(sentence)
    return " ".join(kept)
