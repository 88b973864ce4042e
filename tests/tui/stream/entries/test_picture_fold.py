"""A picture in the stream: its facts, and a small view of it in half blocks."""

from __future__ import annotations

import base64

from rich.color import Color

from ollm_tui.core.session.message import Attachment
from ollm_tui.tui.stream.entries.picture_fold import (
    COLUMNS,
    NO_VIEW,
    ROWS,
    UPPER_HALF,
    PictureFold,
)
from tests.core.session.test_picture import drawn


def fold(content: str) -> PictureFold:
    piece = Attachment(name="logo.png", media_type="image/png", content=content)
    return PictureFold("part-1", piece)


def test_it_is_shown_in_half_blocks_of_its_colours_and_in_its_shape() -> None:
    shown = fold(drawn("PNG", (200, 100)))
    lines = shown.text.splitlines()
    assert set(shown.text) == {UPPER_HALF, "\n"}
    assert len(lines[0]) == COLUMNS and len(lines) == COLUMNS // 4
    red = Color.from_rgb(200, 30, 30)
    assert all(style.color == red and style.bgcolor == red for _, _, style in shown.spans)
    assert len(shown.spans) == sum(map(len, lines))


def test_a_high_picture_takes_no_more_rows_than_it_may() -> None:
    assert len(fold(drawn("PNG", (10, 4000))).text.splitlines()) <= ROWS


def test_its_title_tells_pixels_and_bytes() -> None:
    assert fold(drawn("PNG", (640, 480))).title.startswith("logo.png · 640×480 · ")


def test_a_damaged_picture_is_only_named() -> None:
    whole = base64.b64decode(drawn("PNG"))
    for content in (b"", b"\x89PNG\r\n\x1a\n", whole[:40], b"no picture"):
        damaged = fold(base64.b64encode(content).decode())
        assert damaged.text == NO_VIEW and not damaged.spans
