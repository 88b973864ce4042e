"""Find in the conversation: what counts as a hit, where it goes, what is marked."""

from __future__ import annotations

import pytest

from ollm_tui.tui.kit.find_bar import FindBar
from ollm_tui.tui.stream.transcript.entry import Entry, Fold
from ollm_tui.tui.stream.transcript.finder import ENTRIES_AT_A_TIME
from ollm_tui.tui.stream.transcript.stack import KEPT_LAYOUTS
from tests.cases import some
from tests.tui.stream.transcript.screen import coloured, numbered, seen, shown

HIT, CURRENT = "yellow", "red"


@some(
    5,
    ("words", "hits"),
    [
        ("retry", 3),
        ("Retry", 1),
        ("RETRY", 0),
        ("a.c", 1),
        ("[/", 1),
        ("(", 0),
        ("漢字", 2),
        ("one two", 2),
        ("", 0),
        ("  ", 0),
        ("ÜB", 0),
        ("üb", 1),
    ],
)
async def test_words_are_literal_and_case_counts_only_with_an_uppercase_letter(
    words: str, hits: int
) -> None:
    entries = [
        Entry("a", "user", "retry Retry retry a.c abc [/ 漢字漢字"),
        Entry("b", "assistant", "one\ntwo **x** one two Über"),
    ]
    async with shown(*entries) as (transcript, _):
        assert transcript.finder.search(words) == hits
        assert transcript.finder.position == (0, hits)


async def test_going_round_shows_every_hit_and_marks_the_current_one() -> None:
    async with shown(*numbered(30)) as (transcript, pilot):
        transcript.go_to("e10")
        assert transcript.finder.search("LINE 1".lower()) == 30
        visited: list[int] = []
        for _ in range(31):
            transcript.finder.go(1)
            await pilot.pause()
            visited.append(transcript.finder.position[0])
            assert coloured(transcript, CURRENT) == ["line 1"]
            message = visited[-1] - 1
            assert any(f"message {message} line 1" in line for line in seen(transcript))
        assert visited[0] == 11, "begins where the view is"
        assert visited[:3] == [11, 12, 13] and sorted(visited[:30]) == list(range(1, 31))
        transcript.finder.go(-1)
        assert transcript.finder.position == (10, 30)
        transcript.finder.clear()
        assert transcript.finder.position == (0, 0)
        assert not coloured(transcript, HIT) and not coloured(transcript, CURRENT)


async def test_going_back_begins_at_the_bottom_of_the_view() -> None:
    async with shown(*numbered(30)) as (transcript, _):
        transcript.finder.search("message")
        transcript.finder.go(-1)
        assert transcript.finder.position == (90, 90)
        transcript.finder.go(1)
        assert transcript.finder.position == (1, 90)


async def test_typing_on_stays_at_the_hit_as_long_as_it_fits() -> None:
    async with shown(*numbered(30)) as (transcript, pilot):
        transcript.go_to("e4")
        for words in ("m", "mess", "message 1", "message 17"):
            transcript.finder.search(words)
            transcript.finder.go(1)
        await pilot.pause()
        assert coloured(transcript, CURRENT) == ["message 17"]


async def test_a_hit_over_a_line_end_and_one_that_is_not_seen_are_gone_to() -> None:
    far = "filler words here " * 60
    wrapped = "exponential back-off with jitter and wrapping"
    text = f"{far}\n\n{wrapped}\n\n{far}\n\n![p](http://x/needle.png)\n"
    async with shown(Entry("a", "assistant", text), *numbered(5)) as (transcript, pilot):
        transcript.go_to("a")
        transcript.finder.search("jitter and wrapping")
        transcript.finder.go(1)
        await pilot.pause()
        assert " ".join(coloured(transcript, CURRENT)).split() == ["jitter", "and", "wrapping"]
        assert transcript.finder.search("needle") == 1
        transcript.finder.go(1)
        await pilot.pause()
        assert coloured(transcript, CURRENT), "something is marked"


async def test_hits_in_wide_text_tables_quotes_and_code_are_marked_exactly() -> None:
    text = "漢字 needle 漢\n\n> a needle\n\n|x|y|\n|-|-|\n|漢|needle|\n\n```py\nneedle = 1\n```\n"
    async with shown(Entry("a", "assistant", text), size=(40, 20)) as (transcript, _):
        assert transcript.finder.search("needle") == 4
        assert coloured(transcript, HIT) == ["needle"] * 4


async def test_a_closed_fold_with_a_hit_is_opened() -> None:
    fold = Fold("t", "tool", "output", "row\n" * 30 + "needle\n" + "row\n" * 30)
    entries = [*numbered(9), Entry("a", "assistant", "x", folds=[fold]), *numbered(3)]
    async with shown(*entries) as (transcript, pilot):
        assert transcript.finder.search("needle") == 1
        transcript.finder.go(1)
        await pilot.pause()
        assert fold.is_open
        assert coloured(transcript, CURRENT) == ["needle"]


async def test_entries_that_go_away_take_their_hits_along() -> None:
    async with shown(*numbered(4)) as (transcript, _):
        transcript.finder.search("line 0")
        transcript.finder.go(1)
        transcript.drop("e3")
        assert transcript.finder.position == (0, 3)
        transcript.replace(Entry("e2", "user", "nothing"))
        transcript.finder.go(1)
        assert transcript.finder.position[1] == 2
        transcript.show([])
        transcript.finder.go(1)
        assert transcript.finder.position == (0, 0)


async def test_a_search_in_steps_keeps_the_hits_before_until_it_ends() -> None:
    async with shown(*numbered(2 * ENTRIES_AT_A_TIME)) as (transcript, _):
        assert transcript.finder.search("message 7 line 1") == 1
        steps = transcript.finder.searching("line 1")
        next(steps)
        assert transcript.finder.position[1] == 1
        assert list(steps) == [] and transcript.finder.position[1] == 2 * ENTRIES_AT_A_TIME


@pytest.mark.more
async def test_what_goes_away_while_it_is_searched_for_is_no_hit() -> None:
    async with shown(*numbered(2 * ENTRIES_AT_A_TIME)) as (transcript, _):
        steps = transcript.finder.searching("message 7 line 1")
        next(steps)
        transcript.drop("e7")
        list(steps)
        assert transcript.finder.position == (0, 0)


async def test_another_letter_ends_a_long_search_and_enter_does_not_wait_for_it() -> None:
    async with shown(*numbered(2 * ENTRIES_AT_A_TIME)) as (transcript, pilot):
        bar = FindBar(transcript)
        await pilot.app.mount(bar)
        bar.open("line 1")
        assert transcript.finder.position == (0, 0), "it goes on later"
        bar.open("message 7 line 1")
        bar.action_go(1)
        assert transcript.finder.position == (1, 1)
        while any(worker.is_running for worker in pilot.app.workers):
            await pilot.pause()
        assert transcript.finder.position == (1, 1), "the search before has ended"


async def test_only_what_is_gone_to_is_laid_out() -> None:
    async with shown(*numbered(10_000)) as (transcript, pilot):
        assert transcript.finder.search("message 5000 line 2") == 1
        assert transcript.stack.layouts_kept < 10
        transcript.finder.go(1)
        await pilot.pause()
        assert transcript.stack.layouts_kept < min(30, KEPT_LAYOUTS)
        assert coloured(transcript, CURRENT) == ["message 5000 line 2"]
