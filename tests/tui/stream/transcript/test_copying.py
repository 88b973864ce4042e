"""What can be copied: whole messages, blocks of code, and what the mouse selects."""

from __future__ import annotations

import pytest
from textual.geometry import Offset
from textual.selection import SELECT_ALL

from ollm_tui.tui.stream.transcript.entry import Entry, Fold
from ollm_tui.tui.stream.transcript.entry_layout import EntryLayout
from tests.tui.stream.transcript.screen import numbered, seen, shown

CODE = "\n\n".join(f"text {n}\n\n```py\nblock = {n}\n```" for n in range(4))


async def test_messages_are_copied_as_they_were_written() -> None:
    entries = [Entry("a", "user", "my *words*\n"), Entry("b", "assistant"), Entry("c", "note", "n")]
    async with shown(*entries, Entry("d", "assistant", "**bold**")) as (transcript, _):
        assert transcript.copy_text(["a", "b", "d"]) == "my *words*\n\n**bold**"
        assert transcript.plain_text("d") == "**bold**"


async def test_blocks_of_code_begin_with_the_one_in_the_middle_of_the_view() -> None:
    thought = Fold("r", "reasoning", "thought", "so\n" * 30, is_open=True)
    entry = Entry("a", "assistant", CODE, folds=[thought])
    async with shown(entry, Entry("u", "user", "x")) as (transcript, pilot):
        row = next(y for y, line in enumerate(seen(transcript)) if "block = 2" in line)
        transcript.scroll_to(y=transcript.scroll_offset.y + row - 5, animate=False)
        await pilot.pause()
        blocks = transcript.code_blocks("a")
        assert blocks == [f"block = {number}\n" for number in (2, 3, 0, 1)]
        assert transcript.code_blocks("u") == []


async def test_what_is_dragged_over_is_copied_also_when_characters_are_wide() -> None:
    text = "漢字 and 漢字\n\n> quoted 漢 text\n\n|一|b|\n|-|-|\n|二|c|\n"
    async with shown(Entry("a", "assistant", text), size=(40, 12)) as (transcript, pilot):
        lines = seen(transcript)
        quote = next(y for y, line in enumerate(lines) if "quoted" in line)
        await pilot.mouse_down(transcript, offset=(4, 0))
        await pilot.hover(transcript, offset=(9, quote))
        await pilot.mouse_up(transcript, offset=(9, quote))
        assert pilot.app.screen.get_selected_text() == "字 and 漢字\n\nquoted"
        drawn = transcript.render_line(0)
        style = pilot.app.screen.get_component_rich_style("screen--selection")
        chosen = [part.text for part in drawn if part.style and part.style.bgcolor == style.bgcolor]
        assert "".join(chosen).strip() == "字 and 漢字"


@pytest.mark.more
async def test_what_is_selected_stays_so_when_heights_above_become_known() -> None:
    tall = [Entry(f"t{n}", "assistant", "a\n\n" * 20 + "word " * 300) for n in range(9)]
    async with shown(*tall, Entry("end", "user", "the last words")) as (transcript, pilot):
        row = seen(transcript).index("▌ the last words")
        await pilot.mouse_down(transcript, offset=(6, row))
        await pilot.hover(transcript, offset=(9, row))
        await pilot.mouse_up(transcript, offset=(9, row))
        assert pilot.app.screen.get_selected_text() == "last"
        transcript.go_to("t0")
        await pilot.pause()
        transcript.go_to("t5")
        await pilot.pause()
        assert pilot.app.screen.get_selected_text() == "last"


async def test_two_clicks_select_the_message_and_not_the_whole_stream() -> None:
    async with shown(*numbered(2), Entry("a", "assistant", "*all* of\n\nthis")) as (
        transcript,
        pilot,
    ):
        row = seen(transcript).index("┃ all of")
        await pilot.click(transcript, offset=(4, row), times=2)
        assert pilot.app.screen.get_selected_text() == "all of\n\nthis"


@pytest.mark.more
async def test_a_huge_selection_lays_out_every_entry_once(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[str] = []
    begin = EntryLayout.__init__

    def counted(self: EntryLayout, entry: Entry, *rest: object) -> None:
        laid_out.append(entry.key)
        begin(self, entry, *rest)  # pyright: ignore[reportArgumentType] passed on as they came

    async with shown(*numbered(2_000)) as (transcript, _):
        kept = transcript.stack.layouts_kept
        monkeypatch.setattr(EntryLayout, "__init__", counted)
        text = transcript.get_selection(SELECT_ALL)
        assert text and text[0].count("message") == 6_000
        assert len(laid_out) == 2_000 - kept
        assert transcript.stack.layouts_kept == kept


async def test_the_line_of_more_below_comes_and_goes_and_leads_to_the_end() -> None:
    async with shown(*numbered(20)) as (transcript, pilot):
        transcript.go_to("e3")
        await pilot.pause()
        assert not any("new ↓" in line for line in seen(transcript))
        transcript.add(Entry("n", "user", "another"))
        await pilot.pause()
        last = transcript.render_line(9).text
        assert last[: transcript.stack.width].endswith(" new ↓ ")
        await pilot.click(transcript, offset=Offset(transcript.stack.width - 3, 9))
        assert transcript.is_following
        assert any("another" in line for line in seen(transcript))
        assert not any("new ↓" in line for line in seen(transcript))
