"""What did not change is not asked to draw itself."""

from __future__ import annotations

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from ollm_tui.tui.kit.drawing import LeanScreen
from tests.tui.tool_desk import until

SIZE = (40, 10)


class Half(Widget):
    """Fills half of the screen, and counts the rows it was asked for."""

    DEFAULT_CSS = "Half { width: 1fr; height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.letter = "a"
        self.asked: list[Region] = []

    def render_lines(self, crop: Region) -> list[Strip]:
        self.asked.append(crop)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        return Strip([Segment(f"{self.letter}{y}".ljust(self.size.width))])


class Halves(LeanScreen):
    """Two beside each other."""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Half()
            yield Half()


class Host(App[int]):
    """Shows the two."""

    def get_default_screen(self) -> Screen[None]:
        return Halves()


async def test_only_the_widget_that_changed_is_drawn_and_only_its_rows() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        left, right = app.screen.query(Half)
        await pilot.pause()
        left.asked.clear()
        right.asked.clear()
        left.letter = "b"
        left.refresh(Region(0, 3, 20, 2))
        await until(pilot, lambda: bool(left.asked))
        assert left.asked == [Region(0, 3, 20, 2)]
        assert right.asked == []


async def test_a_whole_screen_that_is_drawn_has_every_widget() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        left, right = app.screen.query(Half)
        left.letter, right.letter = "l", "r"
        app.screen.refresh()
        left.refresh()
        right.refresh()
        await pilot.pause()
        strips = app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage] there is no public way to the cells
        assert [strip.text.split() for strip in strips] == [[f"l{y}", f"r{y}"] for y in range(10)]
