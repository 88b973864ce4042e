"""Tokenizers: they count with a vocabulary, a model's own or the general one of this program.

A text is split at special tokens, then into words by the vocabulary's pattern, and each word is
merged into tokens (byte-pair encoding).
"""

from __future__ import annotations

import asyncio
import lzma
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from copy import copy
from functools import cache, cached_property
from heapq import heapify, heappop, heappush
from importlib import import_module
from itertools import accumulate, chain, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, cast

from ollm_tui.core.errors import OllmError
from ollm_tui.core.provider import HasVocabulary, Provider, Vocabulary

GENERIC_FILE = Path(__file__).parent / "o200k_base.xz"
"""The general vocabulary (o200k_base): the lengths of all tokens, one byte each, then a zero byte,
then the tokens themselves; both in the order of their ranks."""
_READS_GENERIC = re.compile(r"(?:.*/)?(?:gpt-4o|gpt-4\.[15]|gpt-5|gpt-oss|chatgpt-4o|o[134])\b.*")
"""Names of the models whose own vocabulary is the general one."""
CHUNK_CHARACTERS = 20_000
"""The most characters that are split into words at once: no other thread runs meanwhile."""
MOST_KEPT, LONGEST_KEPT = 100_000, 64
"""How many words are cached with their tokens, and the most characters of such a word."""

# How vocabularies split text into words before they look for tokens. The patterns are those of the
# vocabularies' own tokenizers: where they differ, counts are wrong.
_SHORT_FORMS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LEAD = r"[^\r\n\p{L}\p{N}]?"
_BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"

GPT_2 = r"'(?:[sdmt]|ll|ve|re)| ?[\p{L}]++| ?[\p{N}]++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
GPT_4O = (
    rf"{_LEAD}{_UPPER}*{_LOWER}+{_SHORT_FORMS}?|{_LEAD}{_UPPER}+{_LOWER}*{_SHORT_FORMS}?"
    rf"|[\p{{N}}]{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_BLANKS}"
)
_DIGITS_APART = (
    # Such vocabularies take out the digits first and split the rest into words afterwards. In one
    # pattern that means that blanks before a digit stay together, as at the end of a text.
    r"[\p{N}]|'(?:[sdmt]|ll|ve|re)| ?[\p{L}]++| ?[^\s\p{L}\p{N}]++|\s++(?=[\p{N}]|$)|\s+(?!\S)|\s"
)
_LLAMA_3 = (
    rf"{_SHORT_FORMS}|{_LEAD}[\p{{L}}]+|[\p{{N}}]{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_BLANKS}"
)
_QWEN_2 = rf"{_SHORT_FORMS}|{_LEAD}[\p{{L}}]+|[\p{{N}}]| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_BLANKS}"
_TEKKEN = (
    rf"{_LEAD}{_UPPER}*{_LOWER}+|{_LEAD}{_UPPER}+{_LOWER}*"
    rf"|[\p{{N}}]| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_BLANKS}"
)

SPLITTING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("gpt-2", "mpt", "olmo", "jais", "phi-2", "roberta-bpe"), GPT_2),
        **dict.fromkeys(("smollm", "starcoder", "refact", "command-r", "codeshell"), _DIGITS_APART),
        **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral"), _LLAMA_3),
        **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "stablelm2", "megrez"), _QWEN_2),
        **dict.fromkeys(("gpt-4o", "llama4"), GPT_4O),
        "tekken": _TEKKEN,
    }
)
"""The patterns by the names that model files (GGUF, `tokenizer.ggml.pre`) give them."""

