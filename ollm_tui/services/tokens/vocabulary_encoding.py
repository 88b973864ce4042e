"""The tokens of texts by a vocabulary, a model's own or a shipped one, found by tiktoken.

Only the counting process imports this: the table of tokens takes up to 0.4 s to build, in which no
other thread runs, and 50 to 70 MB.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain, pairwise
from pathlib import Path
from types import MappingProxyType

import tiktoken

from ollm_tui.core.provider import Vocabulary

CHUNK_CHARACTERS = 100_000
"""The most characters that are encoded at once: tiktoken fails at a million blanks in a row."""

# How vocabularies split text into words before they look for tokens. The patterns are those of the
# vocabularies' own tokenizers: where they differ, counts are wrong.
_SHORT_FORMS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LEAD = r"[^\r\n\p{L}\p{N}]?"
_BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"

_GPT_2 = r"'(?:[sdmt]|ll|ve|re)| ?[\p{L}]++| ?[\p{N}]++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_GPT_4 = (
    rf"{_SHORT_FORMS}|{_LEAD}[\p{{L}}]+|[\p{{N}}]{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_BLANKS}"
)
_GPT_4O = (
    rf"{_LEAD}{_UPPER}*{_LOWER}+{_SHORT_FORMS}?|{_LEAD}{_UPPER}+{_LOWER}*{_SHORT_FORMS}?"
    rf"|[\p{{N}}]{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_BLANKS}"
)
_DIGITS_APART = (
    # Such vocabularies take out the digits first and split the rest into words afterwards. In one
    # pattern that means that blanks before a digit stay together, as at the end of a text.
    r"[\p{N}]|'(?:[sdmt]|ll|ve|re)| ?[\p{L}]++| ?[^\s\p{L}\p{N}]++|\s++(?=[\p{N}]|$)|\s+(?!\S)|\s"
)
_QWEN_2 = rf"{_SHORT_FORMS}|{_LEAD}[\p{{L}}]+|[\p{{N}}]| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_BLANKS}"
_TEKKEN = (
    rf"{_LEAD}{_UPPER}*{_LOWER}+|{_LEAD}{_UPPER}+{_LOWER}*"
    rf"|[\p{{N}}]| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_BLANKS}"
)

SPLITTING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("gpt-2", "mpt", "olmo", "jais", "phi-2", "roberta-bpe"), _GPT_2),
        **dict.fromkeys(("smollm", "starcoder", "refact", "command-r", "codeshell"), _DIGITS_APART),
        **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral"), _GPT_4),
        **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "stablelm2", "megrez"), _QWEN_2),
        **dict.fromkeys(("gpt-4o", "llama4"), _GPT_4O),
        "tekken": _TEKKEN,
    }
)
"""The patterns by the names that model files (GGUF, `tokenizer.ggml.pre`) give them."""
SHIPPED: Mapping[str, str] = MappingProxyType({"o200k_base": _GPT_4O, "cl100k_base": _GPT_4})
"""The vocabularies that come with the program, with their patterns."""


class VocabularyEncoding:
    """Turns texts into the tokens of one vocabulary."""

    def __init__(
        self, splitting: str, ranks: Mapping[bytes, int], specials: Mapping[str, int]
    ) -> None:
        specials = {text: token for text, token in specials.items() if text}
        self._size = 1 + max(chain(ranks.values(), specials.values()))
        # tiktoken cannot do without a single byte. Those that the vocabulary lacks get tokens
        # behind its own, which are then left out, as servers do.
        lacking = (bytes((value,)) for value in range(256) if bytes((value,)) not in ranks)
        complete = {**ranks, **{byte: self._size + number for number, byte in enumerate(lacking)}}
        self._is_complete = len(complete) == len(ranks)
        # Never by a name: tiktoken would download the vocabulary.
        self._encoding = tiktoken.Encoding(
            "given", pat_str=splitting, mergeable_ranks=complete, special_tokens=specials
        )

    @classmethod
    def shipped(cls, name: str) -> VocabularyEncoding:
        """Load a vocabulary that comes with the program."""
        return cls(SHIPPED[name], shipped_ranks(name), {})

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> VocabularyEncoding | None:
        """Make the encoding of a model; None if the way it splits text is not in `SPLITTING`."""
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
        return cls(splitting, ranks, specials)

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text, numbered as in the vocabulary."""
        encoded = (self._encoding.encode(part, allowed_special="all") for part in _chunks(text))
        tokens = list(chain.from_iterable(encoded))
        return tokens if self._is_complete else [each for each in tokens if each < self._size]

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self.tokens(text))


def _chunks(text: str) -> Iterator[str]:
    """Cut a text into chunks, if possible before a blank, where words are split anyway."""
    start = 0
    while len(text) - start > CHUNK_CHARACTERS:
        end = start + CHUNK_CHARACTERS
        cut = text.rfind(" ", start + 1, end)
        end = cut if cut > 0 else end
        yield text[start:end]
        start = end
    yield text[start:]


def shipped_ranks(name: str) -> dict[bytes, int]:
    """Read the tokens of a shipped vocabulary and their ranks.

    The file has the lengths of all tokens, one byte each, then a zero byte, then the tokens
    themselves; both in the order of their ranks.
    """
    packed = Path(__file__).with_name(f"{name}.xz").read_bytes()
    lengths, _, tokens = lzma.decompress(packed).partition(b"\0")
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
