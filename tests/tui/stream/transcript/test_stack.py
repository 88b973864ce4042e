"""Heights: always the same as adding up by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.tui.stream.transcript.stack import Heights

heights = st.lists(st.integers(0, 9), max_size=40)


@given(heights, heights, st.lists(st.tuples(st.integers(0, 79), st.integers(0, 9)), max_size=20))
def test_after_any_changes_positions_are_sums(
    first: list[int], appended: list[int], changes: list[tuple[int, int]]
) -> None:
    plain, tree = list(first), Heights(first)
    for height in appended:
        plain.append(height)
        tree.append(height)
    for index, height in changes:
        if index < len(plain):
            grown = tree.set(index, height)
            assert grown == height - plain[index]
            plain[index] = height
    assert tree.total == sum(plain)
    assert [tree.above(index) for index in range(len(plain))] == [
        sum(plain[:index]) for index in range(len(plain))
    ]
    by_hand = [(at, line) for at, height in enumerate(plain) for line in range(height)]
    assert [tree.find(line) for line in range(sum(plain))] == by_hand


def test_a_line_below_the_bottom_belongs_to_the_last_thing() -> None:
    assert Heights([2, 3]).find(7) == (1, 5)
    assert Heights([]).find(3)[1] == 0
