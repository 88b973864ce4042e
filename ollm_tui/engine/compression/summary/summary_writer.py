"""Summaries for checkpoints: asked for from the model, told as events, done without if need be."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import assert_never

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    MessageFolded,
    SummaryArrived,
    SummaryRejected,
)
from ollm_tui.core.errors import ProviderError
from ollm_tui.engine.compression.summary.summariser import (
    Rejected,
    Summarised,
    Summariser,
    SummaryWanted,
    Took,
    Wrote,
)

FACTS_ALONE = "the facts were kept without a summary"


class SummaryWriter:
    """Writes one summary after the other. A model that cannot be reached is not asked again."""

    def __init__(self, summariser: Summariser | None) -> None:
        self._summariser = summariser
        self.text = ""
        """The last summary; empty if there is none."""
        self.note = ""
        """Why no model was asked, if one should have been."""

    @property
    def asks_model(self) -> bool:
        """Whether a model is asked at all."""
        return self._summariser is not None

    async def write(self, wanted: SummaryWanted) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Have a summary written into `text`. SummaryFailed if what comes is of no use."""
        self.text = ""
        if self._summariser is None:
            for message in wanted.messages:
                yield MessageFolded(message_id=message.id)
            return
        try:
            async with aclosing(self._summariser.summarise(wanted)) as steps:
                async for step in steps:
                    match step:
                        case Took():
                            yield MessageFolded(message_id=step.message_id)
                        case Wrote():
                            yield SummaryArrived(text=step.text, begins=step.begins)
                        case Rejected():
                            yield SummaryRejected(reason=step.reason, again=step.again)
                        case Summarised():
                            self.text = step.text
                        case _:
                            assert_never(step)
        except ProviderError as error:
            self._summariser = None
            self.note = f"{error.message}: {FACTS_ALONE}"
            yield SummaryRejected(reason=self.note, again=False)
