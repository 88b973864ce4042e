"""The vocabularies: the shipped one is the original, long and odd texts are counted whole."""

from __future__ import annotations

import base64
import hashlib

import pytest

from ollm_tui.core.provider import Vocabulary
from ollm_tui.services.tokens.tokenizer import SPLITTING, Tokenizer, generic_ranks

ORIGINAL_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""What tiktoken expects of the file it would download."""


def test_the_shipped_vocabulary_is_the_original_byte_for_byte() -> None:
    original = hashlib.sha256()
    for token, rank in generic_ranks().items():
        original.update(base64.b64encode(token) + f" {rank}\n".encode())
    assert original.hexdigest() == ORIGINAL_SHA256


def test_known_texts_have_the_tokens_that_are_published_for_them(generic: Tokenizer) -> None:
    assert generic.tokens("hello world") == [24912, 2375]
    assert generic.tokens("") == []


@pytest.mark.parametrize("run", [" ", "\n", "a", "^", "é", "日", "\t "])
def test_endless_runs_are_counted_and_do_not_break_the_library(
    generic: Tokenizer, run: str
) -> None:
    once, long = generic.count(run * 40_000), generic.count(run * 200_000)
    assert once * 4 < long < once * 6


def test_long_prose_counts_the_same_in_one_piece_and_in_many(generic: Tokenizer) -> None:
    sentence = "The harbour was quiet when the last ferry came in, at 22:15.\n"
    whole = sentence * 3_000
    assert generic.count(whole) == generic.count(sentence) * 3_000


def test_marks_of_the_template_inside_a_text_are_single_tokens(own: Tokenizer) -> None:
    assert own.tokens("<|im_end|>") == [2]
    assert own.count("a<|im_start|>b") == own.count("a") + 1 + own.count("b")


def test_bytes_that_the_vocabulary_lacks_are_left_out_as_servers_do() -> None:
    tokens = ["a", "b", "ab"]
    tokenizer = Tokenizer.of(Vocabulary("gpt-2", tokens, [1, 1, 1]))
    assert tokenizer is not None
    assert tokenizer.tokens("abzab") == [2, 2]


def test_an_unknown_way_of_splitting_is_not_guessed() -> None:
    assert Tokenizer.of(Vocabulary("no-such", ["a"], [1])) is None
    assert Tokenizer.of(Vocabulary("gpt-2", [], [])) is None


@pytest.mark.parametrize("splitting", sorted(set(SPLITTING)))
def test_every_way_of_splitting_covers_all_of_a_text(splitting: str) -> None:
    letters = sorted({chr(n) for n in range(0x21, 0x7F)} | {chr(0x100 + n) for n in range(256)})
    tokenizer = Tokenizer.of(Vocabulary(splitting, letters, [1] * len(letters)))
    assert tokenizer is not None
    text = "It's 3 o'clock:\n\n  if x >= 42:\t return 'ÄÖ'  # done \n"
    assert tokenizer.count(text.replace("ÄÖ", "")) == len(text) - 2
