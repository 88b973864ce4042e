"""Makes the pictures of the README: `python -m docs.make_pictures`, with chromium on the PATH.

They are taken of the application itself, on the sample sessions of tests/snapshots.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple

from tests.snapshots.browser_scenes import browser
from tests.snapshots.compression_scenes import compression
from tests.snapshots.picture import take_picture
from tests.snapshots.samples import all_sessions, id_of
from tests.snapshots.scenes import Opened, Scene, palette, sidebar
from tests.snapshots.search_scenes import search
from tests.snapshots.stage import stage
from tests.snapshots.tool_scenes import asking

DOCS = Path(__file__).parent
SIZE = (110, 34)
WIDTH_PIXELS = 1100
COLLAGE = ("tokyo-night", "gruvbox-dark", "dracula", "solarized-light", "rose-pine", "light")
COLLAGE_SIZE = (64, 17)
COLLAGE_WIDTH_PIXELS = 420


class Wish(NamedTuple):
    """A picture: what to bring about, how it looks, and which keys to press then."""

    scene: Scene
    theme: str
    keys: tuple[str, ...] = ()


SINGLE: Mapping[str, Wish] = {
    "chat-dark": Wish(sidebar, "dark", ("escape",)),
    "chat-light": Wish(sidebar, "light", ("escape",)),
    "sessions": Wish(browser, "dark"),
    "palette": Wish(palette, "catppuccin-mocha"),
    "search": Wish(search, "dark"),
    "approval": Wish(asking, "dark"),
    "compression": Wish(compression, "dark"),
}


async def make_all(program: str) -> None:
    """Every picture there is."""
    for name, wish in SINGLE.items():
        svgs = await _pictures(wish, [wish.theme], SIZE)
        _photograph(program, svgs, DOCS / f"{name}.png", WIDTH_PIXELS, columns=1)
    svgs = await _pictures(Wish(_short_chat, "dark"), COLLAGE, COLLAGE_SIZE)
    _photograph(program, svgs, DOCS / "themes.png", COLLAGE_WIDTH_PIXELS, columns=3)


def _short_chat(home: Path) -> AbstractAsyncContextManager[Opened]:
    return stage(home, all_sessions(), resume=id_of(4))


async def _pictures(wish: Wish, themes: Sequence[str], size: tuple[int, int]) -> list[str]:
    with tempfile.TemporaryDirectory() as home:
        async with wish.scene(Path(home)) as (app, pilot):
            await pilot.press(*wish.keys)
            return [await take_picture(app, pilot, size, theme) for theme in themes]


def _photograph(program: str, svgs: Sequence[str], to: Path, width: int, columns: int) -> None:
    """Lay pictures out in columns on a page and have the browser save it as PNG."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svgs[0])
    assert box, "Rich writes a viewBox into every picture"
    height = round(width * float(box[2]) / float(box[1]))
    rows = -(-len(svgs) // columns)
    with tempfile.TemporaryDirectory() as folder:
        cells = ""
        for number, svg in enumerate(svgs):
            (Path(folder) / f"{number}.svg").write_text(svg, encoding="utf-8")
            cells += f'<img src="{number}.svg" width="{width}" height="{height}">'
        page = Path(folder) / "page.html"
        style = f"margin:0;display:grid;grid-template-columns:repeat({columns},{width}px)"
        page.write_text(f'<body style="{style}">{cells}</body>', encoding="utf-8")
        size = f"--window-size={width * columns},{height * rows}"
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        where = f"--screenshot={to}"
        see_through = "--default-background-color=00000000"
        command = [program, *flags, size, see_through, where, page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        sys.exit("chromium is needed to make the pictures")
    asyncio.run(make_all(found))
