"""The chat stream on a real (headless) screen: what is seen, and what moves it."""

from __future__ import annotations

import pytest
from textual.geometry import Offset
from textual.selection import Selection

from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.stack import KEPT_LAYOUTS
from tests.tui.stream.transcript.screen import numbered, seen, shown


async def test_a_session_opens_at_its_end() -> None:
    async with shown(*numbered(50)) as (transcript, _):
        text = seen(transcript)
        assert any("message 49 line 2" in line for line in text)
        assert transcript.is_following


async def test_an_empty_stream_is_blank() -> None:
    async with shown() as (transcript, _):
        assert set(seen(transcript)) == {""}


async def test_speakers_are_told_apart_by_a_mark_in_the_margin() -> None:
    entries = [
        Entry("a", "user", "mine"),
        Entry("b", "assistant", "*yours*"),
        Entry("c", "error", "no server"),
    ]
    async with shown(*entries) as (transcript, _):
        assert [line for line in seen(transcript) if line] == ["▌ mine", "┃ yours", "! no server"]


async def test_growing_text_is_followed_at_the_bottom() -> None:
    growing = Entry("g", "assistant")
    growing.growing = True
    async with shown(*numbered(20), growing) as (transcript, pilot):
        for number in range(30):
            transcript.grow("g", f"word{number}\n\n")
        await pilot.pause()
        assert any("word29" in line for line in seen(transcript))
        transcript.finish("g", "30 tokens")
        await pilot.pause()
        assert any("30 tokens" in line for line in seen(transcript))


async def test_whoever_reads_above_is_not_moved_by_what_arrives_below() -> None:
    growing = Entry("g", "assistant")
    growing.growing = True
    async with shown(*numbered(30), growing) as (transcript, pilot):
        transcript.scroll_to(y=20, animate=False)
        await pilot.pause()
        before = seen(transcript)
        assert not transcript.is_following
        for number in range(40):
            transcript.grow("g", f"more {number}\n\n")
        transcript.add(Entry("n", "user", "another"))
        await pilot.pause()
        assert [line.removesuffix("new ↓").rstrip() for line in seen(transcript)] == before
        transcript.go_to_end()
        await pilot.pause()
        assert any("another" in line for line in seen(transcript))
        assert transcript.is_following


async def test_scrolling_up_line_by_line_shows_every_line_once_and_in_order() -> None:
    entries = [
        Entry(f"e{number}", "assistant", f"# Title {number}\n\n" + f"text {number} " * (7 * number))
        for number in range(12)
    ]
    async with shown(*entries) as (transcript, pilot):
        gathered = seen(transcript)
        while transcript.scroll_offset.y > 0:
            transcript.scroll_to(y=transcript.scroll_offset.y - 1, animate=False)
            await pilot.pause()
            now = seen(transcript)
            assert now[1:] == gathered[: len(now) - 1], "one line came in at the top"
            gathered.insert(0, now[0])
        titles = [line for line in gathered if "Title" in line]
        assert titles == [f"┃ Title {number}" for number in range(12)]


async def test_a_resize_keeps_the_place_of_the_reader() -> None:
    async with shown(*numbered(40)) as (transcript, pilot):
        transcript.go_to("e20")
        await pilot.pause()
        assert "message 20 line 0" in seen(transcript)[0]
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert "message 20 line 0" in seen(transcript)[0]


@pytest.mark.more
async def test_a_resize_at_the_bottom_stays_at_the_bottom() -> None:
    async with shown(*numbered(40)) as (transcript, pilot):
        await pilot.resize_terminal(25, 8)
        await pilot.pause()
        assert any("message 39 line 2" in line for line in seen(transcript))


async def test_ten_thousand_messages_are_never_laid_out_at_once() -> None:
    async with shown(*numbered(10_000)) as (transcript, pilot):
        for key in ("e0", "e5000", "e9999", "e1"):
            transcript.go_to(key)
            await pilot.pause()
            assert any(f"message {key[1:]} line 0" in line for line in seen(transcript))
        assert transcript.stack.layouts_kept <= KEPT_LAYOUTS


async def test_the_selected_lines_are_copied_without_their_margin() -> None:
    async with shown(Entry("a", "user", "first line\nsecond line")) as (transcript, _):
        assert transcript.get_selection(Selection(Offset(2, 0), Offset(8, 1))) == (
            "first line\nsecond",
            "\n",
        )
        assert transcript.get_selection(Selection(None, None)) == ("first line\nsecond line", "\n")


async def test_brackets_and_markup_of_others_are_only_text() -> None:
    hostile = "[@click=app.bell()]x[/] [bold]y [/"
    async with shown(Entry("a", "user", hostile), Entry("b", "note", hostile)) as (transcript, _):
        assert [line[2:] for line in seen(transcript) if line] == [hostile, hostile]


async def test_whoever_comes_to_see_the_bottom_follows_it_whatever_the_reason() -> None:
    async with shown(*numbered(6)) as (transcript, pilot):
        transcript.go_to("e3")
        await pilot.pause()
        assert not transcript.is_following
        await pilot.resize_terminal(40, 60)
        await pilot.pause()
        assert transcript.is_following
        await pilot.resize_terminal(40, 10)
        transcript.go_to("e3")
        for key in ("e3", "e4", "e5"):
            transcript.drop(key)
        await pilot.pause()
        assert transcript.is_following
        assert any("message 2 line 2" in line for line in seen(transcript))


async def test_what_was_added_while_hidden_is_drawn_with_its_real_height() -> None:
    entries = [
        Entry("note", "error", "Not saved\nFree disk space, \nand try it \nagain"),
        Entry("question", "user", "| a | b |\n| - | - |\n| 1 | 2 |"),
    ]
    async with shown() as (transcript, pilot):
        transcript.display = False
        await pilot.pause()
        for entry in entries:
            transcript.add(entry)
        transcript.display = True
        await pilot.pause()
        first = pilot.app.export_screenshot()
        transcript.refresh()
        await pilot.pause()
        assert pilot.app.export_screenshot() == first
