"""The stream: a column for reading, own words on a ground of their own, times at the right."""

from __future__ import annotations

import re

from ollm_tui.core.provider import TextDelta
from ollm_tui.settings.schema import Interface, Settings
from ollm_tui.tui.app import OllmApp
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, drawn_stream, send

WORDS = " ".join(f"word{number}" for number in range(200))
WIDE = (200, 40)


@some(1, ("align", "indent"), [("left", 0), ("centre", 20)])
async def test_text_is_at_most_a_hundred_columns_wide(
    open_app: OpenApp, align: str, indent: int
) -> None:
    ui = Interface(text_align="centre" if align == "centre" else "left")
    async with open_app([[TextDelta(WORDS)]], settings=Settings(ui=ui), size=WIDE) as (app, pilot):
        await send(app, pilot, "go")
        transcript = chat(app).transcript
        lines = [transcript.render_line(y).text.rstrip() for y in range(20)]
        (*_, longest) = sorted((line for line in lines if "word" in line), key=len)
        assert len(longest.strip()) <= 102
        assert len(longest) - len(longest.lstrip()) >= indent


async def test_own_words_have_another_ground_also_under_the_cursor(open_app: OpenApp) -> None:
    async with open_app([[TextDelta("answer")]]) as (app, pilot):
        await send(app, pilot, "question")
        grounds = [_ground(app, text) for text in ("question", "answer")]
        await pilot.press("alt+up", "k", "K")
        await pilot.pause()
        marked = [_ground(app, text) for text in ("question", "answer")]
        assert grounds[0] != grounds[1]
        assert marked[0] not in (grounds[0], marked[1])


async def test_the_time_stands_at_the_right_edge_unless_the_setting_says_no(
    open_app: OpenApp,
) -> None:
    async with open_app([[TextDelta("answer")]]) as (app, pilot):
        await send(app, pilot, "question")
        assert all(re.search(r" \d\d:\d\d$", line) for line in drawn_stream(app)[-2:])
    without = Settings(ui=Interface(timestamps=False))
    async with open_app([[TextDelta("answer")]], settings=without) as (app, pilot):
        await send(app, pilot, "question")
        assert not any(re.search(r"\d\d:\d\d", line) for line in drawn_stream(app))


def _ground(app: OllmApp, text: str) -> object:
    transcript = chat(app).transcript
    for y in range(transcript.size.height):
        for segment in transcript.render_line(y):
            if text in segment.text and segment.style:
                return segment.style.bgcolor
    raise AssertionError(f"{text} is not on the screen")
