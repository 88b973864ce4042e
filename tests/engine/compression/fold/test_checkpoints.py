"""Checkpoints keep to their size, however a server counts."""

from __future__ import annotations

import pytest

from ollm_tui.core.session.compression import Fact, Ledger
from ollm_tui.core.session.message import Message, Text
from ollm_tui.engine.compression.fold.checkpoints import CheckpointMaker, Sizes

AT = "2026-03-01T00:00:00.000Z"
FOLDED = [Message(f"m{n}", "assistant", (Text("Noted."),), AT) for n in range(4)]
LEDGER = Ledger(
    tuple(Fact("said", f"We use tool {n} for the job {n}.", "", f"m{n}") for n in range(80))
)


def more_in_long_texts(text: str) -> int:
    """A server that reads long texts at another rate than short ones."""
    words = len(text.split())
    return words if words < 100 else words * 3 // 2


@pytest.mark.parametrize("size", (60, 120, 200, 400))
@pytest.mark.parametrize("summary", ("", "The user chose tools. " * 30))
def test_a_checkpoint_is_within_its_size_also_where_parts_count_less_than_the_whole(
    size: int, summary: str
) -> None:
    maker = CheckpointMaker(1, Sizes(1000, size), more_in_long_texts, 4, "model")
    made = maker.made(FOLDED, (), LEDGER, summary, 1000)
    assert made.current_tokens <= size
    assert made.facts
    smaller = maker.within(made, made.current_tokens * 2 // 3)
    assert smaller.current_tokens <= made.current_tokens * 2 // 3
