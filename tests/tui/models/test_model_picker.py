"""The picker of models: what each can, costs and where it runs, and those one wants first."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from ollm_tui.bootstrap import Providers
from ollm_tui.core.model_card import ModelCard
from ollm_tui.core.provider import ModelInfo
from ollm_tui.engine.conversation.model_choice import ModelChooser, ProviderOffer
from ollm_tui.services.sessions.prompt_memory import PromptMemory
from ollm_tui.services.sessions.saved_lines import SavedLines
from ollm_tui.settings.schema import ModelSettings, Settings
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.models.model_picker import ModelPicker
from tests.cases import some
from tests.stand_ins.ollama_server import MODEL, THINKER, OllamaServer
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import NOTHING_YET, Host, shown
from tests.tui.seen import chat, send, settled
from tests.tui.typing_in import type_in

HOST = "api.example.com"
CARD = ModelCard(input=3, output=15, window=200_000, can=("tools", "images"))
MANY = tuple(
    ModelInfo(
        name=f"maker-{number % 7}/model-{number}",
        remote_host=HOST,
        max_window=200_000,
        abilities=("tools", "images") if number == 222 else ("tools",),
        card=CARD,
        chats=number != 333,
    )
    for number in range(400)
)


async def many() -> AsyncGenerator[ProviderOffer, None]:
    yield ProviderOffer("hub", MANY)
    yield ProviderOffer("embedded", (ModelInfo(name="own", size_bytes=98_000_000),))


async def says_nothing(_provider: str, _model: str) -> str:
    return ""


def picker(favourites: SavedLines | None = None, recent: SavedLines | None = None) -> Host:
    names = ["embedded", "hub"]
    made = ModelPicker(names, many, says_nothing, favourites=favourites, recent=recent)
    return Host(made)


def lines(app: Host) -> list[str]:
    rows = shown(app).splitlines()
    return [" ".join(line.strip(" │").split()) for line in rows if line.strip(" │")]


def highlighted(app: Host) -> str:
    choice = app.screen.query_one(ChoiceList).highlighted
    return choice.text if choice else ""


async def ready(app: Host, pilot: Pilot[None]) -> None:
    while "Asking" in shown(app):
        await pilot.pause(0.01)


async def test_one_of_hundreds_is_found_by_its_name_and_by_what_it_can() -> None:
    app = picker()
    async with app.run_test(size=(140, 40)) as pilot:
        await ready(app, pilot)
        await type_in(pilot, "model-217")
        assert highlighted(app) == "maker-0/model-217"
        [line] = [line for line in lines(app) if "maker-0/model-217" in line]
        assert line.endswith(f"→ {HOST}, tools, 200k, $3/$15")
        await pilot.press("ctrl+u")
        await type_in(pilot, "images")
        assert highlighted(app) == "maker-5/model-222"
        await pilot.press("enter")
        assert app.given == ("hub", "maker-5/model-222")


async def test_what_cannot_answer_cannot_be_chosen() -> None:
    app = picker()
    async with app.run_test() as pilot:
        await ready(app, pilot)
        await type_in(pilot, "model-333")
        await pilot.press("enter")
        assert app.given is NOTHING_YET
        assert "Not a chat model" in str(app.screen.query_one("#about", Static).content)


@some(1, "width", (60, 80, 140))
async def test_the_mark_of_what_leaves_the_machine_is_there_at_any_width(width: int) -> None:
    app = picker()
    async with app.run_test(size=(width, 20)) as pilot:
        await ready(app, pilot)
        for name, leaves in (("model-217", True), ("own", False)):
            await pilot.press("ctrl+u")
            await type_in(pilot, name)
            [line] = [line for line in lines(app)[3:] if name in line]
            assert line.startswith("→ ") == leaves


async def test_a_favourite_comes_first_until_it_is_none(tmp_path: Path) -> None:
    kept = SavedLines(tmp_path / "favourites.json")
    app = picker(kept)
    async with app.run_test() as pilot:
        await ready(app, pilot)
        await type_in(pilot, "model-217")
        await pilot.press("ctrl+s")
        assert kept.all() == ("hub/maker-0/model-217",)
    app = picker(kept)
    async with app.run_test() as pilot:
        await ready(app, pilot)
        at = lines(app).index("Favourites")
        assert lines(app)[at + 1].startswith("★→ maker-0/model-217 hub, → api.example.com")
        assert shown(app).count("model-217 ") == 1, "each model stands once in the list"
        await pilot.press("home", "ctrl+s")
        assert kept.all() == ()
        assert "Favourites" not in lines(app)


@pytest.mark.more
async def test_a_favourite_that_is_gone_is_not_shown(tmp_path: Path) -> None:
    kept = SavedLines(None)
    kept.keep("hub/gone")
    kept.keep("no-longer-set-up/model")
    app = picker(kept)
    async with app.run_test() as pilot:
        await ready(app, pilot)
        assert "Favourites" not in lines(app)
        assert "gone" not in shown(app)


async def test_models_used_last_come_first_also_after_a_restart(
    open_app: OpenApp, home: Path
) -> None:
    async with OllamaServer() as server:
        for expected in ((), (MODEL, THINKER)):
            async with open_app() as (app, pilot):
                providers = Providers(Settings(), {"OLLAMA_HOST": server.url}, home / "models")
                app.workspace.models = ModelChooser(Settings(), providers)
                if not expected:
                    await send(app, pilot, f"/model ollama/{THINKER}")
                    await send(app, pilot, f"/model {MODEL}")
                await pilot.press("f7")
                await settled(app, pilot)
                text = [" ".join(line.split()).strip("│ ") for line in shown(app).splitlines()]
                at = text.index("Recent")
                assert MODEL in text[at + 1]
                assert THINKER in text[at + 2]
                await pilot.press("escape")
                await settled(app, pilot)
                await providers.close()
    recent = PromptMemory(home, home).recent_models.all()
    assert recent == (f"ollama/{MODEL}", f"ollama/{THINKER}")


async def test_the_line_below_says_abilities_price_and_place(open_app: OpenApp, home: Path) -> None:
    own = {"gpt-oss:120b-cloud": ModelSettings(input_price=0.5, output_price=2)}
    settings = Settings(models=own)
    async with OllamaServer() as server, open_app(size=(100, 30)) as (app, pilot):
        server.add_cloud_model("gpt-oss:120b-cloud")
        providers = Providers(settings, {"OLLAMA_HOST": server.url}, home / "models")
        app.workspace.models = ModelChooser(settings, providers)
        await pilot.press("f7")
        await type_in(pilot, "gpt-oss")
        about = app.screen.query_one("#about", Static)
        while "ollama" not in str(about.content):
            await pilot.pause(0.01)
        words = str(about.content)
        assert "tools, thinking · $" in words
        assert "$0.5 in, $2 out per million tokens" in words
        assert words.endswith("ollama: sends everything to ollama.com")
        assert "$0.5/$2" in shown(app)
        await pilot.press("ctrl+u")
        await type_in(pilot, "llama3.2")
        while "on this machine" not in str(about.content):
            await pilot.pause(0.01)
        assert str(about.content).endswith("free · ollama on this machine")
        await pilot.press("escape")
        await settled(app, pilot)
        assert chat(app).chat.conversation.choice.model == "scripted"
        await providers.close()


async def test_what_a_server_says_of_a_model_takes_no_room_from_its_name() -> None:
    note = "demo model: small and fast, often wrong"

    async def offers() -> AsyncGenerator[ProviderOffer, None]:
        yield ProviderOffer("embedded", (ModelInfo(name="smollm2:135m", note=note),))

    app = Host(ModelPicker(["embedded"], offers, says_nothing))
    async with app.run_test(size=(80, 24)) as pilot:
        about = app.screen.query_one("#about", Static)
        while note not in str(about.content):
            await pilot.pause(0.01)
        [line] = [line for line in lines(app) if "smollm2" in line]
        assert line == "smollm2:135m"
