"""The compression panel: what it says in every state and size, its keys, and what it costs."""

from __future__ import annotations

import pytest
from textual.binding import Binding
from textual.widgets import Input

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionCancelled,
    CompressionFailed,
    CompressionSkipped,
    CompressionStarted,
    LedgerMade,
    MessageFolded,
    Outcome,
    StageReached,
    SummaryArrived,
    SummaryRejected,
    UserMessagesFill,
)
from ollm_tui.tui.compression.panel import CompressionPanel
from ollm_tui.tui.compression.screen import CompressionScreen
from tests.cases import some
from tests.tui.compression_desk import Desk, desk, still, tell, timers
from tests.tui.compression_samples import STARTED, SUMMARY, TO_FOLD, summarising, whole_story
from tests.tui.dialog_host import shown


def has(app: Desk, *texts: str) -> bool:
    seen = "\n".join(app.seen)
    return all(text in seen for text in texts)


# What it says


async def test_it_shows_stage_bars_fates_words_and_ledger_while_it_runs() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising())
        app.clock.now = 7
        app.panel.follow()
        await still(pilot)
        assert app.seen[0].startswith("Compressing · hybrid")
        assert app.seen[0].endswith("stage 4 of 6 · summarising · 00:07")
        assert has(app, "before", "5,114", "after", "≈1,580", "frees ≈3,534 tokens, 69 %")
        assert has(app, "keep   6 messages   723", "3 yours, 3 recent")
        assert has(app, "fold   30 messages  2.6k → ≈", "elide  4 outputs    1.3k → 80")
        assert has(app, "Summary (being written", "The user wants uploads to stop")
        assert has(app, "Ledger (from records, no model", "decided: back-off belongs to the job")
        assert app.seen[-1] == "Esc cancel, nothing changes"


@pytest.mark.parametrize("width", (100, 104, 108))
async def test_why_messages_stay_is_never_cut(width: int) -> None:
    async with desk((width, 40)) as (app, pilot):
        await tell(app, pilot, summarising())
        await still(pilot)
        assert has(app, "keep   6 messages   723", "3 yours, 3 recent")


async def test_messages_fold_one_by_one() -> None:
    async with desk((200, 50)) as (app, pilot):
        await tell(app, pilot, summarising(messages=0, words=0))
        assert has(app, "○ 4 ○ 6 ○ 7")
        for key in TO_FOLD[:2]:
            app.view.take(MessageFolded(message_id=key))
        await still(pilot)
        assert has(app, "✓4 ● 6 ○ 7")
        app.view.take(StageReached(stage="validate"))
        await still(pilot)
        assert has(app, "✓4 ✓6 ○ 7") and not has(app, "●")


@pytest.mark.more
async def test_of_many_messages_those_around_the_one_at_hand_are_seen() -> None:
    many = [Outcome(f"m{number}", "fold", "words", 100, 0) for number in range(1, 501)]
    started = CompressionStarted(
        number=1,
        strategy="summarize",
        trigger="auto",
        before_tokens=60_000,
        expected_tokens=9_000,
        limit=70_000,
        outcomes=tuple(many),
        model="m",
    )
    async with desk() as (app, pilot):
        await tell(app, pilot, [started, MessageFolded(message_id="m250")])
        line = next(line for line in app.seen if "● 250" in line)
        assert line.strip().startswith("…") and line.endswith("…") and "○ 251" in line


@pytest.mark.more
async def test_the_end_of_a_long_summary_is_in_view() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising(words=0))
        for number in range(600):
            app.view.take(SummaryArrived(text=f"word{number} ", begins=number == 0))
        await still(pilot)
        assert has(app, "word599") and not has(app, "word0 ")


@pytest.mark.more
async def test_a_second_summary_takes_the_place_of_the_first() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising())
        app.view.take(SummaryRejected(reason="the summary only repeats the question", again=True))
        app.view.take(SummaryArrived(text="Anew: ", begins=True))
        await still(pilot)
        assert has(app, "the summary only repeats the question: asking again", "Anew:")
        assert not has(app, "The user wants")
        app.view.take(SummaryRejected(reason="it is empty", again=False))
        await still(pilot)
        assert has(app, "it is empty: continuing with the ledger only")


