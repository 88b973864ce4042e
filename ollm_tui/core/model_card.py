"""What is known of a hosted model without asking its server: its window, abilities and prices."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from ollm_tui.core.session.message import Usage

MILLION = 1_000_000
_DATE = re.compile(r"-\d{8}$|-\d{4}-\d{2}-\d{2}$|-latest$")
_REGION = re.compile(r"^(?:us|eu|apac|au|jp|ca|global|us-gov)\.")
"""What Amazon puts before the id of a model that answers in several regions."""


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Prices in US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Of input from the cache; None if that costs as much as other input."""
    cache_write: float | None = msgspec.field(default=None, name="cacheWrite")
    """Of input that is put into the cache; None if that costs as much as other input."""

    def cost(self, usage: Usage) -> float:
        """Return what a request costs, in US dollars."""
        cached, written = usage.cached_tokens or 0, usage.cache_written_tokens or 0
        fresh = max(0, usage.input_tokens - cached - written)
        dollars = fresh * self.input + usage.output_tokens * self.output
        dollars += cached * (self.input if self.cached is None else self.cached)
        dollars += written * (self.input if self.cache_write is None else self.cache_write)
        return dollars / MILLION


class LongRates(msgspec.Struct, frozen=True, kw_only=True):
    """Prices of a request whose input is longer than so many tokens; None as for a shorter one."""

    tokens: int
    input: float | None = None
    output: float | None = None
    cached: float | None = None
    cache_write: float | None = msgspec.field(default=None, name="cacheWrite")


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one model; None where nothing is."""

    input: float | None = None
    output: float | None = None
    cached: float | None = None
    cache_write: float | None = msgspec.field(default=None, name="cacheWrite")
    above: LongRates | None = None
    window: int | None = None
    max_output: int | None = msgspec.field(default=None, name="maxOutput")
    can: tuple[str, ...] = ()
    """Its abilities, of "tools", "images" and "thinking"."""

    def rates(self, input_tokens: int = 0) -> Rates | None:
        """Return the prices of a request with so much input; None if they are unknown."""
        if self.input is None or self.output is None:
            return None
        plain = Rates(
            input=self.input,
            output=self.output,
            cached=self.cached,
            cache_write=self.cache_write,
        )
        if self.above is None or input_tokens <= self.above.tokens:
            return plain
        return Rates(
            input=_given(self.above.input, plain.input),
            output=_given(self.above.output, plain.output),
            cached=plain.cached if self.above.cached is None else self.above.cached,
            cache_write=plain.cache_write
            if self.above.cache_write is None
            else self.above.cache_write,
        )


class ModelCards(msgspec.Struct, frozen=True, kw_only=True):
    """The table of known models, by kind of provider; it is as old as its date."""

    as_of: str = msgspec.field(default="", name="asOf")
    models: Mapping[str, Mapping[str, ModelCard]] = {}

    def find(self, kind: str, model: str) -> ModelCard | None:
        """Return the card of a model, also under its name with a date or a region."""
        known = self.models.get(kind, {})
        bare = model.removeprefix("models/")
        plain = _REGION.sub("", bare)
        for name in (bare, plain, _DATE.sub("", bare)):
            if name in known:
                return known[name]
        return None


FindCard = Callable[[str], ModelCard | None]
"""Returns what is known of a model of one provider."""


def no_card(_model: str) -> ModelCard | None:
    """Find nothing."""
    return None


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
