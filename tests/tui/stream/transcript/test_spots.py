"""The terms of a search are marked in a conversation as the index found them."""

from __future__ import annotations

import pytest

from ollm_tui.core.search import Term, Where
from ollm_tui.tui.stream.transcript.spots import Terms

TEXT = "Retries of the retry loop; max_retries, unretried. The c++ re-try (go, goes)"


@pytest.mark.parametrize(
    ("terms", "where", "marked"),
    (
        ((Term("retr"),), "words", ["Retr", "retr", "retr"]),
        ((Term("retr"),), "anywhere", ["Retr", "retr", "retr", "retr"]),
        ((Term("go", whole=True),), "words", ["go"]),
        ((Term("c++"),), "words", ["c++"]),
        ((Term("retry loop"), Term("The")), "words", ["the", "retry loop", "The"]),
        ((), "words", []),
    ),
)
def test_terms_are_found_where_words_begin(
    terms: tuple[Term, ...], where: Where, marked: list[str]
) -> None:
    words = Terms(terms, where)
    assert words.count(TEXT) == len(marked)
    offsets = words.offsets(TEXT)
    assert [TEXT[at : at + len(each)] for at, each in zip(offsets, marked, strict=True)] == marked
