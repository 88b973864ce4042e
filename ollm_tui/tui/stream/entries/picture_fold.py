"""A picture in the stream: its size, and a small view of it in half blocks where that can be made.

Half blocks show in every terminal with colours, and scroll with the text; the protocols of single
terminals do neither. Decoding needs Pillow (the extra `pictures`). Only what was attached is ever
decoded: addresses in answers are not fetched.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from importlib.util import find_spec

from rich.color import Color
from rich.style import Style

from ollm_tui.core.counts import short_size
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Attachment
from ollm_tui.core.session.picture import picture_size
from ollm_tui.tui.stream.transcript.entry import Fold, StyledSpan

COLUMNS, ROWS = 48, 16
"""The largest view; a row has two pixels."""
MOST_PIXELS = 50_000_000
"""Larger pictures are not decoded: a small file may claim to be huge."""
UPPER_HALF = "▀"
NO_VIEW = "(a picture)"


class PictureFold(Fold):
    """A picture as a fold; the view is made when it is first opened."""

    def __init__(self, key: str, picture: Attachment) -> None:
        size = picture_size(picture.content)
        facts = [visible(picture.name), str(size) if size else "picture"]
        if picture.content:
            facts.append(short_size(len(picture.content.rstrip("=")) * 3 // 4))
        super().__init__(key, "attachment", " · ".join(facts), NO_VIEW, read=self._view)
        self._picture = picture

    def _view(self, _text: str) -> str:
        rows = list(_rows(self._picture.content))
        spans: list[StyledSpan] = []
        at = 0
        for row in rows:
            spans += [(at + x, at + x + 1, style) for x, style in enumerate(row)]
            at += len(row) + 1
        self.spans = spans
        return "\n".join(UPPER_HALF * len(row) for row in rows) or NO_VIEW


def _rows(content: str) -> Iterator[list[Style]]:
    """Yield the rows of a small view; none where the picture cannot be decoded."""
    size = picture_size(content)
    if size is None or size.width * size.height > MOST_PIXELS or not find_spec("PIL"):
        return
    # Imported late: most sessions have no pictures.
    from PIL import Image

    try:
        with Image.open(io.BytesIO(base64.b64decode(content))) as picture:
            picture.thumbnail((COLUMNS, 2 * ROWS))
            small = picture.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return  # a damaged file, or a kind that Pillow does not know
    data, width = small.tobytes(), small.width
    pixels = [Color.from_rgb(*data[at : at + 3]) for at in range(0, len(data), 3)]
    lines = [pixels[at : at + width] for at in range(0, len(pixels), width)]
    for upper, lower in zip(lines[::2], [*lines[1::2], lines[-1]], strict=False):
        yield [Style(color=up, bgcolor=low) for up, low in zip(upper, lower, strict=True)]
