"""The preview of a compression: what it shows, every key, and what it gives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from textual import events
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Input, Static

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionCancelled,
    CompressionDrafted,
    CompressionFailed,
    CompressionSkipped,
    SummaryArrived,
    SummaryReading,
    SummaryRejected,
)
from ollm_tui.tui.compression.preview import (
    Applied,
    BeforeAfterScreen,
    CompressionPreview,
    StartOver,
    SummaryArea,
)
from ollm_tui.tui.kit.choice_list import ChoiceList
from tests.cases import some
from tests.tui.compression_desk import still, timers
from tests.tui.compression_samples import (
    DRAFT,
    STARTED,
    SUMMARY,
    drafted,
    summarising,
)
from tests.tui.dialog_host import NOTHING_YET, Host, shown


@asynccontextmanager
async def preview(
    told: Iterable[AnyCompressionEvent] = (),
    size: tuple[int, int] = (120, 40),
    *,
    unicode: bool = True,
) -> AsyncGenerator[tuple[Host, Pilot[None], CompressionPreview]]:
    screen = CompressionPreview("old words", unicode=unicode)
    app = Host(screen)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        for event in told:
            screen.take(event)
        await still(pilot)
        yield app, pilot, screen


def said(app: Host) -> str:
    return str(app.opened.query_one("#said", Static).content)


def area(app: Host) -> SummaryArea:
    return app.opened.query_one(SummaryArea)


def lines(app: Host) -> list[str]:
    """The list from its top, in few spaces."""
    found = app.opened.query_one(ChoiceList)
    texts = [found.render_line(y).text for y in range(found.size.height)]
    return [" ".join(text.split()) for text in texts if text.strip()]


# What it shows


async def test_three_groups_with_their_tokens_the_largest_first() -> None:
    async with preview(summarising(), (120, 70)) as (app, _, _):
        found = lines(app)
        assert found[0] == "Kept · 6 · 723 tokens"
        assert found[1].startswith("140 Message 40") and found[1].endswith("recent")
        assert found[7] == "Folded into a checkpoint · 30 · 2,603 tokens"
        sizes = [int(line.split()[0]) for line in found[8:38]]
        assert sizes == sorted(sizes, reverse=True)
        assert found[38] == "Shortened · 4 · 1,320 tokens"
        assert found[39] == "330 read_file src/part5.py 20 left"


async def test_bars_counts_and_the_ledger_are_there_at_once() -> None:
    async with preview(summarising()) as (app, _, _):
        text = shown(app)
        assert "Preview · hybrid" in text and "stage 4 of 6 · summarising" in text
        assert "5,114" in text and "≈1,580" in text
        assert "█ kept 6   █ folded 30   █ shortened 4" in text
        assert "required: never retry a 4xx" in text
        assert said(app).startswith("Nothing changed yet.")


async def test_the_summary_is_read_as_it_is_written() -> None:
    async with preview(summarising(words=0)) as (app, pilot, screen):
        for place, text in enumerate(("One ", "two ", "three")):
            screen.take(SummaryArrived(text=text, begins=place == 0))
            await still(pilot)
        assert area(app).text == "One two three"
        screen.take(SummaryRejected(reason="it is empty", again=True))
        screen.take(SummaryArrived(text="Anew", begins=True))
        await still(pilot)
        assert area(app).text == "Anew" and "it is empty: asking again" in said(app)


@pytest.mark.more
async def test_what_arrives_before_it_is_seen_is_shown() -> None:
    screen = CompressionPreview()
    for event in drafted():
        screen.take(event)
    app = Host(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await still(pilot)
        assert area(app).text == SUMMARY and "Enter apply" in shown(app)


async def test_a_draft_says_in_words_what_would_happen() -> None:
    async with preview(drafted()) as (app, _, _):
        assert said(app) == (
            "Nothing changed yet. Applying: 30 messages folded into a checkpoint, "
            "4 outputs shortened."
        )
        assert "Enter apply  e edit summary  x without summary  Space keep/cut/fold" in shown(app)
        assert "i instructions  Esc close, nothing changes" in shown(app)


@some(2, "unicode", [True, False])
@some(2, "size", [(60, 20), (80, 24), (120, 40), (200, 50)])
async def test_every_size_has_all_that_matters(size: tuple[int, int], unicode: bool) -> None:
    async with preview(drafted(), size, unicode=unicode) as (app, _, _):
        text = shown(app)
        for words in ("Kept · 6", "1,480", "Summary", "Applying:", "Enter apply", "Esc"):
            assert words in text
        assert "The user wants uploads" in text or "process is down." in text
        if not unicode:
            assert not set("▓▒█░…") & set(text)


# Its keys


async def test_enter_applies_the_draft_as_it_is() -> None:
    async with preview(drafted()) as (app, pilot, _):
        await pilot.press("enter")
        await pilot.pause()
        assert app.given == Applied(DRAFT, None)


@pytest.mark.more
async def test_enter_and_e_do_nothing_before_there_is_a_draft() -> None:
    async with preview(summarising()) as (app, pilot, _):
        await pilot.press("enter", "e")
        await pilot.pause()
        assert app.given is NOTHING_YET and area(app).read_only
        assert "Enter apply" not in shown(app)


async def test_e_edits_the_summary_and_enter_applies_it_after_esc() -> None:
    async with preview(drafted()) as (app, pilot, _):
        await pilot.press("e")
        await pilot.pause()
        assert app.focused is area(app) and "Esc done editing" in shown(app)
        await pilot.press("enter", "i", "e", "!")
        assert app.given is NOTHING_YET and area(app).text == f"{SUMMARY}\nie!"
        await pilot.press("escape")
        await pilot.pause()
        assert "folded into a checkpoint with your summary" in said(app)
        assert "≈1,480" in shown(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.given == Applied(DRAFT, f"{SUMMARY}\nie!")


@pytest.mark.more
async def test_an_emptied_summary_leaves_the_ledger_and_says_so() -> None:
    async with preview(drafted()) as (app, pilot, _):
        await pilot.press("e")
        area(app).text = ""
        await pilot.press("escape")
        await pilot.pause()
        assert "folded into a checkpoint, ledger only" in said(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.given == Applied(DRAFT, "")


async def test_what_is_pasted_into_the_summary_is_filtered() -> None:
    async with preview(drafted()) as (app, pilot, _):
        area(app).post_message(events.Paste("not while it is read"))
        await pilot.pause()
        assert area(app).text == SUMMARY
        await pilot.press("e")
        area(app).post_message(events.Paste(" a\x1b]52;c;eA==\x07b"))
        await pilot.pause()
        assert area(app).text == f"{SUMMARY} ab"


@pytest.mark.more
async def test_words_that_come_late_do_not_touch_what_was_edited() -> None:
    async with preview(drafted()) as (app, pilot, screen):
        await pilot.press("e", "x", "escape")
        await pilot.resize_terminal(80, 24)
        screen.refresh(layout=True)
        await still(pilot)
        assert area(app).text == f"{SUMMARY}x"


async def test_esc_leaves_and_nothing_changes() -> None:
    for told in (summarising(), drafted()):
        async with preview(told) as (app, pilot, _):
            await pilot.press("escape")
            await pilot.pause()
            assert app.given is None


async def test_i_asks_for_a_line_and_starts_over_with_it() -> None:
    async with preview(summarising()) as (app, pilot, _):
        await pilot.press("i")
        await pilot.pause()
        line = app.screen.query_one(Input)
        assert line.value == "old words"
        line.value = " keep the numbers "
        await pilot.press("enter")
        await pilot.pause()
        assert app.given == StartOver("keep the numbers")


@pytest.mark.more
async def test_no_instructions_start_nothing_over() -> None:
    async with preview(drafted()) as (app, pilot, screen):
        await pilot.press("i", "escape")
        await pilot.pause()
        await pilot.press("i")
        await pilot.pause()
        app.screen.query_one(Input).value = "  "
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen is screen and app.given is NOTHING_YET


@pytest.mark.more
async def test_looking_through_the_list_applies_nothing() -> None:
    async with preview(drafted()) as (app, pilot, _):
        await pilot.press("j", "k", "pagedown")
        await pilot.click(ChoiceList, offset=(5, 3))
        await pilot.click(ChoiceList, offset=(5, 3))
        await pilot.pause()
        assert app.given is NOTHING_YET


@pytest.mark.more
async def test_without_a_checkpoint_there_is_no_summary_to_edit() -> None:
    bare = replace(DRAFT, checkpoint=None)
    outcomes = tuple(outcome for outcome in STARTED.outcomes if outcome.what != "fold")
    told = [replace(STARTED, outcomes=outcomes, model=""), CompressionDrafted(draft=bare)]
    async with preview(told) as (app, pilot, _):
        await pilot.press("e")
        text = shown(app)
        assert "No summary: nothing to fold" in text and "edit the summary" not in text
        assert area(app).read_only
        await pilot.press("enter")
        await pilot.pause()
        assert app.given == Applied(bare, None)


def rejected() -> list[AnyCompressionEvent]:
    """A preview whose summary was of no use."""
    assert DRAFT.checkpoint is not None
    bare = replace(DRAFT, checkpoint=replace(DRAFT.checkpoint, summary=""))
    why = SummaryRejected(reason="it names nothing", again=False, text="A talk was had.")
    return [STARTED, why, CompressionDrafted(draft=bare)]


async def test_a_rejected_summary_can_be_edited_and_applied_and_is_not_applied_as_it_is() -> None:
    for keys, summary in ((["e", "x", "escape", "enter"], "A talk was had.x"), (["enter"], None)):
        async with preview(rejected()) as (app, pilot, _):
            assert "Rejected. Edit it, or continue" in shown(app)
            await pilot.press(*keys)
            await pilot.pause()
            assert isinstance(app.given, Applied) and app.given.summary == summary


@some(1, "size", [(80, 24), (120, 40)])
async def test_without_a_summary_the_ledger_has_its_place_and_the_reason_is_told(
    size: tuple[int, int],
) -> None:
    made = DRAFT.checkpoint
    assert made is not None
    why = "this model is too small for summaries: kept only the ledger"
    compression = replace(DRAFT.compression, note=why)
    draft = replace(DRAFT, checkpoint=replace(made, summary=""), compression=compression)
    told = [*summarising(words=0), CompressionDrafted(draft=draft)]
    async with preview(told, size) as (app, pilot, _):
        assert "required: never retry a 4xx" in shown(app)
        assert not area(app).display and said(app).endswith(why)
        await pilot.press("e")
        await still(pilot)
        assert area(app).display, "one can be written"


async def test_x_applies_it_without_a_summary() -> None:
    async with preview(drafted()) as (app, pilot, _):
        await pilot.press("x")
        await pilot.pause()
        assert app.given == Applied(DRAFT, "")


async def test_space_gives_a_message_its_next_outcome_and_plans_anew() -> None:
    async with preview(drafted()) as (app, pilot, _):
        key = app.opened.query_one(ChoiceList).highlighted_key
        await pilot.press("space")
        await pilot.pause()
        assert app.given == StartOver("old words", {key: "excerpt"})


async def test_d_shows_what_the_model_sees_before_and_after() -> None:
    screen = CompressionPreview(before_and_after=lambda _draft, _summary: ("a\nold", "a\nnew"))
    app = Host(screen)
    async with app.run_test() as pilot:
        for event in drafted():
            screen.take(event)
        await still(pilot)
        await pilot.press("d")
        await pilot.pause()
        assert isinstance(app.screen, BeforeAfterScreen)
        assert "-old" in shown(app) and "+new" in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert app.given is NOTHING_YET


@pytest.mark.more
async def test_a_trial_of_the_model_is_called_so() -> None:
    trial = SummaryReading(tokens=400, fraction=0.5, trial=True)
    async with preview([*summarising(words=0), trial]) as (app, _, _):
        assert "Testing this model: reading 400 tokens, 50 %" in shown(app)


@pytest.mark.more
async def test_while_the_model_reads_it_says_how_much() -> None:
    async with preview([STARTED, SummaryReading(tokens=843)]) as (app, pilot, screen):
        assert "Reading 843 tokens" in shown(app)
        screen.take(SummaryReading(tokens=843, fraction=0.4))
        await still(pilot)
        assert "Reading 843 tokens, 40 %" in shown(app)


# How it can end


@some(
    1,
    ("event", "words"),
    [
        (
            CompressionSkipped(reason="nothing-to-do", message="nothing to fold yet", hint="wait"),
            "nothing to fold yet · wait",
        ),
        (
            CompressionFailed(error="no model answers", hint="F7 chooses one", kind="Unavailable"),
            "Not compressed: no model answers · F7 chooses one",
        ),
        (CompressionCancelled(), "Compression cancelled"),
    ],
)
async def test_what_cannot_be_done_is_said_and_only_esc_is_left(
    event: AnyCompressionEvent, words: str
) -> None:
    for told in ([event], [*summarising(), event]):
        async with preview(told) as (app, pilot, _):
            assert said(app).startswith(words)
            assert "Enter apply" not in shown(app)
            await pilot.press("enter", "escape")
            await pilot.pause()
            assert app.given is None


async def test_nothing_is_left_running_once_the_draft_is_there() -> None:
    async with preview() as (_, pilot, screen):
        await still(pilot)
        before = timers()
        for event in drafted():
            screen.take(event)
        await still(pilot)
        assert timers() == before


@pytest.mark.more
async def test_foreign_text_is_only_text() -> None:
    evil = "[bold]x[/ [@click=app.quit()]y\x1b[31m"
    outcomes = tuple(replace(outcome, title=evil, why=evil) for outcome in STARTED.outcomes)
    told = [*summarising(words=0), SummaryArrived(text=evil, begins=True)]
    told[0] = replace(STARTED, outcomes=outcomes)
    async with preview(told) as (app, _, _):
        assert area(app).text == "[bold]x[/ [@click=app.quit()]y"
        assert "[bold]x[/" in lines(app)[1] and "\x1b" not in shown(app)


def test_every_binding_has_an_id_and_a_tooltip() -> None:
    for binding in CompressionPreview.BINDINGS:
        assert isinstance(binding, Binding) and binding.id and binding.tooltip
