"""Counting with a vocabulary: the one that comes with the program, or a model's own.

The library that cuts texts with other letters than ASCII's is loaded when there is one.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from copy import copy
from functools import cache, cached_property
from importlib import import_module
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, Protocol, cast

from ollm_tui.core.vocabulary import Vocabulary
from ollm_tui.services.tokens.byte_pairs import BytePairs
from ollm_tui.services.tokens.splitting import (
    GPT_4O,
    OTHER_LETTERS,
    SPLITTING,
    with_ascii_letters,
)

GENERIC_FILE = Path(__file__).parent / "o200k_base.xz"
"""The lengths of all tokens, a byte each, a zero, and the tokens, in the order of their ranks."""
CHUNK_CHARACTERS = 20_000
"""No other thread has its turn while these are cut into words."""


class _Pattern(Protocol):
    def findall(self, string: str) -> list[str]: ...


class Tokenizer:
    """Counts the tokens of texts; any thread may ask. `own` if it is the model's vocabulary."""

    def __init__(
        self,
        splitting: str,
        ranks: Mapping[bytes, int],
        specials: Mapping[str, int],
        *,
        own: bool,
    ) -> None:
        self.own = own
        self._specials = {text: token for text, token in specials.items() if text}
        longest_first = sorted(self._specials, key=len, reverse=True)
        self._special = re.compile(f"({'|'.join(map(re.escape, longest_first))})")
        self._splitting = splitting
        self._ascii_words = with_ascii_letters(splitting)
        self._pairs = BytePairs(ranks)

    @classmethod
    @cache
    def generic(cls) -> Tokenizer:
        """The vocabulary that comes with the program; it takes a moment, once."""
        return cls(GPT_4O, generic_ranks(), {}, own=False)

    def as_own(self) -> Tokenizer:
        """The same tokens, for a model that has just these."""
        same = copy(self)
        same.own = True
        return same

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Tokenizer | None:
        """A model's own; None if its text is split by rules that are not known here."""
        splitting = SPLITTING.get(vocabulary.splitting)
        specials = vocabulary.specials()
        byte_of = _bytes_by_character()
        ranks = {
            bytes(byte_of[character] for character in token): rank
            for rank, token in enumerate(vocabulary.tokens)
            if token and token not in specials and byte_of.keys() >= set(token)
        }
        if splitting is None or not ranks:
            return None
        return cls(splitting, ranks, specials, own=True)

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, numbered as in the vocabulary."""
        return list(chain.from_iterable(chain.from_iterable(self._tokens(text))))

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        return sum(map(len, chain.from_iterable(self._tokens(text))))

    def count_below_newline(self, text: str) -> int:
        """The same where templates put it: a text that begins with blanks joins the newline."""
        return self.count(f"\n{text}") - len(self._pairs["\n"])

    def _tokens(self, text: str) -> Iterator[Iterable[tuple[int, ...]]]:
        """Those of each word. What stands between special tokens is cut into words by itself."""
        parts = self._special.split(text) if self._specials else (text,)
        for place, part in enumerate(parts):
            if place % 2:
                yield ((self._specials[part],),)
                continue
            for chunk in _chunks(part):
                words = self._words if OTHER_LETTERS.search(chunk) else self._ascii_words
                yield map(self._pairs.__getitem__, words.findall(chunk))

    @cached_property
    def _words(self) -> _Pattern:
        # Python's own patterns do not know the classes of letters that vocabularies go by.
        compiled = cast(Callable[[str], _Pattern], cast(Any, import_module("regex")).compile)
        return compiled(self._splitting)


def generic_ranks() -> dict[bytes, int]:
    """The tokens of the vocabulary that comes with the program, and their ranks."""
    lengths, _, tokens = lzma.decompress(GENERIC_FILE.read_bytes()).partition(b"\0")
    places = pairwise(accumulate(lengths, initial=0))
    return {tokens[start:end]: rank for rank, (start, end) in enumerate(places)}


def _chunks(text: str) -> Generator[str, None, None]:
    """Short pieces of a text, cut before a blank where words are split anyway."""
    start = 0
    while len(text) - start > CHUNK_CHARACTERS:
        end = start + CHUNK_CHARACTERS
        cut = text.rfind(" ", start + 1, end)
        end = cut if cut > 0 else end
        yield text[start:end]
        start = end
    yield text[start:]


def _bytes_by_character() -> dict[str, int]:
    """How vocabularies write bytes: printable ones as they are, the others from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (byte for byte in range(256) if byte not in printable)
    return {
        **{chr(byte): byte for byte in printable},
        **{chr(0x100 + place): byte for place, byte in enumerate(others)},
    }
