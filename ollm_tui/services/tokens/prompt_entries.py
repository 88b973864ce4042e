"""What is known of the single messages of a prompt, and of the prompts they were part of."""

from __future__ import annotations

from typing import NamedTuple

from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.services.tokens.prompt_count import Source

MOST_BYTES_PER_TOKEN = 10
"""More than any vocabulary puts into a token on average, in any language (Hindi: 8.8)."""


class Entry:
    """What is known of one message, or of the tool descriptions (then `messages` is 0)."""

    __slots__ = ("careful", "images", "is_plain", "messages", "plain", "settled", "texts")

    def __init__(
        self, texts: list[str], images: int, messages: int, *, is_plain: bool = True
    ) -> None:
        self.is_plain = is_plain
        """Whether templates write it as it is: a text in one role. What they make of tools, of
        calls and results is theirs to know; only a prompt that was read tells its length."""
        self.texts = texts
        """The texts to count; emptied when the tokenizer has counted them."""
        self.careful = sum(map(careful_estimate, texts))
        self.images = images
        """Tokens of its images, by what the provider usually counts."""
        self.messages = messages
        self.plain: int | None = None
        """Tokens of its texts by the tokenizer; None until they are counted."""
        self.settled: int | None = None
        """Its share of a prompt that was measured; None before, and where it is plain text that is
        counted with the model's vocabulary."""

    @property
    def is_known(self) -> bool:
        """Whether its tokens were measured or counted, and not only estimated."""
        return self.settled is not None or self.plain is not None

    @property
    def is_counted(self) -> bool:
        """Whether the vocabulary says all about it: it is plain text, and was counted."""
        return self.is_plain and self.plain is not None

    @property
    def least(self) -> float:
        """The fewest tokens that any vocabulary makes of its texts, as far as is known."""
        if not self.messages:
            return self.settled or 0  # a template may write tools far shorter than as JSON
        if self.is_known:
            return self.settled or self.plain or 0
        return sum(len(valid_bytes(text)) for text in self.texts) / MOST_BYTES_PER_TOKEN


class Known(NamedTuple):
    """The last prompt whose length is no estimate."""

    entries: list[Entry]
    before: int
    """How many of the first entries another known prompt consists of."""
    base: int
    """The tokens of that prompt; those of the template where there is none."""
    new: list[Entry]
    """Those of its entries that no earlier prompt had told the length of."""
    tokens: int
    source: Source
    is_learnt: bool
    """Whether all its texts were counted when it was learnt from; if not, it is learnt from again
    as soon as they are."""

    @property
    def added(self) -> list[Entry]:
        """The entries that the prompt it begins with does not have."""
        return self.entries[self.before :]


class Tally(NamedTuple):
    """The running count of a prompt, entry by entry."""

    chain: int
    """Stands for all entries so far, in their order."""
    sums: tuple[int, ...]
    """The tokens of each group."""
    length: int = 0
    """How many entries there are."""
    told: int | None = None
    """The tokens of the longest beginning whose length is known."""
    told_after: int = 0
    """How many entries that beginning has."""
    more: int = 0
    """The tokens of the entries after it, or of all of them."""
    is_counted: bool = True
    """Whether all entries after it were counted to the token."""
    source: Source = "estimated"
    """Where `told` is from."""


def valid_bytes(text: str) -> bytes:
    """Return the bytes of a text, with a mark for what no server could be sent."""
    return text.encode("utf-8", "replace")
