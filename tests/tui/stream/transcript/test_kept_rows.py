"""Finished rows are drawn once; what is seen is the same as if they were drawn each time."""

from __future__ import annotations

import pytest
from textual.geometry import Offset, Region
from textual.pilot import Pilot
from textual.selection import Selection
from textual.strip import Strip

from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.tui.stream.transcript.screen import numbered, shown

ANSWER = "".join(f"word *{number}*\n\n" for number in range(60))


def growing() -> Entry:
    entry = Entry("g", "assistant")
    entry.growing = True
    return entry


def drawn(transcript: Transcript) -> list[Strip]:
    return transcript.render_lines(Region(0, 0, *transcript.outer_size))


async def as_if_new(transcript: Transcript, pilot: Pilot[object]) -> None:
    """Compare what is drawn with what is drawn where nothing was kept."""
    await pilot.pause()
    kept = [list(strip) for strip in drawn(transcript)]
    transcript.notify_style_update()
    transcript.refresh()
    assert kept == [list(strip) for strip in drawn(transcript)]


async def test_an_answer_that_grows_and_scrolls_looks_as_if_all_of_it_was_drawn_anew() -> None:
    async with shown(*numbered(5), growing()) as (transcript, pilot):
        for start in range(0, len(ANSWER), 7):
            transcript.grow("g", ANSWER[start : start + 7])
            await as_if_new(transcript, pilot)
        transcript.finish("g", "done")
        await as_if_new(transcript, pilot)
        transcript.scroll_to(y=7, animate=False)
        await as_if_new(transcript, pilot)


async def test_marks_on_rows_that_were_drawn_before_are_seen_and_go_away_again() -> None:
    async with shown(Entry("a", "assistant", ANSWER[:40])) as (transcript, pilot):
        before = [list(strip) for strip in drawn(transcript)]
        transcript.finder.search("word")
        found = [list(strip) for strip in drawn(transcript)]
        transcript.finder.clear()
        transcript.cursor.move_to("a")
        under_cursor = [list(strip) for strip in drawn(transcript)]
        transcript.cursor.move_to(None)
        selection = Selection(Offset(0, 0), None)
        transcript.screen.selections = {transcript: selection}
        selected = [list(strip) for strip in drawn(transcript)]
        transcript.screen.selections = {}
        assert before not in (found, under_cursor, selected)
        await as_if_new(transcript, pilot)
        assert [list(strip) for strip in drawn(transcript)] == before


async def test_rows_that_only_stand_elsewhere_are_not_drawn_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with shown(Entry("a", "assistant", ANSWER)) as (transcript, pilot):
        rows = list[int]()
        draw = Transcript.render_line

        def counted(self: Transcript, y: int) -> Strip:
            rows.append(y)
            return draw(self, y)

        monkeypatch.setattr(Transcript, "render_line", counted)
        transcript.scroll_to(y=20, animate=False)
        await pilot.pause()
        drawn(transcript)
        rows.clear()
        transcript.scroll_to(y=22, animate=False)
        await pilot.pause()
        drawn(transcript)
        assert len(rows) <= 4  # of ten: the two that came into view, and what scrolling measures
