"""Whether a model is fit to write summaries: by its size, or by a short trial that is remembered.

In the trial it summarises a talk with planted facts; a summary that loses them is of no use.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Literal, Protocol

from ollm_tui.core.session.compression import DETAILED
from ollm_tui.core.session.message import Message, Text
from ollm_tui.engine.compression.summary.summary_guard import SummaryFailed
from ollm_tui.engine.compression.summary.summary_request import SummaryRequest
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.services.tokens.counter import TokenCounter
from ollm_tui.settings.schema import Compression

Fitness = Literal["fit", "unfit", "untried"]

FIT_BILLIONS = 4.0
"""Parameters from which on a model is taken for fit. Models of 1.5 added nothing to the ledger."""
UNFIT_BILLIONS = 1.0
"""Below this it is not even tried."""
TRIAL_TOKENS = 120
"""The most of the summary: half of what is summarised."""
FACTS_FOUND = 5
"""Planted facts, of six, that a summary has to keep."""

_SIZE = re.compile(r"(?<![\w.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.IGNORECASE)
_LOCAL = ("embedded", "ollama")
"""Servers whose models may be of any size, whatever they are called."""

_FACTS = ("billing/rates.py", "9180", "invoice_total", "Marta", "Thursday", "March")
_TALK = (
    ("user", "The export fails since the update. Marta needs the numbers on Thursday."),
    (
        "assistant",
        "I read the log and billing/export.py. The clock of the server may be the cause.",
    ),
    ("user", "The clock is right, I have checked it."),
    (
        "assistant",
        "Then the cause is in billing/rates.py: invoice_total is rounded twice there. The export "
        "only copies what it gets. It had 212 rows before the update and has 209 now; three are "
        "lost where the sum becomes zero.",
    ),
    ("user", "Then round it once, and let the test server listen on port 8473."),
    ("assistant", "invoice_total is rounded once now. The test server listens on port 8473."),
    ("user", "8473 belongs to the mail gateway. Take 9180 instead."),
    ("assistant", "The test server listens on 9180. All 31 tests pass and the export is whole."),
    ("user", "Good. Leave the old invoices alone. Only the report for March is still missing."),
    ("assistant", "I leave the old invoices as they are. The report for March is open."),
)
"""A cause is refuted and a number replaced: who copies the beginning does not get the facts."""


class Writes(Protocol):
    """Writes summaries, as steps of which the last that has a `text` is the summary."""

    def summarise(self, request: SummaryRequest) -> AsyncGenerator[object, None]:
        """Yield the steps of writing a summary."""
        ...


def fitness(choice: ModelChoice, counter: TokenCounter, settings: Compression) -> Fitness:
    """Return whether a model may write summaries, as far as that is known without asking it."""
    if settings.summaries != "auto":
        return "fit" if settings.summaries == "always" else "unfit"
    billions = size_of(choice.model)
    if billions is None:
        known = choice.provider.name not in _LOCAL
    else:
        known = billions >= FIT_BILLIONS
        if billions < UNFIT_BILLIONS:
            return "unfit"
    if known or counter.summarises:
        return "fit"
    return "untried" if counter.summarises is None else "unfit"


def size_of(model: str) -> float | None:
    """Return the billions of parameters that the name of a model tells; None if it does not."""
    found = _SIZE.search(model)
    if found is None:
        return None
    billions = float(found[2]) * int(found[1] or 1)
    return billions if found[3] in "bB" else billions / 1000


class SummaryTrial:
    """The trial of one model; afterwards `passed` tells how it went."""

    def __init__(self, writer: Writes, remember: Callable[[bool], Awaitable[None]]) -> None:
        self._writer = writer
        self._remember = remember
        self.passed = False

    async def steps(self) -> AsyncGenerator[object, None]:
        """Yield the steps of the writer, then remember whether the summary keeps planted facts.

        ProviderError if the model cannot be asked: then nothing is remembered.
        """
        messages = tuple(
            Message(f"trial{place}", "user" if who == "user" else "assistant", (Text(said),), "")
            for place, (who, said) in enumerate(_TALK)
        )
        request = SummaryRequest(messages, "", "", "", "", TRIAL_TOKENS, DETAILED)
        text = ""
        try:
            async with aclosing(self._writer.summarise(request)) as steps:
                async for step in steps:
                    text = str(getattr(step, "text", ""))
                    yield step
        except SummaryFailed:
            text = ""
        self.passed = sum(fact in text for fact in _FACTS) >= FACTS_FOUND
        await self._remember(self.passed)