OTHER_LETTERS = re.compile("[^\0-\x7f\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u26ff]")
"""Matches whatever may be a letter, a digit or a blank beyond ASCII. Dashes, quotes, arrows and box
drawing are left out: they are common in texts otherwise in ASCII, and split like its marks."""
_ASCII_LETTERS: Mapping[str, str] = MappingProxyType(
    {
        r"\p{L}": "A-Za-z",
        r"\p{Lu}": "A-Z",
        r"\p{Ll}": "a-z",
        r"\p{N}": "0-9",
        **dict.fromkeys((r"\p{Lt}", r"\p{Lm}", r"\p{Lo}", r"\p{M}"), ""),
    }
)
"""What is left in ASCII of the classes of letters that the patterns use."""


class Tokenizers:
    """Finds the tokenizer of each model: its own if it can be read, else the general one."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], asyncio.Task[Tokenizer]] = {}
        self._generic: asyncio.Task[Tokenizer] | None = None

    async def of(self, provider: Provider, model: str) -> Tokenizer:
        """Return the tokenizer of a model; concurrent calls wait for the same task."""
        key = (provider.name, model)
        if key not in self._found:
            self._found[key] = asyncio.create_task(self._find(provider, model))
        # A caller that is cancelled must not cancel the task that others wait for.
        return await asyncio.shield(self._found[key])

    async def _find(self, provider: Provider, model: str) -> Tokenizer:
        if isinstance(provider, HasVocabulary):
            own = await _own(provider, model)
            if own is not None:
                return own
        if self._generic is None:
            self._generic = asyncio.create_task(asyncio.to_thread(Tokenizer.generic))
        generic = await self._generic
        return generic.as_own() if _READS_GENERIC.fullmatch(model) else generic


async def _own(provider: HasVocabulary, model: str) -> Tokenizer | None:
    """Return the model's own tokenizer; None if there is none or the server cannot be asked."""
    try:
        vocabulary = await provider.vocabulary(model)
    except OllmError:
        return None
    return vocabulary and await asyncio.to_thread(Tokenizer.of, vocabulary)


class Tokenizer:
    """Counts the tokens of texts, in any thread; `own` if the vocabulary is the model's."""

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
        # A pattern takes the first alternative that fits: a special token may begin like another.
        longest_first = sorted(self._specials, key=len, reverse=True)
        self._special = re.compile(f"({'|'.join(map(re.escape, longest_first))})")
        self._splitting = splitting
        self._ascii_words = with_ascii_letters(splitting)
        self._pairs = BytePairs(ranks)

    @classmethod
    @cache
    def generic(cls) -> Tokenizer:
        """Return the general tokenizer; the first call takes a moment to load its vocabulary."""
        return cls(GPT_4O, generic_ranks(), {}, own=False)

    def as_own(self) -> Tokenizer:
        """Return this tokenizer for a model whose own vocabulary it is."""
        same = copy(self)
        same.own = True
        return same

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Tokenizer | None:
        """Make a model's own tokenizer; None if the way it splits text is not in `SPLITTING`."""
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
        """Return the tokens of a text, numbered as in the vocabulary."""
        return list(chain.from_iterable(chain.from_iterable(self._tokens(text))))

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        return sum(map(len, chain.from_iterable(self._tokens(text))))

    def count_below_newline(self, text: str) -> int:
        """Count the tokens of a text after a newline, where templates put it.

        Blanks at its beginning may be one token with the newline.
        """
        return self.count(f"\n{text}") - len(self._pairs["\n"])

    def _tokens(self, text: str) -> Iterator[Iterable[tuple[int, ...]]]:
        """Yield the tokens of the words, chunk by chunk; a special token counts as one word."""
        parts = self._special.split(text) if self._specials else (text,)
        for number, part in enumerate(parts):
            if number % 2:  # `split` puts what it found between the other parts
                yield ((self._specials[part],),)
                continue
            for chunk in _chunks(part):
                words = self._words if OTHER_LETTERS.search(chunk) else self._ascii_words
                yield map(self._pairs.__getitem__, words.findall(chunk))

    @cached_property
    def _words(self) -> _Pattern:
        # `re` lacks the classes of letters (\p{L}) that the patterns use. `regex` is imported only
        # here, when the first text needs it: most texts do without.
        compiled = cast(Callable[[str], _Pattern], cast(Any, import_module("regex")).compile)
        return compiled(self._splitting)


