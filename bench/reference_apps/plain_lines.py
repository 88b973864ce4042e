"""`python -m bench.reference_apps.plain_lines URL`: the floor of streaming.

Sends what is typed, draws the answer as plain lines 30 times a second, knows no Markdown.
"""

from __future__ import annotations

import json
import sys

import httpx
from rich.segment import Segment
from textual import work
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import TextArea

from bench.reference_apps import READY

FRAME_SECONDS = 1 / 30


class PlainLines(ScrollView):
    """Lines cut at the edge, the last ones in view."""

    def on_mount(self) -> None:
        """Begin with one empty line."""
        self._lines = [""]

    def append(self, text: str) -> None:
        """Draw only what changed, and follow the end."""
        width = self.scrollable_content_region.width
        changed = len(self._lines) - 1
        for line in (self._lines.pop() + text).split("\n"):
            self._lines += [line[at : at + width] for at in range(0, len(line) or 1, width)]
        self.virtual_size = Size(width, len(self._lines))
        self.refresh_lines(changed, len(self._lines) - changed)
        self.scroll_end(animate=False, immediate=True, x_axis=False)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        at = self.scroll_offset.y + y
        line = self._lines[at] if at < len(self._lines) else ""
        return Strip([Segment(line, self.rich_style)]).extend_cell_length(
            self.size.width, self.rich_style
        )


class Floor(App[None]):
    """The lines, and a place to type below them."""

    CSS = "PlainLines { height: 1fr; } TextArea { height: 3; }"

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._arrived: list[str] = []

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield PlainLines()
        area = TextArea(placeholder=READY)
        area.cursor_blink = False
        yield area

    def on_mount(self) -> None:
        """Typing comes first."""
        self.query_one(TextArea).focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """The end of a line sends it."""
        area = event.text_area
        if area.text.endswith("\n"):
            self.converse(area.text.strip())
            area.clear()

    @work
    async def converse(self, text: str) -> None:
        """Read one answer."""
        body = {"model": "answers", "stream": True, "messages": [{"role": "user", "content": text}]}
        url = f"{self._url}/v1/chat/completions"
        async with (
            httpx.AsyncClient(timeout=60, verify=False, trust_env=False) as client,
            client.stream("POST", url, json=body) as response,
        ):
            left = b""
            async for data in response.aiter_bytes():
                *lines, left = (left + data).split(b"\n")
                for line in lines:
                    self._take(line)

    def _take(self, line: bytes) -> None:
        if not line.startswith(b"data: {"):
            return
        for choice in json.loads(line[6:])["choices"]:
            if words := choice["delta"].get("content"):
                if not self._arrived:
                    self.set_timer(FRAME_SECONDS, self._draw)
                self._arrived.append(words)

    def _draw(self) -> None:
        text = "".join(self._arrived)
        self._arrived.clear()
        self.query_one(PlainLines).append(text)


if __name__ == "__main__":
    Floor(sys.argv[1]).run()
