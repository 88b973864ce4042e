"""Checkpoints as they are made, grow old and are merged: always within their size."""

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


FACTS_SHARE = 2
"""Of a checkpoint's size: one part in so many is for the facts, where there is a summary too."""
FRAME_TOKENS = 24
"""What stands around summary and facts, in the prompt's own words, at most."""
UNSEEN_FACTS = 40
"""So many facts that have no room in the prompt are kept: older ones may go, and make room."""

Count = Callable[[str], int]


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
        """The facts as they stand in the new checkpoint, beside a summary."""
        return rendered(ledger, self._facts_room, self._count)

    def made(
        self,
        folded: Sequence[Message],
        rolled: Sequence[Checkpoint],
        ledger: Ledger,
        summary: str,
        original_tokens: int,
    ) -> Checkpoint:
        """The new checkpoint; without a summary the facts have all of its room."""
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
        """Tokens the summary of the new checkpoint may have beside its facts."""
        return max(0, self.sizes.new - self._frame - self._count(facts))

    def wants_aging(self, checkpoint: Checkpoint) -> bool:
        """Whether an older checkpoint has to become shorter because of its age."""
        return level_at_age(self._number - checkpoint.compression_number) < checkpoint.level

    def wants_shortening(self, checkpoint: Checkpoint) -> bool:
        """Whether it says more than it may at its age; many are short from the beginning."""
        return checkpoint.current_tokens > self.sizes.at_level(self._level(checkpoint))

    def aged(self, checkpoint: Checkpoint, summary: str | None = None) -> Checkpoint:
        """An older checkpoint at the level of its age, with another summary if it is cut down."""
        level = self._level(checkpoint)
        older = replace(checkpoint, id=new_id(), level=level)
        if summary is None:
            return older
        return self._sized(replace(older, summary=summary), self.sizes.at_level(level))

    def merged(self, first: Checkpoint, second: Checkpoint, summary: str, size: int) -> Checkpoint:
        """One checkpoint in the place of two that follow one another."""
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
            compression_number=first.compression_number,
            created_at=clock.now(),
            model=second.model or first.model,
        )
        return self._sized(together, size)

    def within(self, checkpoint: Checkpoint, size: int) -> Checkpoint:
        """An older checkpoint cut down to a size."""
        return self._sized(replace(checkpoint, id=new_id()), size)

    def corrected(self, checkpoint: Checkpoint, newer: Ledger) -> Checkpoint:
        """An older checkpoint without what newer messages superseded; the same if nothing was."""
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
        """A checkpoint within its size. What a server makes of a text is not the sum of what it
        makes of its parts: the whole is counted, and cut down until it fits."""
        frame = checkpoint_text(replace(checkpoint, summary="…", facts=""))
        room = size - self._count(frame) - self._around
        made = self._filled(checkpoint, room)
        while room > 0 and made.current_tokens > size:
            room -= max(made.current_tokens - size, room // 4, 1)
            made = self._filled(checkpoint, room)
        return made

    def _filled(self, checkpoint: Checkpoint, room: int) -> Checkpoint:
        """Facts first, then as many sentences as there is room."""
        has_summary = bool(checkpoint.summary.strip())
        facts_room = room // FACTS_SHARE if has_summary else room
        facts = rendered(checkpoint.ledger, max(0, facts_room), self._count)
        summary = shortened(checkpoint.summary, room - self._count(facts), self._count)
        if has_summary:  # what the summary leaves is for more facts
            facts = rendered(checkpoint.ledger, max(0, room - self._count(summary)), self._count)
        ledger = bounded(checkpoint.ledger, facts)
        # What a server compacted tells what the words told before.
        made = replace(checkpoint, summary=summary, facts=facts, ledger=ledger, compacted=None)
        return replace(made, current_tokens=self._count(checkpoint_text(made)) + self._around)

    @property
    def _facts_room(self) -> int:
        return max(0, self.sizes.new - self._frame) // FACTS_SHARE


def ledger_for(
    messages: Sequence[Message], folded: Collection[str], known: KnownFacts | None = None
) -> Ledger:
    """The facts of folded messages as the whole conversation leaves them: what a later message
    changed is not current, and what stays in the prompt need not be said twice."""
    kept = {message.id for message in messages if message.id not in folded}
    return safe(ledger_of(messages, known=known).without_sources(kept))


def bounded(ledger: Ledger, told: str) -> Ledger:
    """A ledger with what is told of it and some of the newest besides: every compression is
    recorded with its ledgers, which would otherwise grow with each."""
    unseen = [
        place for place, fact in enumerate(ledger.facts) if not (fact.current and fact.text in told)
    ]
    dropped = frozenset(unseen[:-UNSEEN_FACTS])
    kept = (fact for place, fact in enumerate(ledger.facts) if place not in dropped)
    return replace(ledger, facts=tuple(kept)) if dropped else ledger


def safe(ledger: Ledger) -> Ledger:
    """Facts of what others said, without orders and without the syntax of calls; the user's own
    words stay as they are."""
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
    """As many whole sentences of a text as so many tokens hold."""
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
