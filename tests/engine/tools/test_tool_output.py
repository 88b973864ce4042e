"""Long output is cut to what the model may get: its head and tail, and a mark between them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.engine.tools.tool_output import LEAST_TOKENS, MOST_TOKENS, allowance, cut


def words(text: str) -> int:
    return len(text.split())


def test_a_small_window_gives_little_and_a_large_one_no_more_than_is_useful() -> None:
    assert allowance(3_400) == 680
    assert allowance(500) == LEAST_TOKENS
    assert allowance(1_000_000) == allowance(None) == MOST_TOKENS


def test_what_fits_stays_as_it_is() -> None:
    assert cut("a few words", 200, words) == "a few words"


def test_the_mark_says_how_much_is_missing() -> None:
    text = "\n".join(f"line {number}" for number in range(10_000))
    short = cut(text, 300, words)
    head, _, rest = short.partition("\n[… ")
    mark, _, tail = rest.partition(" cut here …]\n")
    assert text.startswith(head) and text.endswith(tail)
    lines, _, characters = mark.partition(" lines, ")
    assert int(lines.replace(",", "")) > 9_000
    assert int(characters.split()[0].replace(",", "")) > 80_000
    assert len(head) > 2 * len(tail)


@given(st.text(max_size=6_000), st.integers(min_value=200, max_value=900))
def test_it_never_takes_more_than_it_may(text: str, tokens: int) -> None:
    short = cut(text, tokens, len)
    assert short == text or len(short) <= max(tokens, LEAST_TOKENS + 100)
