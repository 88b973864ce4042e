"""Counting with a vocabulary: the one that comes with the program, or a model's own.

tiktoken is loaded late: it and its tables take longer than the first paint may.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Generator, Mapping
from copy import copy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol, cast

from ollm_tui.core.vocabulary import Vocabulary
from ollm_tui.services.tokens.splitting import GPT_4O, SPLITTING

GENERIC_FILE = Path(__file__).parent / "o200k_base.xz"
CHUNK_CHARACTERS = 50_000
"""Longer runs of blanks exhaust the stack of tiktoken's regular expressions."""


class _Encoding(Protocol):
    def encode(
        self, text: str, *, allowed_special: Literal["all"], disallowed_special: tuple[()]
    ) -> list[int]: ...


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
        self._silent = max((*ranks.values(), *specials.values())) + 1
        # Some vocabularies lack bytes. tiktoken needs them all; servers leave them out.
        bytes_left = (byte for byte in map(_one_byte, range(256)) if byte not in ranks)
        missing = {byte: self._silent + place for place, byte in enumerate(bytes_left)}
        make = cast(Callable[..., _Encoding], cast(Any, import_module("tiktoken")).Encoding)
        self._encoding = make(
            "own" if own else "generic",
            pat_str=splitting,
            mergeable_ranks={**ranks, **missing},
            special_tokens=dict(specials),
        )

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
        found: list[int] = []
        for chunk in _chunks(text):
            found += self._encoding.encode(chunk, allowed_special="all", disallowed_special=())
        if found and max(found) >= self._silent:
            found = [token for token in found if token < self._silent]
        return found

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        return len(self.tokens(text))

    def count_below_newline(self, text: str) -> int:
        """The same where templates put it: a text that begins with blanks joins the newline."""
        return self.count(f"\n{text}") - self.count("\n")


def generic_ranks() -> dict[bytes, int]:
    """The tokens of the vocabulary that comes with the program, and their ranks."""
    data = lzma.decompress(GENERIC_FILE.read_bytes())
    ranks: dict[bytes, int] = {}
    place = 0
    while place < len(data):
        start = place + 1
        place = start + data[place]
        ranks[data[start:place]] = len(ranks)
    return ranks


def _chunks(text: str) -> Generator[str, None, None]:
    """Pieces short enough to be safe, cut before a blank where words are split anyway."""
    start = 0
    while len(text) - start > CHUNK_CHARACTERS:
        end = start + CHUNK_CHARACTERS
        cut = text.rfind(" ", start + 1, end)
        end = cut if cut > 0 else end
        yield text[start:end]
        start = end
    yield text[start:]


def _one_byte(number: int) -> bytes:
    return bytes((number,))


def _bytes_by_character() -> dict[str, int]:
    """How vocabularies write bytes: printable ones as they are, the others from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (byte for byte in range(256) if byte not in printable)
    return {
        **{chr(byte): byte for byte in printable},
        **{chr(0x100 + place): byte for place, byte in enumerate(others)},
    }
