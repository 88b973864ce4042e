"""Marking a part of a line changes its style and nothing else."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ollm_tui.tui.stream.transcript.transcript import marked

MARK = Style(bgcolor="red")


@pytest.mark.parametrize("texts", [("👩‍💻word ", "é漢x"), ("plain", " text"), ("", "a"), ()])
def test_exactly_the_characters_asked_for_are_marked(texts: tuple[str, ...]) -> None:
    strip = Strip([Segment(text, Style(bold=True)) for text in texts])
    for start in range(len(strip.text) + 2):
        for end in (-1, *range(start, len(strip.text) + 2)):
            outcome = marked(strip, start, end, MARK)
            assert outcome.text == strip.text
            assert outcome.cell_length == strip.cell_length
            chosen = "".join(part.text for part in outcome if part.style and part.style.bgcolor)
            assert chosen == strip.text[start : None if end < 0 else end]
