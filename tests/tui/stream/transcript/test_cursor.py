"""The message cursor: where it goes, what it brings into view, what clicks do."""

from __future__ import annotations

import pytest

from ollm_tui.tui.stream.transcript.entry import Entry
from tests.tui.stream.transcript.screen import Screen, coloured, numbered, seen, shown

TALL = Entry("tall", "user", "\n".join(f"line {number}" for number in range(30)))


async def test_it_begins_at_the_last_entry_in_view() -> None:
    async with shown(*numbered(20)) as (transcript, _):
        transcript.go_to("e5")
        transcript.cursor.move(-1)
        assert transcript.cursor.key in ("e6", "e7")
        assert transcript.cursor.keys == [transcript.cursor.key]


async def test_it_moves_by_entries_and_stops_at_both_ends() -> None:
    async with shown(*numbered(3), Entry("n", "note", "a note")) as (transcript, pilot):
        for step, key in ((1, "n"), (1, "n"), (-1, "e2"), (-9, "e0"), (9, "n")):
            transcript.cursor.move(step)
            assert transcript.cursor.key == key
        await pilot.pause()
        assert isinstance(pilot.app, Screen)
        assert pilot.app.cursor_keys == ["n", "e2", "e0", "n"]


@pytest.mark.more
async def test_an_empty_stream_has_nowhere_to_go() -> None:
    async with shown() as (transcript, _):
        transcript.cursor.move(1)
        transcript.cursor.extend(-1)
        assert transcript.cursor.key is None
        assert transcript.cursor.keys == []


async def test_it_reaches_over_several_entries_from_where_it_was_put() -> None:
    async with shown(*numbered(9)) as (transcript, _):
        transcript.cursor.move_to("e4")
        transcript.cursor.extend(1)
        transcript.cursor.extend(1)
        assert transcript.cursor.keys == ["e4", "e5", "e6"]
        transcript.cursor.extend(-3)
        assert transcript.cursor.keys == ["e3", "e4"]
        assert transcript.cursor.key == "e3"
        transcript.cursor.move(-1)
        assert transcript.cursor.keys == ["e2"]


async def test_its_entry_has_another_mark_and_ground_and_is_whole_in_view() -> None:
    async with shown(*numbered(20)) as (transcript, pilot):
        for key in ("e3", "e12", "e11", "e0"):
            transcript.cursor.move_to(key)
            await pilot.pause()
            marked = [text for text in coloured(transcript, "grey30") if text.strip()]
            assert any("▌" in text for text in marked)
            assert sum(f"message {key[1:]} line" in line for line in seen(transcript)) == 3
        transcript.cursor.move_to(None)
        assert not coloured(transcript, "grey30")


async def test_of_an_entry_too_tall_the_side_it_came_from_is_shown() -> None:
    async with shown(*numbered(4), TALL, *numbered(8)[4:]) as (transcript, pilot):
        transcript.cursor.move_to("e3")
        transcript.cursor.move(1)
        await pilot.pause()
        assert seen(transcript)[0] == "▌ line 0"
        transcript.cursor.move(1)
        transcript.cursor.move(-1)
        await pilot.pause()
        assert seen(transcript)[-1] == "▌ line 29"


async def test_a_click_puts_it_without_moving_the_view_and_a_drag_selects() -> None:
    async with shown(TALL, *numbered(3)) as (transcript, pilot):
        transcript.go_to("tall")
        transcript.scroll_to(y=5, animate=False)
        await pilot.pause()
        before = seen(transcript)
        await pilot.click(transcript, offset=(4, 2))
        assert transcript.cursor.key == "tall"
        assert seen(transcript) == before
        transcript.cursor.move_to(None)
        await pilot.mouse_down(transcript, offset=(2, 3))
        await pilot.hover(transcript, offset=(5, 4))
        await pilot.mouse_up(transcript, offset=(5, 4))
        assert transcript.cursor.key is None
        assert pilot.app.screen.get_selected_text() == "line 8\nline"


@pytest.mark.more
async def test_it_leaves_an_entry_that_goes_away() -> None:
    async with shown(*numbered(3)) as (transcript, _):
        transcript.cursor.move_to("e1")
        transcript.drop("e1")
        assert transcript.cursor.key is None
        assert transcript.keys == ["e0", "e2"]
        transcript.drop("e1")
