"""Photographs of SVG pictures: chromium draws them, Pillow cuts them out and joins them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

PICTURES_A_PAGE = 12
"""So many are drawn at a time: starting chromium takes longer than drawing one."""
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")


def photographs(svgs: Sequence[str], width: int) -> list[Image.Image]:
    """Draw pictures of one size, each as wide as asked for."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svgs[0])
    assert box, "Rich writes a viewBox into every picture"
    height = round(width * float(box[2]) / float(box[1]))
    drawn: list[Image.Image] = []
    for first in range(0, len(svgs), PICTURES_A_PAGE):
        page = _page(svgs[first : first + PICTURES_A_PAGE], width, height)
        tops = range(0, page.height, height)
        drawn += [page.crop((0, top, width, top + height)) for top in tops]
    return drawn


def side_by_side(pictures: Sequence[Image.Image], columns: int) -> Image.Image:
    """Lay pictures of one size out in rows."""
    width, height = pictures[0].size
    whole = Image.new("RGBA", (width * columns, height * -(-len(pictures) // columns)))
    for number, picture in enumerate(pictures):
        whole.paste(picture, (number % columns * width, number // columns * height))
    return whole


def save_moving(frames: Sequence[Image.Image], milliseconds: Sequence[int], to: Path) -> None:
    """Join frames into a WebP that begins again at its end."""
    # Without loss it has sharp letters and is smaller than a GIF, which has 256 colours.
    first, *others = frames
    first.save(
        to,
        save_all=True,
        append_images=others,
        duration=list(milliseconds),
        loop=0,
        lossless=True,
        method=6,
    )


def _page(svgs: Sequence[str], width: int, height: int) -> Image.Image:
    """Draw pictures one below the other."""
    with tempfile.TemporaryDirectory() as folder:
        images = ""
        for number, svg in enumerate(svgs):
            (Path(folder) / f"{number}.svg").write_text(svg, encoding="utf-8")
            style = f"display:block;width:{width}px;height:{height}px"
            images += f'<img src="{number}.svg" style="{style}">'
        page, drawn = Path(folder) / "page.html", Path(folder) / "page.png"
        page.write_text(f'<body style="margin:0">{images}</body>', encoding="utf-8")
        size = f"--window-size={width},{height * len(svgs)}"
        see_through = "--default-background-color=00000000"
        command = [_chromium(), *FLAGS, size, see_through, f"--screenshot={drawn}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
        return Image.open(drawn).convert("RGBA")


def _chromium() -> str:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        sys.exit("chromium draws the pictures and is not on the PATH (apt install chromium)")
    return found
