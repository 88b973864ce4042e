"""Makes the pictures of the README: `make pictures`, with chromium on the PATH.

They are taken of the application itself, on the sample sessions of tests/snapshots.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from textual.pilot import Pilot

from docs.photographs import photographs, save_moving, side_by_side
from docs.tour import Tour
from tests.snapshots.browser_scenes import browser
from tests.snapshots.compression_scenes import compression
from tests.snapshots.scenes import palette, short_conversation, sidebar
from tests.snapshots.search_scenes import search
from tests.snapshots.stage import Scene
from tests.snapshots.tool_scenes import asking

DOCS = Path(__file__).parent
SIZE = (110, 34)
WIDTH_PIXELS = 1100
COLLAGE = ("tokyo-night", "gruvbox-dark", "dracula", "solarized-light", "rose-pine", "light")
COLLAGE_SIZE = (64, 17)
COLLAGE_WIDTH_PIXELS = 420
TOUR_WIDTH_PIXELS = 900


class Wish(NamedTuple):
    """A picture: what to bring about, how it looks, and which keys to press then."""

    scene: Scene
    theme: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = SIZE


SINGLE: Mapping[str, Wish] = {
    "chat-dark": Wish(sidebar, "dark", ("escape",)),
    "chat-light": Wish(sidebar, "light", ("escape",)),
    "sessions": Wish(browser, "dark"),
    "palette": Wish(palette, "catppuccin-mocha"),
    "search": Wish(search, "dark"),
    "approval": Wish(asking, "dark"),
    "compression": Wish(compression, "dark"),
}


def make_all() -> None:
    """Make every picture there is."""
    drawn = photographs([_svg(wish) for wish in SINGLE.values()], WIDTH_PIXELS)
    for name, picture in zip(SINGLE, drawn, strict=True):
        picture.save(DOCS / f"{name}.png", optimize=True)
    chats = [_svg(Wish(short_conversation, theme, size=COLLAGE_SIZE)) for theme in COLLAGE]
    themes = side_by_side(photographs(chats, COLLAGE_WIDTH_PIXELS), columns=3)
    themes.save(DOCS / "themes.png", optimize=True)
    frames = Tour().play()
    moving = photographs([frame.svg for frame in frames], TOUR_WIDTH_PIXELS)
    save_moving(moving, [frame.milliseconds for frame in frames], DOCS / "tour.webp")


def _svg(wish: Wish) -> str:
    taken: list[str] = []
    with tempfile.TemporaryDirectory() as home:
        app = wish.scene.open(Path(home), wish.theme)

        async def take(pilot: Pilot[Any]) -> None:
            await wish.scene.bring_about(app, pilot)
            await pilot.press(*wish.keys)
            await pilot.pause()
            taken.append(app.export_screenshot(simplify=True))
            app.exit()

        app.run(headless=True, size=wish.size, auto_pilot=take)
    return taken[0]


if __name__ == "__main__":
    make_all()
