"""What measured prompts teach about a model: what its chat template adds, how it reads text."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from ollm_tui.storage.files.json_file import JsonFile, with_newest

DECAY = 0.8
"""The weight that earlier samples keep when a new one is added."""
LEAST_TEXT = 50
"""Tokens from which on a text says more about the vocabulary than about the template."""
# Bounds for what one sample may teach, so that a wrong measurement does no lasting harm.
_FEWEST_PER_PLAIN, _MOST_PER_PLAIN = 0.3, 8.0
_FEWEST_PER_CAREFUL, _MOST_PER_CAREFUL = 0.1, 2.0
_MOST_PER_MESSAGE, _MOST_PER_REQUEST = 40, 400
"""More tokens than any template adds: larger numbers come from something else."""

Tokens = Annotated[float, Meta(ge=0, le=1e12)]
Overhead = Annotated[int, Meta(ge=-_MOST_PER_REQUEST, le=_MOST_PER_REQUEST)]


class Learnt(msgspec.Struct, frozen=True, rename="camel"):
    """What was measured about one model; stored as JSON under the model's name.

    `plain`, `careful` and `read` are decaying sums over the same texts: their tokens by the
    general vocabulary, by the cautious estimate, and as the model itself counted them. `plain` is
    0 as long as no vocabulary had to be loaded.
    """

    request: Overhead = 4
    """Tokens that the template adds to every prompt."""
    per_message: Overhead = 4
    """Tokens that it adds to each message, besides the name of its role."""
    read: Tokens = 0.0
    plain: Tokens = 0.0
    careful: Tokens = 0.0
    agreed: bool = False
    """Whether the last count by the model's own vocabulary was right to the token."""
    tools: Annotated[float, Meta(ge=0, le=10)] = 0.0
    """What the template makes of one token of the cautious estimate of tools; 0 if unknown."""
    takes_tools: bool = True
    """False once its server has refused a request because of its tools."""
    summarises: bool | None = None
    """Whether it passed the trial of summaries; None before it was tried."""

    @property
    def rate(self) -> float:
        """The tokens that the model makes of one token of the cautious estimate."""
        return self.read / self.careful if min(self.read, self.careful) > 0 else 1.0

    def text_tokens(self, plain: int | None, careful: float) -> float:
        """Return how many tokens the model will make of a text, given both estimates of it.

        As long as nothing is known this is the larger one. Later both are scaled, and the one
        that the model came nearer to counts more. `plain` is None where nobody counted the text.
        """
        by_careful = careful * self.rate
        if plain is None:
            return by_careful
        if min(self.read, self.plain, self.careful) <= 0:
            return max(plain, by_careful)
        by_plain = plain * self.read / self.plain
        span = self.careful - self.plain
        weight = min(1.0, max(0.0, (self.read - self.plain) / span)) if span > 0 else 0.0
        return (1 - weight) * by_plain + weight * by_careful

    def with_text(self, read: int, plain: int | None, careful: float) -> Learnt:
        """Return this with one more sample: a text that the model counted as `read` tokens."""
        if plain is None:
            within = min(max(read, careful * _FEWEST_PER_CAREFUL), careful * _MOST_PER_CAREFUL)
            # What is known about the vocabulary stays as it is: the sample says nothing of it.
            counted = within * self.plain / self.read if self.read > 0 else 0.0
            return self._with_sample(within, counted, careful)
        within = min(max(read, plain * _FEWEST_PER_PLAIN), plain * _MOST_PER_PLAIN)
        # Samples without `plain` would spoil its share of `read`: the first one starts anew.
        before = self if self.plain > 0 else replace(self, read=0.0, careful=0.0)
        return before._with_sample(within, plain, careful)

    def _with_sample(self, read: float, plain: float, careful: float) -> Learnt:
        return replace(
            self,
            read=self.read * DECAY + read,
            plain=self.plain * DECAY + plain,
            careful=self.careful * DECAY + careful,
        )

    def with_request(self, request: int) -> Learnt:
        """Return this with another number of tokens that the template adds to a prompt."""
        return replace(self, request=_within(request, 0, _MOST_PER_REQUEST))

    def with_tools(self, rate: float) -> Learnt:
        """Return this after the descriptions of tools took `rate` of their cautious estimate."""
        return replace(self, tools=min(rate, _MOST_PER_CAREFUL))

    def with_around(self, per_message: int) -> Learnt:
        """Return this with another number of tokens that the template adds to each message."""
        return replace(self, per_message=_within(per_message, 0, _MOST_PER_MESSAGE))


def _within(number: int, least: int, most: int) -> int:
    return min(max(number, least), most)


FILE = "token-counts.json"
VERSION = 1
MOST_MODELS = 200
"""Above this the models used longest ago are forgotten."""

log = logging.getLogger(__name__)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file, the model that was used last at the end."""

    version: int
    models: dict[str, Learnt]


class ModelMemory:
    """Remembers in a directory, or without one in memory until the program ends."""

    def __init__(self, directory: Path | None) -> None:
        path = directory and directory / FILE
        self._file = JsonFile(path, _File, VERSION, log, "token counts")
        self._known: dict[str, Learnt] = {}

    def recall(self, model: str) -> Learnt:
        """What is known about a model, or the defaults if nothing is."""
        if model in self._known:
            return self._known[model]
        return self._read().get(model, Learnt())

    def keep(self, model: str, learnt: Learnt) -> None:
        """Remember what was learnt; what other instances wrote about other models stays."""
        self._known[model] = learnt
        newest = with_newest(self._read(), model, learnt, MOST_MODELS)
        self._file.write(_File(VERSION, newest))

    def _read(self) -> dict[str, Learnt]:
        file = self._file.read()
        return file.models if file else {}
