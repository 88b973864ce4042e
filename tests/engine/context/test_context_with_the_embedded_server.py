"""The number in the view is the number the real server reads, turn after turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from ollm_tui.core.events import TextArrived, TurnFinished
from ollm_tui.core.provider import Provider, Selection
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.embedded import Embedded
from ollm_tui.providers.llama_cpp.model_catalogue import SMOLLM2
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.tokens.counting_process import CountingProcess
from ollm_tui.settings.schema import ModelSettings, Settings
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import MODELS

pytestmark = pytest.mark.model

QUESTIONS = (
    "Hello!",
    "Was ist die Hauptstadt von Österreich?",
    "def f(x):\n    return x ** 2\n\nWhat does it do?",
    "1, 2, 3, 4: what comes next?",
    "こんにちは。お元気ですか。",
)


class OnlyEmbedded:
    """Selects the embedded provider, with the one model there is, under two names."""

    def __init__(self, provider: Embedded) -> None:
        self.provider = provider

    def names(self) -> list[str]:
        return ["embedded"]

    async def get(self, name: str) -> Provider:
        return self.provider

    async def select(self, provider: str | None, model: str | None) -> Selection:
        return Selection(self.provider, model or SMOLLM2.name)

    async def close(self) -> None:
        await self.provider.close()


@pytest.fixture
async def workspace(model_home: Path) -> AsyncGenerator[Workspace, None]:
    models = model_home / "models"
    models.unlink()
    models.mkdir()
    source = MODELS / SMOLLM2.file_name
    (models / source.name).symlink_to(source)
    (models / "twin.gguf").symlink_to(source)
    short = ModelSettings(max_output=12, window=4096)
    settings = Settings(models={SMOLLM2.name: short, "twin": short})
    library = SessionLibrary.at(StoreLayout(model_home / "sessions"))
    recording = Recording(library.store, library.index)
    provider = OnlyEmbedded(Embedded(models_dir=models))
    opened = Workspace(settings, recording, library, provider, model_home)
    yield opened
    await opened.close()


async def send(conversation: Conversation, text: str) -> tuple[int, int]:
    """What the view showed while the answer came, and what the server read."""
    shown = 0
    async for event in conversation.send(text):
        if isinstance(event, TextArrived) and not shown:
            view = conversation.context()
            shown = view.count.tokens - view.writing
        if isinstance(event, TurnFinished):
            assert event.message.usage is not None
            return shown, event.message.usage.input_tokens
    raise AssertionError("the turn did not finish")


@pytest.mark.long
async def test_the_view_equals_what_the_server_reads_in_twenty_turns(workspace: Workspace) -> None:
    conversation = await workspace.begin()
    await conversation.settle_context()
    for turn in range(20):
        branch = conversation.state.branch()
        match turn:
            case 4:
                await conversation.change_context(ContextChange("pin", (branch[1].id,)))
            case 7:
                await conversation.change_context(ContextChange("exclude", (branch[3].id,)))
            case 10:
                await conversation.change_mode("developer", "command")
            case 12:
                await conversation.goals.set_goal("understand numbers")
            case 14:
                await workspace.switch_model(conversation, None, "twin")
            case 17:
                await conversation.change_context(ContextChange("fold-above", (branch[20].id,)))
            case _:
                pass
        shown, read = await send(conversation, QUESTIONS[turn % len(QUESTIONS)])
        assert shown == read, f"turn {turn}"
        if turn > 1:
            await conversation.settle_context()
            assert conversation.context().count.source == "exact"
    models = {message.model for message in conversation.state.branch() if message.model}
    assert len(models) == 2
    await conversation.close()


async def test_what_the_gauge_shows_by_itself_is_exact_from_the_first_answer_on(
    workspace: Workspace,
) -> None:
    CountingProcess.shared().end()
    conversation = await workspace.begin()
    await send(conversation, QUESTIONS[0])
    for question in QUESTIONS[1:]:
        assert conversation.context().count.source == "exact"
        shown, read = await send(conversation, question)
        assert shown == read
    await conversation.settle_context()
    # The server itself counts as long as it runs: no vocabulary is loaded.
    assert CountingProcess.shared().pid is None
    await conversation.close()