@pytest.mark.more
async def test_before_the_first_word_it_says_who_is_going_to_write() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, [STARTED])
        assert has(app, "qwen2.5-coder:1.5b will write it here.")
        assert "stage 1 of 6 · selecting" in app.seen[0]


# Its size and its place


@some(2, "unicode", [True, False])
@some(2, "size", [(60, 20), (80, 24), (99, 30), (100, 20), (120, 40), (200, 50)])
async def test_every_size_has_heading_words_and_keys(size: tuple[int, int], unicode: bool) -> None:
    async with desk(size, unicode=unicode) as (app, pilot):
        await tell(app, pilot, summarising())
        assert app.seen[0].startswith("Compressing · hybrid")
        assert has(app, "summarising", "5,114", "1,580", "at first")
        assert app.seen[-1].startswith("Esc cancel, nothing changes")
        panel, stream = app.panel.region, app.transcript.region
        if size[0] >= 100:
            assert abs(panel.width - stream.width) <= 1 and panel.x == stream.right
        else:
            assert panel.y == stream.bottom and panel.width == app.size.width


async def test_the_smallest_form_has_six_lines() -> None:
    async with desk((60, 20)) as (app, pilot):
        await tell(app, pilot, summarising())
        assert len(app.seen) == app.panel.outer_size.height == 6
        assert has(app, "keep 6 · fold 9 of 30 · elide 4 · frees ≈69 %")


@pytest.mark.more
async def test_it_moves_when_the_terminal_gets_another_size() -> None:
    async with desk((120, 40)) as (app, pilot):
        await tell(app, pilot, summarising())
        for size, is_below in (((80, 24), True), ((60, 20), True), ((120, 40), False)):
            await pilot.resize_terminal(*size)
            await still(pilot)
            assert (app.panel.region.y > app.transcript.region.y) == is_below
            assert has(app, "at first")


@pytest.mark.more
async def test_ascii_is_enough() -> None:
    async with desk((200, 50), unicode=False) as (app, pilot):
        await tell(app, pilot, summarising())
        assert not set("▓▒█░✓●○…") & set("\n".join(app.seen))
        assert has(app, "+12 > 13 . 15")


async def test_without_colours_every_part_of_the_bars_has_its_own_character(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising())
        before = next(line for line in app.seen if line.startswith("before"))
        assert set("▓█▆▄") <= set(before)
        assert has(app, "█ keep", "▆ fold", "▄ elide")


# Its manners


async def test_typing_goes_on_and_the_focus_stays() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising())
        await pilot.press("h", "z", "i")
        assert app.query_one(Input).value == "hzi"
        assert app.focused is app.query_one(Input) and app.wanted == []


async def test_what_is_done_at_once_needs_no_panel() -> None:
    async with desk() as (app, pilot):
        for event in whole_story():
            app.view.take(event)
        await still(pilot)
        assert not app.panel.display and "folded 34 messages" in "\n".join(app.stream)


async def test_at_the_end_it_goes_and_the_stream_has_its_room_again() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising())
        assert app.panel.display and app.transcript.size.width < 70
        await tell(app, pilot, whole_story()[-4:])
        assert not app.panel.display and app.transcript.outer_size.width == 120


async def test_esc_z_and_tab_work_once_it_has_the_focus() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising())
        await pilot.click(CompressionPanel)
        assert app.focused is app.panel
        assert app.seen[-1] == "Esc cancel   e edit first   z full screen"
        await pilot.press("escape")
        assert app.wanted == ["cancel"]
        await pilot.press("tab")
        assert app.wanted == ["cancel", "left"] and isinstance(app.focused, Input)


@pytest.mark.more
async def test_the_focus_goes_back_when_it_ends() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising())
        await pilot.click(CompressionPanel)
        await tell(app, pilot, whole_story()[-4:])
        assert app.wanted == ["left"] and isinstance(app.focused, Input)


