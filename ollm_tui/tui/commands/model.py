"""Who answers: choosing the model and its provider, also in the middle of a session."""

from __future__ import annotations

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.engine.conversation import Conversation
from ollm_tui.tui.dialogs.model_picker import ModelPicker
from ollm_tui.tui.screens.chat import ChatScreen


async def choose(chat: ChatScreen, argument: str) -> None:
    """Choose among the models of all providers, or take one by its name."""
    if argument:
        await _use(chat, None, argument)
    else:
        _ask(chat)


async def provider(chat: ChatScreen, argument: str) -> None:
    """The same list, or the usual model of a provider by its name."""
    if argument:
        await _use(chat, argument, None)
    else:
        _ask(chat)


def _ask(chat: ChatScreen) -> None:
    workspace = chat.app.workspace

    async def use(chosen: tuple[str, str] | None) -> None:
        if chosen:
            await chat.attempt(lambda: _use(chat, *chosen))

    choice = chat.app.conversation and chat.app.conversation.choice
    current = (choice.provider.name, choice.model) if choice else None
    chat.app.push_screen(ModelPicker(workspace.offers, workspace.capabilities, current), use)


async def _use(chat: ChatScreen, provider: str | None, model: str | None) -> None:
    if chat.is_busy:
        raise UsageError("the model is still answering", "Esc stops it")
    chat.lines.tell("asking the model …")
    workspace = chat.app.workspace
    if chat.app.conversation:
        await workspace.switch_model(chat.app.conversation, provider, model)
    else:

        async def begin() -> tuple[Conversation, tuple[str, ...]]:
            return await workspace.begin(provider=provider, model=model), ()

        await chat.switch(begin)
    chat.lines.show_facts()
    chat.lines.tell(f"{visible(chat.conversation.choice.model)} answers from now on")
