"""Whether a model is fit to write summaries: by its size, or by a short trial that is remembered.

In the trial it summarises a talk with planted facts; a summary that loses them is of no use.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
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
TRIAL_TOKENS = 200
FACTS_FOUND = 4
"""Planted facts, of five, that a summary has to keep."""

_SIZE = re.compile(r"(?<![\w.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.IGNORECASE)
_LOCAL = ("embedded", "ollama")
"""Servers whose models may be of any size, whatever they are called."""

_FACTS = ("billing/rates.py", "8473", "invoice_total", "Marta", "Thursday")
_TALK = (
    ("user", "The export fails since the update. Marta needs the numbers on Thursday."),
    ("assistant", "The cause is in billing/rates.py: invoice_total is rounded twice there."),
    ("user", "Then round it once, and let the test server listen on port 8473."),
    ("assistant", "Done: invoice_total is rounded once, and the server listens on port 8473."),
)


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


async def passes(writer: Writes) -> bool:
    """Whether the model keeps planted facts in a summary. ProviderError if it cannot be asked."""
    messages = tuple(
        Message(f"trial{place}", "user" if who == "user" else "assistant", (Text(said),), "")
        for place, (who, said) in enumerate(_TALK)
    )
    request = SummaryRequest(messages, "", "", "", "", TRIAL_TOKENS, DETAILED)
    text = ""
    try:
        async with aclosing(writer.summarise(request)) as steps:
            async for step in steps:
                text = str(getattr(step, "text", ""))
    except SummaryFailed:
        return False
    return sum(fact in text for fact in _FACTS) >= FACTS_FOUND