async def test_nothing_is_left_running_after_the_end() -> None:
    async with desk() as (app, pilot):
        await still(pilot)
        before = timers()
        await tell(app, pilot, summarising())
        assert timers() > before, "the clock"
        for event in whole_story()[-4:]:
            app.view.take(event)
        await still(pilot)
        assert timers() == before


@pytest.mark.more
async def test_many_words_in_one_frame_are_drawn_once() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising(words=1))
        before = app.panel.pictures
        for _ in range(500):
            app.view.take(SummaryArrived(text="word "))
        await still(pilot)
        assert 1 <= app.panel.pictures - before <= 3


# The full screen


async def test_z_shows_it_on_the_whole_screen_and_z_again_beside_the_chat() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising())
        app.panel.focus()
        await pilot.press("z")
        await still(pilot)
        assert isinstance(app.screen, CompressionScreen)
        assert has(app, "Compressing · hybrid", SUMMARY[:90], "z beside the chat")
        app.view.take(SummaryArrived(text="and then more came"))
        await still(pilot)
        assert has(app, "and then more came")
        await pilot.press("z")
        await pilot.pause()
        assert not isinstance(app.screen, CompressionScreen) and app.panel.progress.is_running


async def test_the_whole_screen_stays_at_the_end_until_esc() -> None:
    async with desk() as (app, pilot):
        await tell(app, pilot, summarising())
        app.panel.focus()
        await pilot.press("z")
        await still(pilot)
        await pilot.press("escape")
        assert app.wanted == ["whole", "cancel"] and isinstance(app.screen, CompressionScreen)
        before = timers()
        await tell(app, pilot, whole_story()[-4:])
        assert has(app, "Compressed · hybrid", "freed 3,634 tokens, 71 %", "1,480")
        assert app.seen[-1] == "Esc close" and timers() < before
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(app.screen, CompressionScreen)


@some(
    2,
    ("event", "title", "words"),
    [
        (CompressionCancelled(), "Cancelled", "/compact starts again"),
        (
            CompressionFailed(error="no model answers", hint="F7 chooses one", kind="Unavailable"),
            "Not compressed",
            "Not compressed: no model answers · F7 chooses one",
        ),
        (
            CompressionSkipped(reason="not-enough", message="it would free nothing", hint="F5"),
            "Not compressed",
            "it would free nothing · F5",
        ),
        (
            UserMessagesFill(tokens=3600, limit=6963, foldable=4),
            "Compressing",
            "Your messages take 3.6k of 7.0k tokens and are not folded automatically · /compact "
            "--mine folds the oldest, quoting what they ask for",
        ),
        (
            UserMessagesFill(tokens=3600, limit=6963, foldable=0),
            "Compressing",
            "exclude a large one in /context, or start a new session",
        ),
    ],
)
async def test_the_whole_screen_says_what_went_wrong_and_what_to_do(
    event: AnyCompressionEvent, title: str, words: str
) -> None:
    async with desk((200, 50)) as (app, pilot):
        await tell(app, pilot, summarising())
        app.panel.focus()
        await pilot.press("z")
        await tell(app, pilot, [event])
        assert app.seen[0].startswith(title) and has(app, words)


# What comes from elsewhere


@pytest.mark.more
async def test_foreign_text_is_only_text() -> None:
    evil = "[bold]x[/ [@click=app.quit()]y \x1b]52;c;eA==\x07\x1b[31mz"
    async with desk((200, 50)) as (app, pilot):
        await tell(app, pilot, summarising(words=0))
        for text in (evil[:-3], evil[-3:]):
            app.view.take(SummaryArrived(text=text))
        app.view.take(LedgerMade(text=f"decided: {evil}"))
        app.view.take(SummaryRejected(reason=evil, again=True))
        await still(pilot)
        assert has(app, "[bold]x[/ [@click=app.quit()]y z")
        assert "\x1b" not in shown(app) and "52;c" not in "\n".join(app.seen[-30:-12])


def test_every_binding_has_an_id_and_a_tooltip() -> None:
    for binding in CompressionPanel.BINDINGS:
        assert isinstance(binding, Binding) and binding.id and binding.tooltip
