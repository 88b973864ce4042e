"""The checkpoints, to be read."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from textual.binding import Binding
from textual.containers import VerticalScroll

from ollm_tui.tui.compression.checkpoint_screen import CheckpointsScreen
from tests.cases import some
from tests.tui.compression_samples import CHECKPOINT
from tests.tui.dialog_host import NOTHING_YET, Host, shown

OLD = replace(CHECKPOINT, id="c0", level=1, messages=("m1",), covers=("m1", "m1"), edited=True)


async def test_each_tells_what_it_covers_what_it_saves_who_wrote_it_and_when() -> None:
    app = Host(CheckpointsScreen((OLD, CHECKPOINT)))
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.pause()
        text = shown(app)
        assert "Checkpoints   5,206 → 418 tokens" in text
        assert "Checkpoint 1 of 2" in text and "compact · 1 message, m1 · " in text
        assert "summary edited by you" in text
        assert "detailed · 34 messages, m4 to m37 · 2,603 → 209 tokens" in text
        assert "qwen2.5-coder:1.5b · compression 1 · " in text and "2024" in text
        assert "The user wants uploads to stop" in text
        assert "Ledger (from records, no model" in text and "never retry a 4xx" in text


async def test_without_checkpoints_it_teaches_how_one_comes_to_be() -> None:
    app = Host(CheckpointsScreen(()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        words = "No checkpoints yet. The context is compressed at 80 %; /compact does it now."
        assert words in shown(app)


async def test_it_can_begin_with_the_checkpoint_that_was_asked_for() -> None:
    app = Host(CheckpointsScreen((OLD, CHECKPOINT), show="c1"))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause(0.1)
        assert "Checkpoint 2 of 2" in shown(app)


async def test_one_reads_by_lines_pages_and_to_the_ends() -> None:
    screen = CheckpointsScreen((OLD, CHECKPOINT))
    app = Host(screen)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        page = screen.query_one(VerticalScroll)
        places: list[float] = []
        for key in ("j", "pagedown", "G", "k", "pageup", "g"):
            await pilot.press(key)
            await pilot.pause()
            places.append(page.scroll_y)
        assert places == [1, *sorted(places[1:3]), *sorted(places[3:5], reverse=True), 0]
        assert places[2] == page.max_scroll_y and len(set(places)) == 6


@some(1, "key", ["escape", "q", "v"])
async def test_it_closes(key: str) -> None:
    app = Host(CheckpointsScreen((CHECKPOINT,)))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert app.given is not NOTHING_YET


@pytest.mark.more
async def test_foreign_text_is_only_text() -> None:
    evil = replace(CHECKPOINT, summary="[bold]x[/ \x1b[31my", model="[@click=app.quit()]z")
    app = Host(CheckpointsScreen((evil,)))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert "[bold]x[/ y" in shown(app) and "[@click=app.quit()]z" in shown(app)
        assert "\x1b" not in shown(app)


def test_every_binding_has_an_id_and_a_tooltip() -> None:
    for binding in CheckpointsScreen.BINDINGS:
        assert isinstance(binding, Binding) and binding.id and binding.tooltip
