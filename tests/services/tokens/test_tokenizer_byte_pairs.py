"""Merging byte pairs: the same tokens as tiktoken finds with the same vocabulary, for any text."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.services.tokens.tokenizer import (
    LONGEST_KEPT,
    MOST_KEPT,
    OTHER_LETTERS,
    SPLITTING,
    BytePairs,
    Tokenizer,
    generic_ranks,
)
from tests.services.tokens.samples import MORE_TEXTS, SAMPLES

SPECIALS = {"<|end|>": 300_000, "<s>": 300_001}
PATTERNS = dict(sorted((pattern, name) for name, pattern in SPLITTING.items()))
WORDS = "It's|I'LL| 1234|\n\n  |\t|—| → |<s>|!<s|日本|naïve|ſ|\u3000|\x1c|\x85".split("|")
LETTERS = st.characters(exclude_categories=("Cs", "Co")).filter(
    # The newest letters are no letters yet to one of the two.
    lambda letter: unicodedata.ucd_3_2_0.category(letter) != "Cn"
)
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(LETTERS, max_size=9), max_size=12).map("".join)


class Both:
    """Ours and theirs, with the same vocabulary."""

    def __init__(self, pattern: str) -> None:
        ranks = generic_ranks()
        self.ours = Tokenizer(pattern, ranks, SPECIALS, own=True)
        self._theirs = tiktoken.Encoding(
            "theirs", pat_str=pattern, mergeable_ranks=ranks, special_tokens=SPECIALS
        )

    def agree_on(self, text: str) -> bool:
        theirs = self._theirs.encode(text, allowed_special="all")
        return self.ours.tokens(text) == theirs and self.ours.count(text) == len(theirs)


both = cache(Both)


@pytest.mark.parametrize("pattern", PATTERNS, ids=PATTERNS.values())
@given(text=TEXTS)
def test_any_text_has_the_tokens_that_tiktoken_finds(pattern: str, text: str) -> None:
    assert both(pattern).agree_on(text)


@pytest.mark.parametrize("pattern", PATTERNS, ids=PATTERNS.values())
def test_languages_code_and_data_have_the_tokens_that_tiktoken_finds(pattern: str) -> None:
    texts = [*MORE_TEXTS.values(), *(text for pair in SAMPLES.values() for text in pair)]
    assert [text for text in texts if not both(pattern).agree_on(text)] == []


def test_long_words_are_merged_in_the_same_order() -> None:
    for word in ("ab" * 700, "zq" * 333 + "xj" * 333, "日本" * 300, "=" * 999, "e\u0301" * 200):
        assert both(SPLITTING["gpt-4o"]).agree_on(word)


def test_signs_that_are_taken_for_no_letters_are_none() -> None:
    beyond_ascii = map(chr, range(0x80, sys.maxunicode + 1))
    signs = [sign for sign in beyond_ascii if not OTHER_LETTERS.search(sign)]
    assert "→" in signs and "—" in signs
    assert {unicodedata.category(sign)[0] for sign in signs} <= {"P", "S", "C"}
    assert not any(sign.isspace() for sign in signs)


def test_words_are_remembered_but_neither_long_ones_nor_without_end() -> None:
    pairs = BytePairs({b"a": 0, b"b": 1, b"ab": 2})
    assert pairs["abab"] == (2, 2) and "abab" in pairs
    long = "ab" * LONGEST_KEPT
    assert pairs[long] == (2,) * LONGEST_KEPT and long not in pairs
    for number in range(MOST_KEPT + 1):
        pairs[str(number)]
    assert len(pairs) <= MOST_KEPT and pairs["abab"] == (2, 2)
