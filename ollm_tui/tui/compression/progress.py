"""The progress of a compression: what its events have said so far, for the views that draw it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import assert_never

from ollm_tui.core.compression_events import (
    STAGES,
    AnyCompressionEvent,
    CheckpointAged,
    CheckpointCreated,
    CompressionCancelled,
    CompressionDrafted,
    CompressionFailed,
    CompressionSkipped,
    CompressionStarted,
    ContextCompressed,
    DataElided,
    LedgerMade,
    MessageFolded,
    Outcome,
    SnapshotTaken,
    Stage,
    StageReached,
    SummaryArrived,
    SummaryReading,
    SummaryRejected,
    UserMessagesFill,
)
from ollm_tui.core.counts import percent
from ollm_tui.core.intake import IntakeFilter, clean
from ollm_tui.core.session.compression import Checkpoint
from ollm_tui.tui.compression.words import Ending, What, fill_line, rejection_line

WHATS: tuple[What, ...] = ("keep", "fold", "elide", "age")
Clock = Callable[[], float]
"""Seconds, counted from anywhere."""


class CompressionProgress:
    """The state of one compression, as its events have made it so far."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._ended: float | None = None
        self._words: list[str] = []
        self._intake = IntakeFilter()
        self._outcomes: dict[What, list[Outcome]] = {what: [] for what in WHATS}
        self._tokens: dict[What, tuple[int, int]] = dict.fromkeys(WHATS, (0, 0))
        self.started: CompressionStarted | None = None
        self.numbers: dict[str, int] = {}
        """The messages to fold, with their numbers among all messages of the prompt."""
        self.stage: Stage = "identify"
        self.folded: list[str] = []
        """The messages folded so far, in the order in which they went to the summariser."""
        self.ledger = ""
        self.facts: Sequence[str] = ()
        """The lines of the ledger, each a fact."""
        self.problems: list[str] = []
        """What went wrong on the way, and what only the user can change, in words."""
        self.reading: SummaryReading | None = None
        """What the model reads before it writes; None while it does not."""
        self.rejected = ""
        """The last summary that was rejected; the user may still edit and use it."""
        self.checkpoint: Checkpoint | None = None
        self.ending: Ending | None = None
        self.is_edited = False
        """Whether the user has changed the summary of the draft, which nobody has counted yet."""

    def take(self, event: AnyCompressionEvent) -> None:
        """Take in one event."""
        match event:
            case CompressionStarted():
                self._begin(event)
            case StageReached():
                self.stage = event.stage
            case MessageFolded():
                self.folded.append(event.message_id)
            case SummaryReading():
                self.reading = event
            case SummaryArrived():
                self.reading = None
                self._write(event)
            case SummaryRejected():
                self.reading = None
                self.rejected = clean(event.text) or self.rejected
                self.problems.append(rejection_line(event))
            case LedgerMade():
                self.ledger = clean(event.text)
                lines = (" ".join(line.split()) for line in self.ledger.splitlines())
                self.facts = [line for line in lines if line]
            case CheckpointCreated():
                self.checkpoint = event.checkpoint
            case UserMessagesFill():
                self.problems.append(fill_line(event))
            case SnapshotTaken() | DataElided() | CheckpointAged():
                pass  # the stages and outcomes say the same
            case (
                ContextCompressed()
                | CompressionDrafted()
                | CompressionSkipped()
                | CompressionFailed()
                | CompressionCancelled()
            ):
                self.ending = event
                self._ended = self._clock()
            case _:
                assert_never(event)

    @property
    def is_running(self) -> bool:
        """Whether it has begun and not ended."""
        return self.started is not None and self.ending is None

    @property
    def can_be_held(self) -> bool:
        """Whether it can still stop before it is applied; not while a turn waits for it."""
        in_turn = self.started is not None and self.started.trigger == "overflow"
        return self.is_running and not in_turn and self.stage != "apply"

    @property
    def seconds(self) -> int:
        """How many whole seconds it has taken so far."""
        return max(int((self._ended or self._clock()) - self._began), 0)

    @property
    def stage_number(self) -> int:
        """The number of the present stage, from 1 on."""
        return STAGES.index(self.stage) + 1

    @property
    def summary(self) -> str:
        """The summary as far as it is written."""
        if len(self._words) > 1:
            self._words = ["".join(self._words)]
        return self._words[0] if self._words else ""

    @property
    def before_tokens(self) -> int:
        """The tokens of the prompt before; 0 until it has begun."""
        return self.started.before_tokens if self.started else 0

    @property
    def after_tokens(self) -> int:
        """The tokens of the prompt afterwards; expected ones until `is_exact`."""
        match self.ending:
            case ContextCompressed(compression=made):
                return made.after_tokens
            case CompressionDrafted(draft=draft):
                return draft.compression.after_tokens
            case _:
                return self.started.expected_tokens if self.started else 0

    @property
    def is_exact(self) -> bool:
        """Whether the tokens afterwards are counted, not expected."""
        return isinstance(self.ending, ContextCompressed | CompressionDrafted)

    def outcomes(self, what: What) -> list[Outcome]:
        """Return the messages and checkpoints with this outcome, in the order of the prompt."""
        return self._outcomes[what]

    def tokens(self, what: What) -> tuple[int, int]:
        """Return the tokens that these take before and after."""
        return self._tokens[what]

    @property
    def always_sent(self) -> int:
        """The tokens of what is neither a message nor an older checkpoint."""
        return max(self.before_tokens - sum(before for before, _ in self._tokens.values()), 0)

    def _begin(self, event: CompressionStarted) -> None:
        """Sort the outcomes once: they are drawn many times, and there may be thousands."""
        self.started = event
        number = 0
        for outcome in event.outcomes:
            self._outcomes[outcome.what].append(outcome)
            number += outcome.what != "age"
            if outcome.what == "fold":
                self.numbers[outcome.key] = number
        self._tokens = {what: tokens_of(outcomes) for what, outcomes in self._outcomes.items()}

    def _write(self, event: SummaryArrived) -> None:
        if event.begins:
            self._words.clear()
            self._intake = IntakeFilter()
        self._words.append(self._intake.feed(event.text))


def tokens_of(outcomes: Sequence[Outcome]) -> tuple[int, int]:
    """Return the tokens of some outcomes before and after."""
    return sum(outcome.tokens for outcome in outcomes), sum(outcome.after for outcome in outcomes)


def reading_words(progress: CompressionProgress) -> str:
    """Return how much the model reads before it writes; empty while it does not."""
    reading = progress.reading
    if reading is None or not progress.is_running:
        return ""
    done = "" if reading.fraction is None else f", {percent(reading.fraction)}"
    what = "Testing this model: reading" if reading.trial else "Reading"
    return f"{what} {reading.tokens:,} tokens{done}"
