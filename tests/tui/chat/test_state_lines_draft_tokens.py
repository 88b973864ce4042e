"""How much the prompt would add to the context is told before it is sent."""

from __future__ import annotations

from textual import events

from ollm_tui.core.session.message import Attachment
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.settings.schema import Compression, Context, Settings
from ollm_tui.tui.chat.state_lines import GROWN_BY, DraftTokens
from ollm_tui.tui.gauge.gauge_line import Reading
from tests.approximately import approx
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.gauge.test_gauge import CALM, view
from tests.tui.seen import chat, gauge, prompt, send, settled
from tests.tui.typing_in import type_in

SENTENCE = "Please tell me what happened to all the small things on the way. "


def test_a_long_text_is_told_by_its_length_and_looked_at_again_when_it_has_changed() -> None:
    draft = DraftTokens()
    text = ""
    for number in range(400):
        text += SENTENCE if number % 2 else "x = [1, 2, 3]; "
        known = careful_estimate(text)
        assert draft.of(text) == approx(known, rel=2 * GROWN_BY, abs=1)
    assert draft.of(text[: len(text) // 3]) == round(careful_estimate(text[: len(text) // 3]))
    assert draft.of("") == 0


def test_pastes_count_and_commands_do_not() -> None:
    paste = Attachment(name="paste 1", media_type="text/plain", content=SENTENCE * 100)
    draft = DraftTokens()
    assert draft.of("See", [paste]) == round(
        careful_estimate("See") + careful_estimate(SENTENCE * 100)
    )
    assert draft.of("See") == round(careful_estimate("See"))
    assert draft.of("/goal " + SENTENCE * 100) == 0
    assert draft.of("//goal " + SENTENCE) > 0


@some(1, "columns", (60, 80, 120))
async def test_a_long_draft_is_told_beside_the_numbers(open_app: OpenApp, columns: int) -> None:
    async with open_app(size=(columns, 24)) as (app, pilot):
        await type_in(pilot, "short")
        await pilot.pause()
        assert "+" not in gauge(app)
        prompt(app).put(SENTENCE * 40)
        await pilot.pause()
        assert "+ ≈" in gauge(app) and "in the prompt" in gauge(app)
        assert gauge(app).rstrip()[-1] not in "…~", "all of it fits"
        await pilot.press("enter")
        await settled(app, pilot)
        assert "+ ≈" not in gauge(app), "it is part of the context now"


async def test_a_paste_counts_with_what_it_stands_for(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        prompt(app).post_message(events.Paste(f"{SENTENCE}\n" * 100))
        await pilot.pause()
        assert len(prompt(app).text) < 60, "a chip"
        assert "+ ≈1." in gauge(app) or "+ ≈2." in gauge(app)


@some(1, "columns", (60, 80, 120))
async def test_a_draft_that_does_not_fit_says_so_before_it_is_sent(
    open_app: OpenApp, columns: int
) -> None:
    settings = Settings(context=Context(window=512), compression=Compression(enabled=False))
    async with open_app(size=(columns, 24), settings=settings) as (app, pilot):
        prompt(app).put(SENTENCE * 30)
        await pilot.pause()
        assert "too long" in gauge(app)
        assert gauge(app).rstrip()[-1] not in "…~", "all of it fits"
        prompt(app).put(SENTENCE)
        await pilot.pause()
        assert "too long" not in gauge(app)


def test_where_the_context_is_compressed_a_draft_needs_room_beside_what_stays() -> None:
    reading = Reading.of(view(CALM))._replace(draft=4000)
    assert not reading.draft_fits
    assert reading._replace(compresses="trigger").draft_fits
    assert not reading._replace(compresses="limit", draft=6000).draft_fits


async def test_an_edited_message_takes_the_place_of_another(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await send(app, pilot, "one")
        chat(app).chat.editing = chat(app).chat.conversation.state.branch()[0].id
        prompt(app).put(SENTENCE * 40)
        await pilot.pause()
        assert "+ ≈" not in gauge(app)
