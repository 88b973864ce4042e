"""The region of Bedrock: chosen in a list, kept in the settings, with the models that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.bootstrap import Providers
from ollm_tui.engine.conversation.model_choice import ModelChooser
from ollm_tui.settings.schema import ProviderSettings, Settings
from ollm_tui.tui.models.model_picker import ModelPicker
from tests.stand_ins.http_server import HttpServer, Reply, Request
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import shown
from tests.tui.seen import send, settled, state
from tests.tui.typing_in import type_in

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "swordfish"}


async def list_of_a_region(request: Request, reply: Reply) -> None:
    """Name a model after the region that the request is signed for."""
    region = request.headers["authorization"].split("/")[2]
    entry = {"modelId": f"maker.of-{region}", "inferenceTypesSupported": ["ON_DEMAND"]}
    await reply.json({"modelSummaries": [entry]})


async def test_a_region_is_chosen_kept_and_its_models_are_listed(
    open_app: OpenApp, home: Path
) -> None:
    home.mkdir(parents=True, exist_ok=True)
    file = home / "config.yaml"
    async with HttpServer(list_of_a_region) as server:
        file.write_text(f"providers:\n  amazon:\n    kind: bedrock\n    baseUrl: {server.url}\n")
        amazon = ProviderSettings(kind="bedrock", base_url=server.url)
        settings = Settings(providers={"amazon": amazon})
        async with open_app(settings=settings) as (app, pilot):
            providers = Providers(settings, KEYS, home / "models")
            app.workspace.models = ModelChooser(settings, providers)
            await pilot.press("f7")
            while "amazon needs a region" not in shown(app):
                await pilot.pause(0.01)
            await pilot.press("escape")
            await send(app, pilot, "/region")
            await type_in(pilot, "Frankfurt")
            await pilot.press("enter")
            while not isinstance(app.screen, ModelPicker):
                await pilot.pause(0.01)
            while "maker.of-eu-central-1" not in shown(app):
                await pilot.pause(0.01)
            await pilot.press("escape")
            await type_in(pilot, "/region us-west-2")
            await pilot.press("enter")
            while "maker.of-us-west-2" not in shown(app):
                await pilot.pause(0.01)
            await pilot.press("escape")
            await settled(app, pilot)
            await send(app, pilot, "/region nowhere")
            assert "'nowhere' is not a region" in state(app)
            await providers.close()
    assert "region: us-west-2" in file.read_text()


@pytest.mark.more
async def test_without_bedrock_the_way_to_it_is_said(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await send(app, pilot, "/region")
        assert "No Bedrock provider configured" in state(app)
