"""A server that was not there when the model was chosen: offered when it answers, never taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.bootstrap import Providers
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.model_choice import ModelChooser
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.chat.trust_question import TrustQuestion
from tests.stand_ins.ollama_server import MODEL, THINKER, OllamaServer
from tests.tui.conftest import OpenApp, workers_done
from tests.tui.dialog_host import shown
from tests.tui.seen import chat, settled, stream, title

ANSWERS_LATER = "Ollama is available now. Switch to qwen3:8b?"


async def begun(app: OllmApp) -> tuple[Conversation, tuple[str, ...]]:
    return await app.workspace.begin(), ()


async def test_it_is_offered_when_it_answers_and_used_only_after_yes(
    open_app: OpenApp, home: Path
) -> None:
    async with OllamaServer() as server, open_app() as (app, pilot):
        server.awake.clear()
        providers = Providers(
            Settings(), {"OLLAMA_HOST": server.url}, home / "models", ollama_seconds=0.1
        )
        app.workspace.models = ModelChooser(Settings(), providers)
        await chat(app).switch(lambda: begun(app))
        await pilot.pause()
        assert "did not answer within 0.1 s" in " ".join(stream(app))
        assert "embedded" in title(app)[1]
        server.awake.set()
        while not any(bar.questions for bar in chat(app).query(TrustQuestion)):
            await pilot.pause(0.02)
        assert ANSWERS_LATER in str(chat(app).query_one(TrustQuestion).content)
        assert "embedded" in title(app)[1], "nothing changes by itself"
        await pilot.press("alt+a", "y")
        await settled(app, pilot)
        assert title(app)[1].startswith(f"{THINKER} · ollama")
        await providers.close()


@pytest.mark.more
async def test_what_leaves_the_machine_is_marked_in_title_and_picker(
    open_app: OpenApp, home: Path
) -> None:
    async with OllamaServer() as server, open_app() as (app, pilot):
        server.add_cloud_model("gpt-oss:120b-cloud")
        providers = Providers(Settings(), {"OLLAMA_HOST": server.url}, home / "models")
        app.workspace.models = ModelChooser(Settings(), providers)
        for name, marked in ((MODEL.removesuffix(":latest"), False), ("gpt-oss:120b-cloud", True)):
            chat(app).prompt.put(f"/model {name}")
            await pilot.press("enter")
            await settled(app, pilot)
            ending = " → ollama.com" if marked else ""
            assert title(app)[1].startswith(f"{name} · ollama{ending}")
            assert ("→" in title(app)[1]) == marked
        await pilot.press("f7")
        await workers_done(app)
        await pilot.pause()
        [line] = [line for line in shown(app).splitlines() if "gpt-oss:120b-cloud   " in line]
        assert "→ ollama.com" in line and "●" in line
        await providers.close()
