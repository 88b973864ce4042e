"""Snippets: what is shown of a message."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from ollm_tui.core.search import SnippetRoom
from ollm_tui.services.search.query import parse_query
from ollm_tui.services.search.snippets import Marker

WORDS = st.text("abcde", min_size=1, max_size=12)
BLANKS = st.sampled_from((" ", "\n", "\t", "  ", "\n\n"))


@example([("aaaaaaabaa", " "), ("a", " "), ("aaaaaaaa", " "), ("a", " ")], 20)
@given(st.lists(st.tuples(WORDS, BLANKS), min_size=1, max_size=80), st.integers(20, 120))
def test_no_word_is_cut(parts: list[tuple[str, str]], width: int) -> None:
    text = "".join(word + blank for word, blank in parts)
    room = SnippetRoom(characters=width, before=width // 3)
    sought = parse_query(parts[len(parts) // 2][0])
    snippet = Marker(sought, room=room).snippet((text,))
    assert set(snippet.text.strip("…").split()) <= set(text.split())


def test_a_word_longer_than_the_room_is_shown_in_part() -> None:
    snippet = Marker(parse_query("xxx"), room=SnippetRoom(characters=30)).snippet(("x" * 90,))
    assert snippet.text == "x" * 30 + "…"
