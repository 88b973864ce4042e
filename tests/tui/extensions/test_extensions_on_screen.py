"""Extensions on the screen: commands, exports, themes, and a line for one that fails."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ollm_tui.extension_api import Extension, ExtensionCommand, ExtensionTheme
from ollm_tui.services.extensions.extension_host import GROUP, ExtensionHost
from ollm_tui.settings.resources import themes_directory
from ollm_tui.settings.schema import Interface, Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.settings.theme_picker import ThemePicker
from tests.conftest import REPOSITORY
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled, state, stream
from tests.tui.tool_desk import says, until

NORD = dict(re.findall(r'(\w+): "(#\w+)"', (themes_directory() / "nord.yaml").read_text()))


class Pretty(Extension):
    """Has a theme, and a command."""

    name = "pretty"
    themes = (ExtensionTheme("fjord", NORD),)
    commands = (ExtensionCommand("Sea", "Looks at the sea.", lambda words: f"Waves {words}"),)


class Ugly(Extension):
    """Has a theme without colours."""

    name = "ugly"
    themes = (ExtensionTheme("mud", {"primary": "brown"}),)


@asynccontextmanager
async def with_extensions(
    open_app: OpenApp, *points: EntryPoint, settings: Settings | None = None
) -> AsyncGenerator[tuple[OllmApp, Pilot[int]]]:
    """The application as it starts with these extensions installed."""
    opens = asyncio.Event()
    script = [says("fine")]
    async with open_app(script, settings=settings, opens=opens, size=(80, 24)) as (app, pilot):
        app.workspace.additions.extensions = ExtensionHost({}, points=points)
        opens.set()
        await until(pilot, lambda: app.conversation)
        await settled(app, pilot)
        yield app, pilot


def text(app: OllmApp) -> str:
    return " ".join(stream(app))


def point(kind: type[object]) -> EntryPoint:
    return EntryPoint(kind.__name__.lower(), f"{__name__}:{kind.__name__}", GROUP)


async def test_a_theme_of_an_extension_is_used_from_the_start(open_app: OpenApp) -> None:
    settings = Settings(ui=Interface(theme="fjord"))
    async with with_extensions(open_app, point(Pretty), settings=settings) as (app, pilot):
        assert app.theme == "fjord" and app.current_theme.primary == NORD["primary"]
        assert "Cannot read theme" not in text(app)
        prompt(app).put("/theme")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ThemePicker))
        await pilot.press(*"fjord", "enter")
        await settled(app, pilot)
        assert app.theme == "fjord" and "Theme: fjord" in state(app)


@pytest.mark.more
async def test_a_theme_that_nobody_brings_is_told(open_app: OpenApp) -> None:
    settings = Settings(ui=Interface(theme="swamp"))
    async with with_extensions(open_app, point(Pretty), settings=settings) as (app, _):
        assert "Cannot read theme 'swamp'" in text(app)
    async with open_app(settings=settings) as (app, _):
        assert "Cannot read theme 'swamp'" in text(app)


async def test_one_that_fails_is_a_line_in_the_stream_and_the_rest_goes_on(
    open_app: OpenApp,
) -> None:
    gone = EntryPoint("gone", "no_such_module:X", GROUP)
    async with with_extensions(open_app, point(Ugly), gone, point(Pretty)) as (app, pilot):
        await send(app, pilot, "hello")
        assert "extension ugly turned off: theme 'mud' has no" in text(app)
        assert "extension gone turned off: ModuleNotFoundError" in text(app)
        assert "fine" in text(app)
        prompt(app).put("/sea today")
        await pilot.press("enter")
        await settled(app, pilot)
        assert "Waves today" in text(app)


async def test_the_examples_are_used_in_the_chat(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [str(REPOSITORY / "examples" / f"ollm-{name}") for name in ("todo", "outline")]
    monkeypatch.setattr(sys, "path", [*folders, *sys.path])
    points = [
        EntryPoint("todo", "ollm_todo:Todo", GROUP),
        EntryPoint("outline", "ollm_outline:Outline", GROUP),
    ]
    async with with_extensions(open_app, *points) as (app, pilot):
        await send(app, pilot, "What is a fjord?")
        for line in ("/todo rest", f"/export {tmp_path / 'talk.outline'}"):
            prompt(app).put(line)
            await pilot.press("enter")
            await settled(app, pilot)
        assert "rest" in text(app)
        assert "- What is a fjord?" in (tmp_path / "talk.outline").read_text()
        assert chat(app).chat.conversation.tools.is_ready
