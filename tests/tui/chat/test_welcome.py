"""The empty conversation: what it teaches, and that it makes room for what is said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from textual.app import App, ComposeResult

from ollm_tui.core.provider import ModelInfo
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.providers.scripted import Scripted
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.chat.welcome import DEMONSTRATION, Welcome
from ollm_tui.tui.chat.words import BETTER_MODEL
from ollm_tui.tui.keymap import Hints
from tests.engine.conftest import workspace_on


class Lesson(App[None]):
    """Nothing but the lines."""

    def compose(self) -> ComposeResult:
        yield Welcome()

    @property
    def words(self) -> str:
        welcome = self.query_one(Welcome)
        return str(welcome.content) if welcome.display else ""

    def teach(self, conversation: Conversation | None, keymap: Mapping[str, str]) -> None:
        self.query_one(Welcome).teach(conversation, Hints(keymap))


class Small(Scripted):
    """Answers as the embedded model."""

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(name=DEMONSTRATION[1]),)


async def test_an_empty_conversation_teaches_the_keys_as_they_are_mapped(home: Path) -> None:
    workspace = workspace_on(home, (), Settings())
    async with Lesson().run_test(size=(60, 20)) as pilot:
        app = pilot.app
        assert isinstance(app, Lesson)
        assert app.words == ""
        app.teach(await workspace.begin(), {"session.picker": "f11"})
        assert "F11  sessions; F2 keeps" in app.words and BETTER_MODEL not in app.words
        assert all(len(line) <= 58 for line in app.words.splitlines())
    await workspace.close()


async def test_the_small_embedded_model_is_called_small_and_a_better_one_named(home: Path) -> None:
    workspace = workspace_on(home, Small(name=DEMONSTRATION[0]), Settings())
    async with Lesson().run_test(size=(60, 20)) as pilot:
        app = pilot.app
        assert isinstance(app, Lesson)
        app.teach(await workspace.begin(model=DEMONSTRATION[1]), {})
        assert "small demonstration" in app.words and BETTER_MODEL in app.words
        assert all(len(line) <= 58 for line in app.words.splitlines())
    await workspace.close()


async def test_it_is_gone_once_something_was_said(home: Path) -> None:
    workspace = workspace_on(home, (), Settings())
    async with Lesson().run_test() as pilot:
        app = pilot.app
        assert isinstance(app, Lesson)
        conversation = await workspace.begin()
        app.teach(conversation, {})
        assert app.words
        async for _ in conversation.send("hi"):
            app.teach(conversation, {})
            assert app.words == ""
        await conversation.close()
    await workspace.close()
