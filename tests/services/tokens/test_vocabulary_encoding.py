"""The vocabularies: the shipped ones are the originals, long and odd texts are counted whole."""

from __future__ import annotations

import base64
import hashlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from ollm_tui.core.provider import Vocabulary
from ollm_tui.services.tokens.vocabulary_encoding import (
    CHUNK_CHARACTERS,
    SHIPPED,
    SPLITTING,
    VocabularyEncoding,
    shipped_ranks,
)
from tests.cases import every

ORIGINALS = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""The SHA-256 that tiktoken expects of the files it would download."""


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_vocabulary_is_the_original_byte_for_byte(name: str) -> None:
    original = hashlib.sha256()
    for token, rank in shipped_ranks(name).items():
        original.update(base64.b64encode(token) + f" {rank}\n".encode())
    assert original.hexdigest() == ORIGINALS[name]
    theirs = find_spec("tiktoken_ext.openai_public")
    assert theirs is not None and theirs.origin is not None
    assert ORIGINALS[name] in Path(theirs.origin).read_text(encoding="utf-8")


def test_known_texts_have_the_tokens_that_are_published_for_them(
    generic: VocabularyEncoding,
) -> None:
    assert generic.tokens("hello world") == [24912, 2375]
    assert generic.tokens("") == []
    of_gpt_4 = VocabularyEncoding.shipped("cl100k_base")
    assert of_gpt_4.tokens("hello world") == [15339, 1917]
    assert of_gpt_4.tokens("It's 12345  x\n\n") == [2181, 596, 220, 4513, 1774, 220, 865, 271]


@pytest.mark.parametrize("run", [" ", "\n", "a", "^", "é", "日", "\t "])
def test_endless_runs_are_counted_and_do_not_break_the_library(
    generic: VocabularyEncoding, run: str
) -> None:
    once, long = (generic.count(run * (CHUNK_CHARACTERS * n // len(run))) for n in (1, 5))
    assert once * 4 < long < once * 6


def test_more_blanks_than_tiktoken_takes_at_once_are_counted(generic: VocabularyEncoding) -> None:
    few, many = (generic.count(" " * CHUNK_CHARACTERS * times) for times in (1, 15))
    assert few * 14 < many < few * 16


def test_long_prose_counts_the_same_in_one_piece_and_in_many(generic: VocabularyEncoding) -> None:
    sentence = "The harbour was quiet when the last ferry came in, at 22:15.\n"
    whole = sentence * 3_000
    assert generic.count(whole) == generic.count(sentence) * 3_000


def test_marks_of_the_template_inside_a_text_are_single_tokens(own: VocabularyEncoding) -> None:
    assert own.tokens("<|im_end|>") == [2]
    assert own.count("a<|im_start|>b") == own.count("a") + 1 + own.count("b")


def test_bytes_that_the_vocabulary_lacks_are_left_out_as_servers_do() -> None:
    tokens = ["a", "b", "ab"]
    encoding = VocabularyEncoding.of(Vocabulary("gpt-2", tokens, [1, 1, 1]))
    assert encoding is not None
    assert encoding.tokens("abzab") == [2, 2]


def test_an_unknown_way_of_splitting_is_not_guessed() -> None:
    assert VocabularyEncoding.of(Vocabulary("no-such", ["a"], [1])) is None
    assert VocabularyEncoding.of(Vocabulary("gpt-2", [], [])) is None


@every("splitting", sorted(set(SPLITTING)))
def test_every_way_of_splitting_covers_all_of_a_text(splitting: str) -> None:
    letters = sorted({chr(n) for n in range(0x21, 0x7F)} | {chr(0x100 + n) for n in range(256)})
    encoding = VocabularyEncoding.of(Vocabulary(splitting, letters, [1] * len(letters)))
    assert encoding is not None
    text = "It's 3 o'clock:\n\n  if x >= 42:\t return 'ÄÖ'  # done \n"
    assert encoding.count(text.replace("ÄÖ", "")) == len(text) - 2