class _Pattern(Protocol):
    def findall(self, string: str) -> list[str]: ...


def with_ascii_letters(splitting: str) -> re.Pattern[str]:
    """Compile a splitting pattern for ASCII texts with `re`, which is far faster than `regex`."""
    for letters, ascii_letters in _ASCII_LETTERS.items():
        splitting = splitting.replace(letters, ascii_letters)
    return re.compile(splitting, re.ASCII)


def _chunks(text: str) -> Generator[str, None, None]:
    """Cut a text into chunks, if possible before a blank, where words are split anyway."""
    start = 0
    while len(text) - start > CHUNK_CHARACTERS:
        end = start + CHUNK_CHARACTERS
        cut = text.rfind(" ", start + 1, end)
        end = cut if cut > 0 else end
        yield text[start:end]
        start = end
    yield text[start:]


def generic_ranks() -> dict[bytes, int]:
    """Read the tokens of the general vocabulary and their ranks."""
    lengths, _, tokens = lzma.decompress(GENERIC_FILE.read_bytes()).partition(b"\0")
    bounds = pairwise(accumulate(lengths, initial=0))
    return {tokens[start:end]: rank for rank, (start, end) in enumerate(bounds)}


def _bytes_by_character() -> dict[str, int]:
    """Return the bytes by the characters that vocabularies write them as.

    Printable bytes are written as they are, the others as the characters from U+0100 on.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (byte for byte in range(256) if byte not in printable)
    return {
        **{chr(byte): byte for byte in printable},
        **{chr(0x100 + number): byte for number, byte in enumerate(others)},
    }


class BytePairs(dict[str, tuple[int, ...]]):
    """The tokens of words, by `[]`: a cache that merges the bytes of a word it does not have."""

    def __init__(self, ranks: Mapping[bytes, int]) -> None:
        super().__init__()
        self._ranks = ranks

    def __missing__(self, piece: str) -> tuple[int, ...]:
        data = piece.encode("utf-8", "surrogatepass")
        # A word that is a token needs no merging, also where merging would not lead to it.
        whole = self._ranks.get(data)
        tokens = self._merged(data) if whole is None else (whole,)
        if len(piece) <= LONGEST_KEPT:
            if len(self) >= MOST_KEPT:
                self.clear()  # common words are soon back
            self[piece] = tokens
        return tokens

    def _merged(self, data: bytes) -> tuple[int, ...]:
        """Merge neighbouring parts, always the pair with the lowest rank, until none is a token.

        Bytes that the vocabulary lacks are left out, as servers do.
        """
        # A part is known by its start: `ends` holds its end (0 once it was merged into the part
        # before it), `befores` the start of the part before. With a heap of pairs the time grows
        # as n log n; looking at all pairs for each merge would be quadratic in a long word.
        rank, size = self._ranks.get, len(data)
        ends, befores = list(range(1, size + 1)), list(range(-1, size - 1))
        pairs = ((rank(data[start : start + 2]), start) for start in range(size - 1))
        waiting = [(token, start) for token, start in pairs if token is not None]
        heapify(waiting)
        while waiting:
            token, start = heappop(waiting)
            middle = ends[start]
            if not middle or middle == size or rank(data[start : ends[middle]]) != token:
                continue  # an outdated pair: one of the two was merged with another since
            end = ends[start] = ends[middle]
            ends[middle] = 0
            if end < size:
                befores[end] = start
                if (after := rank(data[start : ends[end]])) is not None:
                    heappush(waiting, (after, start))
            if start and (before := rank(data[befores[start] : end])) is not None:
                heappush(waiting, (before, befores[start]))
        parts = (rank(data[start:end]) for start, end in enumerate(ends) if end)
        return tuple(token for token in parts if token is not None)
