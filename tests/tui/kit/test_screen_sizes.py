"""A screen knows the size of the window when it is first laid out, and need not be drawn twice."""

from __future__ import annotations

from textual.screen import Screen

from tests.tui.conftest import OpenApp


class Sized(Screen[None]):
    """Has classes for its width and its height."""

    def __init__(self) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide"), (400, "-huge")]
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
        self.at_first = frozenset[str]()

    def on_mount(self) -> None:
        self.at_first = frozenset(self.classes)


async def test_a_screen_has_the_classes_of_its_size_when_it_is_mounted(open_app: OpenApp) -> None:
    for size, classes in (((80, 24), {"-narrow", "-short"}), ((120, 40), {"-wide", "-tall"})):
        async with open_app(size=size) as (app, pilot):
            screen = Sized()
            await app.push_screen(screen)
            assert screen.at_first == classes
            await pilot.resize_terminal(95, 20)
            await pilot.pause()
            now = frozenset(screen.classes)
            assert now >= {"-wide", "-short"} and not now & {"-narrow", "-tall"}
