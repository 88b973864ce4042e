"""The size of pictures, read from their first bytes; the pictures are made by Pillow."""

from __future__ import annotations

import base64
import io

import pytest
from PIL import Image

from ollm_tui.core.session.picture import picture_size


def drawn(kind: str, size: tuple[int, int] = (37, 21), **options: object) -> str:
    """A picture in base64."""
    file = io.BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(file, kind, **options)
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.parametrize("kind", ("PNG", "JPEG", "GIF", "WEBP"))
def test_width_and_height_are_told(kind: str) -> None:
    assert picture_size(drawn(kind)) == (37, 21)
    assert str(picture_size(drawn(kind, (640, 480)))) == "640×480"


def test_a_webp_without_loss_and_a_progressive_jpeg_are_told_too() -> None:
    assert picture_size(drawn("WEBP", lossless=True)) == (37, 21)
    assert picture_size(drawn("JPEG", progressive=True)) == (37, 21)


@pytest.mark.parametrize("kind", ("PNG", "JPEG", "GIF", "WEBP"))
def test_a_picture_that_is_cut_anywhere_harms_nobody(kind: str) -> None:
    data = base64.b64decode(drawn(kind))
    for length in range(0, len(data), 3):
        picture_size(base64.b64encode(data[:length]).decode())


def test_what_is_no_picture_has_no_size() -> None:
    assert picture_size("") is None and picture_size("not base64!") is None
    assert picture_size(base64.b64encode(b"plain text of some length").decode()) is None
