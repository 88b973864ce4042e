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
_MOST_PER_MESSAGE, _MOST_PER_REQUEST = 40, 400
"""More tokens than any template adds: larger numbers come from something else."""

Tokens = Annotated[float, Meta(ge=0, le=1e12)]
Overhead = Annotated[int, Meta(ge=-_MOST_PER_REQUEST, le=_MOST_PER_REQUEST)]


class Learnt(msgspec.Struct, frozen=True, rename="camel"):
    """What was measured about one model; stored as JSON under the model's name.

    `plain`, `careful` and `read` are decaying sums over the same texts: their tokens by the
    general vocabulary, by the cautious estimate, and as the model itself counted them.
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
    takes_tools: bool = True
    """False once its server has refused a request because of its tools."""

    @property
    def knows_text(self) -> bool:
        """Whether any text was measured, so that `text_tokens` can use it."""
        return min(self.read, self.plain, self.careful) > 0

    def text_tokens(self, plain: int, careful: float) -> float:
        """Return how many tokens the model will make of a text, given both estimates of it.

        As long as nothing is known this is the larger one. Later both are scaled, and the one
        that the model came nearer to counts more.
        """
        if not self.knows_text:
            return max(plain, careful)
        by_plain, by_careful = plain * self.read / self.plain, careful * self.read / self.careful
        span = self.careful - self.plain
        weight = min(1.0, max(0.0, (self.read - self.plain) / span)) if span > 0 else 0.0
        return (1 - weight) * by_plain + weight * by_careful

    def with_text(self, read: int, plain: int, careful: float) -> Learnt:
        """Return this with one more sample: a text that the model counted as `read` tokens."""
        within = min(max(read, plain * _FEWEST_PER_PLAIN), plain * _MOST_PER_PLAIN)
        return replace(
            self,
            read=self.read * DECAY + within,
            plain=self.plain * DECAY + plain,
            careful=self.careful * DECAY + careful,
        )

    def with_request(self, request: int) -> Learnt:
        """Return this with another number of tokens that the template adds to a prompt."""
        return replace(self, request=_within(request, 0, _MOST_PER_REQUEST))

    def with_template(self, messages: int, rest: int, before: tuple[int, int] | None) -> Learnt:
        """Return this after a prompt of `messages` messages took `rest` tokens beyond their texts.

        `before` holds these two numbers for an earlier prompt of the conversation: what differs
        between the prompts is due to the messages, what is equal is due to the request.
        """
        per_message = self.per_message
        if before is not None and before[0] != messages:
            slope = (rest - before[1]) / (messages - before[0])
            per_message = _within(round(slope), 0, _MOST_PER_MESSAGE)
        request = _within(rest - per_message * messages, -_MOST_PER_REQUEST, _MOST_PER_REQUEST)
        return replace(self, per_message=per_message, request=request)


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
