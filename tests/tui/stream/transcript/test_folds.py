"""Folds: one line until they are opened, and nothing jumps when they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ollm_tui.tui.stream.transcript.entry import Entry, Fold
from tests.tui.stream.transcript.looks import LOOKS
from tests.tui.stream.transcript.screen import numbered, seen, shown


def thoughtful(is_open: bool = False) -> Entry:
    folds = [
        Fold("t", "tool", "read_file a.py", "import\n\tthis", is_open),
        Fold("r", "reasoning", "thought for 4 s", "first\nsecond", is_open),
    ]
    return Entry("a", "assistant", "The **answer**.", "31 tok/s", folds=folds)


async def test_reasoning_stands_before_the_words_and_tools_after_them() -> None:
    async with shown(thoughtful()) as (transcript, _):
        lines = [line for line in seen(transcript) if line]
        assert lines[:2] == ["┃ ▸ thought for 4 s", "┃ The answer."]
        assert lines[2].startswith("┃ ▸ read_file a.py ")
        assert lines[2].endswith(" 31 tok/s")


async def test_toggling_opens_all_if_any_is_closed_and_else_closes_all() -> None:
    async with shown(thoughtful(), size=(40, 14)) as (transcript, pilot):
        transcript.toggle_folds("a", "reasoning")
        await pilot.pause()
        assert "┃   second" in seen(transcript)
        assert "┃       this" not in seen(transcript)
        transcript.toggle_folds("a")
        await pilot.pause()
        assert {"┃   second", "┃       this"} <= set(seen(transcript))
        transcript.toggle_folds("a")
        await pilot.pause()
        assert len([line for line in seen(transcript) if line]) == 3


async def test_a_click_on_its_line_opens_a_fold_that_stays_under_the_mouse() -> None:
    long = Entry("a", "assistant", "words", folds=[Fold("t", "tool", "long", "line\n" * 50)])
    async with shown(*numbered(9), long) as (transcript, pilot):
        row = seen(transcript).index("┃ ▸ long")
        await pilot.click(transcript, offset=(5, row))
        assert seen(transcript)[row] == "┃ ▾ long"
        assert not transcript.is_following
        await pilot.click(transcript, offset=(5, row))
        assert seen(transcript)[row] == "┃ ▸ long"
        assert transcript.is_following
        assert not transcript.has_news, "what the user opens is not news"


async def test_folds_grow_by_their_key_open_or_closed() -> None:
    entry = Entry("a", "assistant")
    entry.growing = True
    async with shown(entry) as (transcript, pilot):
        for word in ("one ", "two "):
            transcript.grow_fold("a", Fold("r", "reasoning", "thinking …", word))
        held = Fold("t", "tool", "output", is_open=True)
        transcript.grow_fold("a", held, "alpha ")
        transcript.grow_fold("a", held, "beta")
        transcript.retitle_fold("a", "r", "thought for 1 s")
        await pilot.pause()
        lines = [line for line in seen(transcript) if line]
        assert lines == ["┃ ▸ thought for 1 s", "┃ ▾ output", "┃   alpha beta"]
        assert [fold.text for fold in transcript.entry("a").folds] == ["one two ", "alpha beta"]


async def test_what_grows_above_the_view_does_not_move_it() -> None:
    growing = Entry("g", "assistant", "x", folds=[Fold("t", "tool", "output", "a", is_open=True)])
    async with shown(growing, *numbered(20)) as (transcript, pilot):
        transcript.go_to("e7")
        await pilot.pause()
        before = seen(transcript)
        for _ in range(5):
            transcript.grow_fold("g", growing.folds[0], "\nmore" * 7)
        transcript.grow("g", "\n\nand more" * 20)
        transcript.drop("e2")
        transcript.replace(Entry("e3", "user", "another text\n" * 9))
        await pilot.pause()
        assert seen(transcript) == before


@pytest.mark.more
async def test_a_long_title_is_cut_and_a_hostile_one_is_one_harmless_line() -> None:
    folds = [Fold("t", "tool", "漢" * 40), Fold("u", "tool", "[bold]\nx\x1b[2J\ty")]
    async with shown(Entry("a", "user", "q", folds=folds)) as (transcript, _):
        lines = [line for line in seen(transcript) if line]
        assert lines[1].startswith("▌ ▸ 漢漢") and lines[1].endswith("…")
        assert lines[2] == "▌ ▸ [bold] x\ufffd[2J y"


@pytest.mark.more
async def test_without_unicode_all_marks_are_plain() -> None:
    looks = replace(LOOKS, unicode=False)
    async with shown(*numbered(9), thoughtful(), looks=looks) as (transcript, pilot):
        transcript.toggle_folds("a", "tool")
        transcript.cursor.move_to("a")
        transcript.go_to("e0")
        transcript.add(Entry("n", "note", "n"))
        await pilot.pause()
        assert seen(transcript)[-1].endswith(" new v")
        transcript.go_to("a")
        await pilot.pause()
        assert {"# + thought for 4 s", "# - read_file a.py"} <= set(seen(transcript))
        assert "".join(seen(transcript)).isascii()


async def test_details_stand_beside_the_footer() -> None:
    entry = Entry("a", "user", "words", "stopped", details="14:02 · 9 tokens")
    plain = Entry("b", "note", "nothing more", "end")
    async with shown(entry, plain) as (transcript, pilot):
        assert any(line.endswith("stopped") for line in seen(transcript))
        transcript.show_details = True
        await pilot.pause()
        text = "\n".join(seen(transcript))
        assert "stopped · 14:02 · 9 tokens" in text
        assert " end" in text, "who has no details keeps the footer"
        transcript.finish("a", "done", "14:03")
        await pilot.pause()
        assert any(
            line.startswith("▌ words") and line.endswith("done · 14:03")
            for line in seen(transcript)
        )
