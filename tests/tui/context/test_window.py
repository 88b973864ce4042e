"""The size of the window is changed by /window, in the model picker and in the settings; what it
costs and means is shown first."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.core.provider import Capabilities, TextDelta
from ollm_tui.providers.scripted import Scripted
from ollm_tui.settings.schema import ModelSettings, Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.kit.question import Confirmation, Question
from ollm_tui.tui.settings.screen import SettingsScreen
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, send, settled, state
from tests.tui.tool_desk import until
from tests.tui.typing_in import type_in

START = Settings(models={"scripted": ModelSettings(window=4096)})
KILOBYTES = 100


class Resizable(Scripted):
    """A server that gives the model the window it is asked for; a token of it takes 100 kB."""

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(
            tools=False, max_window=16_384, window_bytes_per_token=KILOBYTES * 1000, resizable=True
        )


def resizable() -> Resizable:
    words = " ".join(f"More words {number}." for number in range(0, 750, 3))
    return Resizable(lambda _: [TextDelta(words)])


def window_of(app: OllmApp) -> int | None:
    return chat(app).chat.conversation.choice.window


async def asked(app: OllmApp, pilot: Pilot[int]) -> str:
    """The effect, once it is shown."""
    await until(pilot, lambda: isinstance(app.screen, Confirmation))
    await pilot.pause()
    return words(app)


def words(app: OllmApp) -> str:
    return " ".join(str(each.content) for each in app.screen.query(Static))


async def test_the_effect_of_a_larger_window_is_shown_before_it_is_used(open_app: OpenApp) -> None:
    async with open_app(resizable(), settings=START, size=(100, 30)) as (app, pilot):
        await send(app, pilot, "/window 8k")
        told = await asked(app, pilot)
        assert "Use a window of 8.2k?" in told
        assert "needs 410 MB more, reloads the model" in told
        assert window_of(app) == 4096
        await pilot.press("y")
        await settled(app, pilot)
        assert "Window 4,096 → 8,192" in state(app)
        assert window_of(app) == chat(app).chat.conversation.state.header.window == 8192


@pytest.mark.more
async def test_a_smaller_window_says_what_would_be_compressed(open_app: OpenApp) -> None:
    async with open_app(resizable(), settings=START, size=(100, 30)) as (app, pilot):
        await send(app, pilot, "More")
        await send(app, pilot, "/window 1k")
        told = await asked(app, pilot)
        assert "frees 307 MB" in told and "too long, will be compressed" in told
        await pilot.press("escape")
        await settled(app, pilot)
        assert window_of(app) == 4096 and "Window unchanged" in state(app)


@some(
    1,
    ("size", "said"),
    [
        ("", "Window 4,096 · model maximum 16,384 · uses 410 MB"),
        ("huge", "'huge' is not a window size"),
    ],
)
async def test_without_a_size_it_is_told_and_a_wrong_one_is_refused(
    open_app: OpenApp, size: str, said: str
) -> None:
    async with open_app(resizable(), settings=START, size=(120, 30)) as (app, pilot):
        await send(app, pilot, f"/window {size}".strip())
        assert said in state(app)


async def test_the_model_picker_asks_for_another_window(open_app: OpenApp) -> None:
    async with open_app(resizable(), settings=START, size=(100, 30)) as (app, pilot):
        await pilot.press("f7")
        await until(pilot, lambda: "Alt+W change" in shown(app))
        app.post_message(Key("alt+w", "w"))  # terminals send the letter along
        await until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.pause()
        assert "Window 4,096 · model maximum 16,384" in words(app)
        await pilot.press(*["backspace"] * 4)
        await type_in(pilot, "16k")
        await pilot.press("enter")
        assert "needs 1,229 MB more" in await asked(app, pilot)
        await pilot.press("y")
        await settled(app, pilot)
        assert window_of(app) == 16_384


async def test_a_window_that_the_server_decides_on_is_not_offered_in_the_picker(
    open_app: OpenApp,
) -> None:
    async with open_app(size=(100, 30)) as (app, pilot):
        await pilot.press("f7")
        await pilot.pause()
        assert "Alt+W" not in shown(app)
        await pilot.press("escape")
        await send(app, pilot, "/window 16k")
        assert "Scripted sets the window itself" in state(app)


@pytest.mark.more
async def test_the_settings_offer_their_window_for_the_open_session(
    open_app: OpenApp, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLM_HOME", str(home))
    async with open_app(resizable(), settings=START, size=(100, 30)) as (app, pilot):
        await pilot.press("f10")
        await until(pilot, lambda: isinstance(app.screen, SettingsScreen))
        await pilot.press("slash", *"context.window", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.press(*["backspace"] * 4)
        await type_in(pilot, "8192")
        await pilot.press("enter")
        assert "Use a window of 8.2k?" in await asked(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: window_of(app) == 8192)
        assert "window: 8192" in (home / "config.yaml").read_text()
