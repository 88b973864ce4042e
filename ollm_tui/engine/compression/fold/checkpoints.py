"""Checkpoints: how they are made, aged and merged, always within their size in tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.compression import COMPACT, DETAILED, MODERATE, Checkpoint, Fact, Ledger
from ollm_tui.core.session.message import Message, new_id
from ollm_tui.engine.compression.ledger.ledger import KnownFacts, ledger_of, merged, rendered
from ollm_tui.engine.compression.summary.summary_syntax import sanitised, sentences
from ollm_tui.engine.context.prompt_message import checkpoint_text

_SHARES = {DETAILED: 3, MODERATE: 6, COMPACT: 12}
"""By level, the divisor of the cap of all checkpoints that gives the size of one."""
LEAST_TOKENS = 48
"""The smallest size of a checkpoint: with less it could say nothing."""
LEAST_CAP = 3 * LEAST_TOKENS
"""The smallest cap of all checkpoints: with less, nothing could ever be compressed."""
SURE_SHARE = 0.95
"""Share of the cap that is used: what a template adds is only estimated here."""
_AGES = ((6, COMPACT), (3, MODERATE))
"""Pairs of an age in compressions and the highest level a checkpoint has from then on."""


class Sizes(NamedTuple):
    """The sizes of checkpoints in tokens."""

    cap: int
    """The most that all checkpoints together may have."""
    new: int
    """The most that the new checkpoint may have."""

    @classmethod
    def of(cls, cap: int, replaced: int) -> Sizes:
        """Return the sizes for a new checkpoint, at most half of the tokens it replaces."""
        cap = max(int(cap * SURE_SHARE), LEAST_CAP)
        most = max(LEAST_TOKENS, cap // _SHARES[DETAILED])
        return cls(cap, min(most, replaced // 2))

    def at_level(self, level: int) -> int:
        """Return the size of a checkpoint of that level."""
        return max(LEAST_TOKENS, self.cap // _SHARES.get(level, _SHARES[COMPACT]))


def level_at_age(age: int) -> int:
    """Return the highest level a checkpoint may have after so many compressions."""
    return next((level for old, level in _AGES if age >= old), DETAILED)


FACTS_SHARE = 2
"""The divisor of a checkpoint's size that gives the part for facts beside a summary."""
FRAME_TOKENS = 24
"""Tokens of the fixed words around summary and facts in the prompt, at most."""
UNSEEN_FACTS = 40
"""Facts kept in a ledger without room in the prompt: others may go and make room for them."""

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

    def facts(self, ledger: Ledger) -> str:
        """Return the facts as text for the new checkpoint, if it has a summary beside them."""
        return rendered(ledger, self._facts_room, self._count)

    def made(
        self,
        folded: Sequence[Message],
        rolled: Sequence[Checkpoint],
        ledger: Ledger,
        summary: str,
        original_tokens: int,
    ) -> Checkpoint:
        """Return the new checkpoint; without a summary its facts have all of the room."""
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
        """Return the tokens that the summary of the new checkpoint may have beside its facts."""
        return max(0, self.sizes.new - self._frame - self._count(facts))

    def wants_aging(self, checkpoint: Checkpoint) -> bool:
        """Whether an older checkpoint has to drop to a lower level because of its age."""
        return level_at_age(self._number - checkpoint.compression_number) < checkpoint.level

    def wants_shortening(self, checkpoint: Checkpoint) -> bool:
        """Whether it is longer than its age allows; many are short from the beginning."""
        return checkpoint.current_tokens > self.sizes.at_level(self._level(checkpoint))

    def aged(self, checkpoint: Checkpoint, summary: str | None = None) -> Checkpoint:
        """Return an older checkpoint at the level of its age, with a shorter summary if given."""
        level = self._level(checkpoint)
        older = replace(checkpoint, id=new_id(), level=level)
        if summary is None:
            return older
        return self._sized(replace(older, summary=summary), self.sizes.at_level(level))

    def merged(self, first: Checkpoint, second: Checkpoint, summary: str, size: int) -> Checkpoint:
        """Return one checkpoint of `size` tokens that replaces two adjacent ones."""
        together = Checkpoint(
            id=new_id(),
            level=min(first.level, second.level),
            covers=(first.covers[0], second.covers[1]),
            messages=(*first.messages, *second.messages),
            summary=summary,
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

    def corrected(self, checkpoint: Checkpoint, newer: Ledger) -> Checkpoint:
        """Return an older checkpoint without facts that newer messages superseded.

        Returns the same object if there are none.
        """
        known = {(fact.kind, fact.text) for fact in checkpoint.ledger.facts}
        facts = tuple(
            fact
            for fact in merged(checkpoint.ledger, newer).facts
            if (fact.kind, fact.text) in known
        )
        if set(facts) == set(checkpoint.ledger.facts):
            return checkpoint
        ledger = replace(checkpoint.ledger, facts=facts)
        changed = replace(checkpoint, id=new_id(), ledger=ledger)
        return self._sized(changed, checkpoint.current_tokens)

    def _level(self, checkpoint: Checkpoint) -> int:
        return min(checkpoint.level, level_at_age(self._number - checkpoint.compression_number))

    def _sized(self, checkpoint: Checkpoint, size: int) -> Checkpoint:
        """Return a checkpoint cut down to its size.

        The tokens of a text are not the sum of those of its parts, so the whole is counted and
        cut down until it fits.
        """
        frame = checkpoint_text(replace(checkpoint, summary="…", facts=""))
        room = size - self._count(frame) - self._around
        made = self._filled(checkpoint, room)
        while room > 0 and made.current_tokens > size:
            # By at least a quarter, so that few tries are needed: each of them counts tokens again.
            room -= max(made.current_tokens - size, room // 4, 1)
            made = self._filled(checkpoint, room)
        return made

    def _filled(self, checkpoint: Checkpoint, room: int) -> Checkpoint:
        """Return a checkpoint with the facts and whole sentences that fit into `room` tokens."""
        has_summary = bool(checkpoint.summary.strip())
        facts_room = room // FACTS_SHARE if has_summary else room
        facts = rendered(checkpoint.ledger, max(0, facts_room), self._count)
        summary = shortened(checkpoint.summary, room - self._count(facts), self._count)
        if has_summary:  # what the summary leaves is for more facts
            facts = rendered(checkpoint.ledger, max(0, room - self._count(summary)), self._count)
        ledger = bounded(checkpoint.ledger, facts)
        # What a server compacted stands for the longer text, so it goes too.
        made = replace(checkpoint, summary=summary, facts=facts, ledger=ledger, compacted=None)
        return replace(made, current_tokens=self._count(checkpoint_text(made)) + self._around)

    @property
    def _facts_room(self) -> int:
        return max(0, self.sizes.new - self._frame) // FACTS_SHARE


def ledger_for(
    messages: Sequence[Message], folded: Collection[str], known: KnownFacts | None = None
) -> Ledger:
    """Return the facts of the folded messages, as the whole conversation leaves them.

    All messages are read, so that what a later one changed is not current; facts of messages
    that stay in the prompt are left out.
    """
    kept = {message.id for message in messages if message.id not in folded}
    return safe(ledger_of(messages, known=known).without_sources(kept))


def bounded(ledger: Ledger, told: str) -> Ledger:
    """Return a ledger with the facts that the text `told` has, and the newest of the others.

    Every compression is recorded with its ledgers, which would otherwise grow without end.
    """
    unseen = [
        place for place, fact in enumerate(ledger.facts) if not (fact.current and fact.text in told)
    ]
    dropped = frozenset(unseen[:-UNSEEN_FACTS])
    kept = (fact for place, fact in enumerate(ledger.facts) if place not in dropped)
    return replace(ledger, facts=tuple(kept)) if dropped else ledger


def safe(ledger: Ledger) -> Ledger:
    """Return a ledger without orders and call syntax in facts that are not the user's words."""
    facts: list[Fact] = []
    for fact in ledger.facts:
        text = fact.text if fact.from_user else _harmless(fact.text)
        if text:
            now = _harmless(fact.now) if fact.now else ""
            same = (text, now) == (fact.text, fact.now)
            facts.append(fact if same else replace(fact, text=text, now=now))
    return replace(ledger, facts=tuple(facts))


def _harmless(text: str) -> str:
    return " ".join(sanitised(text).split())


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
