"""The screen of stored models: fetched with progress, used, unloaded, copied and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.pilot import Pilot

from ollm_tui.bootstrap import Providers
from ollm_tui.engine.conversation.model_choice import ModelChooser
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.kit.question import Confirmation, Question
from ollm_tui.tui.models.screen import ModelsScreen
from tests.cases import some
from tests.stand_ins.http_server import Reply, Request
from tests.stand_ins.ollama_server import MODEL, THINKER, OllamaServer
from tests.tui.conftest import OpenApp, workers_done
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, send, settled, state, title
from tests.tui.tool_desk import until
from tests.tui.typing_in import type_in

SMALL, USUAL, LARGE = (60, 20), (80, 24), (200, 50)
NOBODY = "http://127.0.0.1:1"


class Desk(NamedTuple):
    """The application on an Ollama, with the screen of models open."""

    app: OllmApp
    pilot: Pilot[int]

    @property
    def lines(self) -> list[str]:
        return [" ".join(line.split()) for line in shown(self.app).splitlines() if line.strip()]

    def line(self, name: str) -> str:
        return next(line for line in self.lines if name in line)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await settled(self.app, self.pilot)

    async def until(self, words: str) -> None:
        await until(self.pilot, lambda: words in shown(self.app))

    async def go_to(self, name: str) -> None:
        choices = self.app.screen.query_one(ChoiceList)
        await self.pilot.press("home")
        for _ in range(30):
            if choices.highlighted and choices.highlighted.text == name:
                break
            await self.pilot.press("down")
        await settled(self.app, self.pilot)
        assert choices.highlighted and choices.highlighted.text == name


@asynccontextmanager
async def desk(
    open_app: OpenApp, home: Path, url: str, size: tuple[int, int] = USUAL
) -> AsyncGenerator[Desk]:
    async with open_app(size=size) as (app, pilot):
        providers = Providers(Settings(), {"OLLAMA_HOST": url}, home / "models")
        app.workspace.models = ModelChooser(Settings(), providers)
        await send(app, pilot, "/models")
        yield Desk(app, pilot)
        await providers.close()


@some(1, "size", (SMALL, USUAL, LARGE))
async def test_it_lists_what_is_stored_and_what_is_loaded(
    open_app: OpenApp, home: Path, size: tuple[int, int]
) -> None:
    async with OllamaServer() as server:
        server.loaded[MODEL] = 8192
        server.add_cloud_model("gpt-oss:120b-cloud")
        async with desk(open_app, home, server.url, size) as at:
            await at.until(MODEL)
            assert at.lines[0].startswith("Models on this machine 4 models, 6.1 GB · 1 loaded")
            assert at.line(MODEL) == f"● {MODEL} loaded, 2.0 GB, window 8k"
            assert at.line(THINKER).endswith("3.2B, 2.0 GB")
            assert at.line("gpt-oss").startswith("→ gpt-oss:120b-cloud")
            assert at.line("smollm2").startswith("○ smollm2:135m not downloaded")
            assert any("Esc close" in line for line in at.lines), "the keys have room"
            await at.go_to("gpt-oss:120b-cloud")
            await at.until("sends everything to ollama.com")


@pytest.mark.more
async def test_a_sibling_of_a_loaded_model_is_loaded_too(open_app: OpenApp, home: Path) -> None:
    async with OllamaServer() as server:
        server.add_sibling("llama3.2-brief:latest", MODEL)
        server.loaded[MODEL] = 8192
        async with desk(open_app, home, server.url) as at:
            await at.until("llama3.2-brief")
            assert "loaded" in at.line("llama3.2-brief:latest")
            assert "loaded" not in at.line(THINKER), "that has other weights"
            await at.go_to("llama3.2-brief:latest")
            assert f"weights shared with {MODEL}" in shown(at.app)
            await at.press("u")
            await at.until("0 loaded")
            assert not server.loaded
            unloading = [each for each in server.requests if each.path == "/api/generate"]
            assert [each.json["keep_alive"] for each in unloading] == [0]


async def test_a_download_shows_how_far_it_is_and_goes_on_without_its_screen(
    open_app: OpenApp, home: Path
) -> None:
    goes_on = asyncio.Event()

    async def slowly(request: Request, reply: Reply) -> None:
        layer = b'{"status":"pulling dde5","digest":"sha256:dde5","total":200,"completed":86}\n'
        await reply.chunk(layer)
        await goes_on.wait()
        server.models["mistral:latest"] = server.models[MODEL] | {"name": "mistral:latest"}
        await reply.chunk(b'{"status":"success"}\n')
        await reply.end()

    async with OllamaServer() as server:
        server.pull = slowly
        async with desk(open_app, home, server.url) as at:
            await at.until(MODEL)
            await at.pilot.press("p")
            while not isinstance(at.app.screen, Question):
                await at.pilot.pause(0.01)
            await type_in(at.pilot, "mistral")
            await at.pilot.press("enter")
            await at.until("pulling 43 %")
            assert at.line("mistral").startswith("… mistral")
            await at.pilot.press("escape")
            while isinstance(at.app.screen, ModelsScreen):
                await at.pilot.pause(0.01)
            goes_on.set()
            while "mistral is ready · /model mistral" not in state(at.app):
                await at.pilot.pause(0.01)
            await send(at.app, at.pilot, "/models")
            await at.until("mistral:latest")


async def test_a_download_can_be_stopped(open_app: OpenApp, home: Path) -> None:
    gone = asyncio.Event()

    async def forever(request: Request, reply: Reply) -> None:
        await reply.chunk(b'{"status":"pulling manifest"}\n')
        await reply.gone.wait()
        gone.set()

    async with OllamaServer() as server:
        server.pull = forever
        async with desk(open_app, home, server.url) as at:
            await at.until(MODEL)
            await at.pilot.press("escape")
            await type_in(at.pilot, "/models pull mistral")
            await at.pilot.press("enter")
            while "Pulling mistral" not in state(at.app):
                await at.pilot.pause(0.01)
            await type_in(at.pilot, "/models")
            await at.pilot.press("enter")
            await at.until("… mistral")
            at.app.screen.query_one(ChoiceList).action_first()
            await at.pilot.pause()
            await at.pilot.press("x")
            await gone.wait()
            await workers_done(at.app)
            await at.pilot.pause()
            assert "mistral" not in shown(at.app).replace("Pulling mistral", "")


@pytest.mark.more
async def test_what_cannot_be_fetched_says_so_with_a_hint(open_app: OpenApp, home: Path) -> None:
    async with OllamaServer() as server, desk(open_app, home, server.url) as at:
        await at.press("p")
        await type_in(at.pilot, "two words")
        await at.pilot.press("enter")
        await at.until("Names have no spaces")
        await at.press("escape", "escape")
        await send(at.app, at.pilot, "/models pull no-such-model")
        assert "Ollama has no model no-such-model" in state(at.app)
        assert "ollama pull" not in state(at.app)
        await send(at.app, at.pilot, "/models push it")
        assert "Unknown option /models push it" in state(at.app)


async def test_a_model_is_copied_and_deleted_only_after_a_yes(
    open_app: OpenApp, home: Path
) -> None:
    async with OllamaServer() as server, desk(open_app, home, server.url) as at:
        await at.until(MODEL)
        await at.go_to(MODEL)
        await at.press("c")
        await type_in(at.pilot, "mine")
        await at.press("enter")
        await at.until("mine:latest")
        await at.go_to("mine:latest")
        await at.press("d")
        assert isinstance(at.app.screen, Confirmation)
        assert "Delete mine:latest?" in shown(at.app)
        await at.press("n")
        assert "mine:latest" in server.models
        await at.press("delete")
        await at.press("y")
        await at.until("mine:latest deleted")
        assert "mine:latest" not in server.models
        assert MODEL in server.models


async def test_enter_has_a_model_answer_and_f7_twice_leads_here(
    open_app: OpenApp, home: Path
) -> None:
    async with OllamaServer() as server, desk(open_app, home, server.url) as at:
        await at.until("nomic-embed-text")
        await at.go_to("nomic-embed-text:latest")
        await at.press("enter")
        assert "Not a chat model" in shown(at.app), "it stays open"
        await at.press("escape", "f7", "f7")
        assert isinstance(at.app.screen, ModelsScreen)
        await at.until(MODEL)
        await at.go_to(MODEL)
        await at.press("enter")
        assert title(at.app)[1].startswith(f"{MODEL} · ollama")


@pytest.mark.more
async def test_without_ollama_its_place_says_so_and_embedded_models_are_there(
    open_app: OpenApp, home: Path
) -> None:
    own = home / "models" / "smollm2-copy.gguf"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_bytes(b"no model")
    async with desk(open_app, home, NOBODY) as at:
        await at.until("start it with `ollama serve`")
        assert "smollm2:135m not downloaded" in at.line("smollm2:135m")
        await at.go_to("smollm2-copy")
        await at.press("c")
        await type_in(at.pilot, "mine")
        await at.press("enter")
        await at.until("Cannot copy models of embedded")
        await at.press("down", "up", "d", "y")
        await at.until("smollm2-copy deleted")
        assert not own.exists()
        assert chat(at.app).chat.conversation.choice.provider.name == "scripted"
