"""Compression as a person meets it: it happens by itself, is seen, undone, previewed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.core.counts import short_count
from ollm_tui.core.provider import ChatRequest, TextDelta
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.compression.checkpoint_screen import CheckpointsScreen
from ollm_tui.tui.compression.panel import CompressionPanel
from ollm_tui.tui.compression.preview import CompressionPreview
from ollm_tui.tui.compression.screen import CompressionScreen
from tests.engine.compression.test_compression import (
    PARAGRAPH,
    SUMMARY,
    WINDOW,
    gardener,
    is_summary,
    settings,
)
from tests.tui.conftest import OpenApp, workers_done
from tests.tui.seen import gauge, state
from tests.tui.tool_desk import until


def chat_of(app: OllmApp) -> ChatScreen:
    return cast(ChatScreen, app.screen_stack[1] if len(app.screen_stack) > 1 else app.screen)


def stream(app: OllmApp) -> str:
    transcript = next(s for s in app.screen_stack if isinstance(s, ChatScreen)).transcript
    texts = (transcript.plain_text(key) for key in transcript.keys)
    return "\n".join(texts).replace("\N{NO-BREAK SPACE}", " ")


async def say(app: OllmApp, pilot: Pilot[int], text: str) -> None:
    chat = next(s for s in app.screen_stack if isinstance(s, ChatScreen))
    chat.prompt.put(text, [])
    await pilot.press("enter")
    await pilot.pause()
    await workers_done(app)
    await pilot.pause()


async def fill(app: OllmApp, pilot: Pilot[int], turns: int) -> None:
    for turn in range(turns):
        await say(app, pilot, f"{turn}. Which soil should I take for the beds?")


async def test_a_full_context_is_compressed_by_itself_and_u_undoes_it(open_app: OpenApp) -> None:
    async with open_app(gardener(), settings=settings()) as (app, pilot):
        assert app.conversation
        turns = 0
        while not app.conversation.compression.history:
            await fill(app, pilot, 1)
            turns += 1
            assert turns < 20
        assert "u undo" in stream(app) and "folded" in stream(app)
        await pilot.press("alt+up")
        await pilot.press("u")
        await pilot.pause()
        assert app.conversation.compression.history[-1].undone_at
        assert "undone" in stream(app) and "u undo" not in stream(app)


@pytest.mark.more
async def test_an_undo_tells_the_tokens_in_the_order_they_changed(open_app: OpenApp) -> None:
    async with open_app(gardener(), settings=settings()) as (app, pilot):
        await fill(app, pilot, 8)
        await say(app, pilot, "/compact")
        assert app.conversation
        [done] = app.conversation.compression.history
        await say(app, pilot, "/undo")
        assert f"undone: {done.after_tokens:,} → {done.before_tokens:,} tokens" in state(app)


async def test_compact_shows_the_panel_and_typing_goes_on(open_app: OpenApp) -> None:
    release = asyncio.Event()

    def slow(request: ChatRequest) -> Sequence[Step]:
        return [TextDelta("The user plans a garden. "), release, TextDelta(SUMMARY)]

    async with open_app(gardener(slow), settings=settings(), size=(120, 30)) as (app, pilot):
        await fill(app, pilot, 8)
        chat = cast(ChatScreen, app.screen)
        chat.prompt.put("/compact", [])
        await pilot.press("enter")
        await pilot.pause(0.6)
        panel = app.screen.query_one(CompressionPanel)
        assert panel.display and chat.chat.is_busy
        await pilot.press("h", "i", "enter")
        await pilot.pause()
        assert chat.prompt.text == ""  # it waits in the queue
        release.set()
        await workers_done(app)
        await pilot.pause()
        await workers_done(app)
        assert app.conversation and len(app.conversation.compression.history) == 1
        assert "About 'hi'" in stream(app)


async def test_esc_stops_a_compression_and_nothing_changed(open_app: OpenApp) -> None:
    never = asyncio.Event()
    async with open_app(gardener(lambda _: [never]), settings=settings()) as (app, pilot):
        await fill(app, pilot, 8)
        assert app.conversation
        before = app.conversation.prompt_json()
        chat = cast(ChatScreen, app.screen)
        chat.prompt.put("/compact", [])
        await pilot.press("enter")
        await pilot.pause(0.2)
        await pilot.press("escape")
        await workers_done(app)
        await pilot.pause()
        assert app.conversation.prompt_json() == before
        assert not chat.chat.is_busy


async def test_the_record_is_there_after_reopening_and_v_reads_the_checkpoint(
    open_app: OpenApp,
) -> None:
    async with open_app(gardener(), settings=settings()) as (app, pilot):
        await fill(app, pilot, 8)
        await say(app, pilot, "/compact")
        assert app.conversation
        session_id = app.conversation.session_id
    async with open_app(gardener(), settings=settings(), session_id=session_id) as (app, pilot):
        assert "folded" in stream(app)
        await pilot.press("alt+up", "v")
        await pilot.pause()
        assert isinstance(app.screen, CheckpointsScreen)
        await pilot.press("escape", "alt+z")
        await pilot.pause()
        assert isinstance(app.screen, CompressionScreen)


async def test_a_preview_can_be_left_edited_and_applied(open_app: OpenApp) -> None:
    async with open_app(gardener(), settings=settings(), size=(120, 40)) as (app, pilot):
        await fill(app, pilot, 8)
        assert app.conversation
        before = app.conversation.prompt_json()
        await say(app, pilot, "/compact --preview")
        assert isinstance(app.screen, CompressionPreview)
        await pilot.press("escape")
        await pilot.pause()
        assert app.conversation.prompt_json() == before
        await say(app, pilot, "/compact --preview")
        await pilot.press("enter")
        await pilot.pause()
        await workers_done(app)
        assert len(app.conversation.compression.history) == 1
        assert "folded" in stream(app)
        assert not cast(ChatScreen, app.screen).chat.is_busy


async def test_a_wrong_option_is_told_in_one_line(open_app: OpenApp) -> None:
    async with open_app(gardener(), settings=settings()) as (app, pilot):
        await fill(app, pilot, 2)
        await say(app, pilot, "/compact --all")
        assert app.conversation and not app.conversation.compression.history


async def test_opening_a_full_session_compresses_nothing_before_one_writes(
    open_app: OpenApp,
) -> None:
    long = Scripted(lambda r: [TextDelta(SUMMARY if is_summary(r) else PARAGRAPH * 2)], window=1024)
    async with open_app(long, settings=settings(enabled=False)) as (app, pilot):
        await fill(app, pilot, 7)
        assert app.conversation
        session_id = app.conversation.session_id
    async with open_app(gardener(), settings=settings(), session_id=session_id) as (app, pilot):
        assert app.conversation and app.conversation.compression.is_due
        assert not app.conversation.compression.history
        await say(app, pilot, "Go on")
        await workers_done(app)
        assert len(app.conversation.compression.history) >= 1
        assert "About 'Go on'" in stream(app)


async def summarised(app: OllmApp, pilot: Pilot[int]) -> None:
    """Wait until the preview has a summary that can be edited and applied."""
    await until(
        pilot,
        lambda: isinstance(app.screen, CompressionPreview) and app.screen.check_action("edit", ()),
    )
    await pilot.pause()


async def compressing(app: OllmApp, pilot: Pilot[int]) -> None:
    """Begin a compression that waits for its summary, with the panel in the focus."""
    await fill(app, pilot, 8)
    cast(ChatScreen, app.screen).prompt.put("/compact", [])
    await pilot.press("enter")
    await pilot.pause(0.6)
    app.screen.query_one(CompressionPanel).focus()
    await pilot.pause()


def held(release: asyncio.Event) -> Scripted:
    return gardener(lambda _: [TextDelta("The user plans "), release, TextDelta(SUMMARY)])


async def test_e_stops_a_compression_before_it_is_applied_and_what_waits_goes_on_waiting(
    open_app: OpenApp,
) -> None:
    release = asyncio.Event()
    async with open_app(held(release), settings=settings(), size=(120, 40)) as (app, pilot):
        await compressing(app, pilot)
        assert app.conversation
        before = app.conversation.prompt_json()
        chat = chat_of(app)
        chat.prompt.put("hi", [])
        chat.prompt.focus()
        await pilot.press("enter")
        app.screen.query_one(CompressionPanel).focus()
        await pilot.press("e")
        await pilot.pause()
        assert isinstance(app.screen, CompressionPreview)
        release.set()
        await summarised(app, pilot)
        assert app.conversation.prompt_json() == before
        assert chat.chat.is_busy and "About 'hi'" not in stream(app)
        await pilot.press("e", *"Mine", "escape", "enter")
        await pilot.pause()
        await workers_done(app)
        await pilot.pause()
        await workers_done(app)
        [done] = app.conversation.compression.history
        assert done.created[-1].edited and done.created[-1].summary.endswith("Mine")
        assert "About 'hi'" in stream(app)


@pytest.mark.more
async def test_esc_in_the_preview_of_a_running_compression_changes_nothing(
    open_app: OpenApp,
) -> None:
    for is_ready in (False, True):
        release = asyncio.Event()
        async with open_app(held(release), settings=settings(), size=(120, 40)) as (app, pilot):
            await compressing(app, pilot)
            assert app.conversation
            before = app.conversation.prompt_json()
            await pilot.press("e")
            await pilot.pause()
            if is_ready:
                release.set()
                await summarised(app, pilot)
            await pilot.press("escape")
            await pilot.pause()
            await workers_done(app)
            await pilot.pause()
            assert app.conversation.prompt_json() == before
            assert "Compression cancelled" in stream(app)
            assert not chat_of(app).chat.is_busy


async def test_instructions_from_there_have_the_summary_written_anew(open_app: OpenApp) -> None:
    release = asyncio.Event()
    async with open_app(held(release), settings=settings(), size=(120, 40)) as (app, pilot):
        await compressing(app, pilot)
        await pilot.press("e")
        release.set()
        await summarised(app, pilot)
        await pilot.press("i", *"soil", "enter")
        await summarised(app, pilot)
        assert isinstance(app.screen, CompressionPreview)
        await pilot.press("enter")
        await pilot.pause()
        await workers_done(app)
        assert app.conversation and len(app.conversation.compression.history) == 1


@pytest.mark.more
async def test_instructions_for_a_compression_above_a_message_still_fold_only_what_is_above(
    open_app: OpenApp,
) -> None:
    release = asyncio.Event()
    async with open_app(held(release), settings=settings(), size=(120, 40)) as (app, pilot):
        await fill(app, pilot, 8)
        assert app.conversation
        branch = [message.id for message in app.conversation.state.branch()]
        await pilot.press("alt+up", *"kkkkkkkkk")
        assert chat_of(app).transcript.cursor.keys == [branch[6]]
        await pilot.press("Z")
        await pilot.pause(0.6)
        app.screen.query_one(CompressionPanel).focus()
        await pilot.press("e")
        release.set()
        await summarised(app, pilot)
        await pilot.press("i", *"soil", "enter")
        await summarised(app, pilot)
        await pilot.press("enter")
        await pilot.pause()
        await workers_done(app)
        [done] = app.conversation.compression.history
        assert done.above == branch[6]
        assert set(done.folded) == {branch[1], branch[3], branch[5]}


async def test_after_going_back_before_a_compression_its_record_is_not_in_force(
    open_app: OpenApp,
) -> None:
    async with open_app(gardener(), settings=settings(enabled=False)) as (app, pilot):
        await fill(app, pilot, 8)
        await say(app, pilot, "/compact")
        assert app.conversation
        [taken] = await app.conversation.snapshots.list()
        await say(app, pilot, f"/restore {taken.id}")
        assert "inactive" in stream(app) and "u undo" not in stream(app)
        await say(app, pilot, "/undo")
        assert "inactive" not in stream(app) and "u undo" in stream(app)


async def test_the_gauge_is_quiet_after_a_compression_and_f5_tells_of_it(
    open_app: OpenApp,
) -> None:
    size = (160, 30)
    async with open_app(gardener(), settings=settings(enabled=False), size=size) as (app, pilot):
        await fill(app, pilot, 8)
        await say(app, pilot, "/compact")
        assert "compress" not in gauge(app)
        await pilot.press("f5")
        await pilot.pause()
        await workers_done(app)
        lines = [str(line.render()) for line in app.screen.query(Static)]
        assert any("compressed once" in line for line in lines)


@pytest.mark.more
async def test_the_record_names_the_keys_as_the_user_has_mapped_them(open_app: OpenApp) -> None:
    mapped = replace(settings(), keymap={"compression.undo": "f11"})
    async with open_app(gardener(), settings=mapped) as (app, pilot):
        await fill(app, pilot, 8)
        await say(app, pilot, "/compact")
        assert "F11 undo · v view" in stream(app)


@pytest.mark.more
async def test_after_a_compression_within_a_turn_the_gauge_shows_the_new_number(
    open_app: OpenApp,
) -> None:
    goes_on = asyncio.Event()

    def turn(request: ChatRequest) -> Sequence[Step]:
        if is_summary(request):
            return [TextDelta(SUMMARY)]
        if request.messages[-1].text.startswith("word"):
            return [TextDelta("Fine"), goes_on]
        return [TextDelta(f"{len(request.messages)}: {PARAGRAPH}")]

    model = Scripted(turn, window=WINDOW)
    async with open_app(model, settings=settings(threshold=0.95), size=(120, 30)) as (app, pilot):
        assert app.conversation
        room = app.conversation.context().budget.room
        assert room
        while app.conversation.context().count.tokens < room.limit * 0.7:
            await fill(app, pilot, 1)
        full = app.conversation.context().count.tokens
        long = "word " * (room.limit - full + 20)
        chat_of(app).prompt.put(long, [])
        await pilot.press("enter")
        await until(pilot, lambda: "Fine" in stream(app))
        await until(pilot, lambda: bool(app.conversation and app.conversation.compression.history))
        await pilot.pause()
        read = len(" ".join(message.text for message in model.requests[-1].messages).split())
        now = app.conversation.context()
        assert now.count.tokens - now.writing == read < room.limit
        assert short_count(now.count.tokens) in gauge(app)
        goes_on.set()
        await workers_done(app)
