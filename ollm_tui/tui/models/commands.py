"""The commands of models: choose the model and its provider, also in the middle of a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from ollm_tui.core.counts import short_count
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.engine.context.context_view import ContextView
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.compare.commands import begin
from ollm_tui.tui.context.window import about_window
from ollm_tui.tui.kit.question import Confirmation, Question
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.models.downloads import Downloads, ModelName
from ollm_tui.tui.models.model_picker import ModelPicker
from ollm_tui.tui.models.screen import ModelsScreen
from ollm_tui.tui.models.words import (
    CHECKING_THE_MODEL,
    MODEL_UNCHANGED,
    MODELS_USAGE,
    WINDOW_KEY,
    ability_words,
    place_words,
    price_words,
)


def choose(chat: ChatPort, argument: str) -> None:
    """Choose among the models of all providers, or use one by its name."""
    if argument:
        _attempt(chat, lambda: _use_named(chat, argument.strip()))
    else:
        _ask(chat)


def provider(chat: ChatPort, argument: str) -> None:
    """Choose in the same list, or use the default model of a provider by its name."""
    if argument:
        _take(chat, argument, None)
    else:
        _ask(chat)


async def manage(chat: ChatPort, argument: str) -> None:
    """Show the models that are stored here, or fetch one: `pull` and its name."""
    downloads = chat.app.part(Downloads, lambda: Downloads(chat))
    store = chat.app.workspace.models.store
    word, _, name = argument.partition(" ")
    name = name.strip()
    if argument and (word != "pull" or not name):
        raise UsageError(f"Unknown option /models {visible(argument)}", MODELS_USAGE)
    if argument:
        downloads.start(await store.source_of(name), name)
        chat.tell(f"Pulling {visible(name)} · /models shows progress")
        return

    def use(chosen: ModelName | None) -> None:
        if chosen:
            _take(chat, *chosen)

    chat.ask(ModelsScreen(store, downloads), use)


def _ask(chat: ChatPort) -> None:
    """Let the user choose; beside each model stands how full its window would be."""
    workspace, conversation = chat.app.workspace, chat.opened

    def use(chosen: ModelName | None) -> None:
        if chosen:
            _take(chat, *chosen)

    def show_stored() -> None:
        chat.screen.run_worker(chat.attempt(lambda: manage(chat, "")))

    async def describe(provider: str, model: str) -> str:
        able = await workspace.models.capabilities(provider, model)
        window = f"Window {short_count(able.window)}" if able.window else ""
        if conversation:
            view = await workspace.preview_model(conversation, provider, model)
            window = effect_words(view)
        if resizable and current == (provider, model):
            window += f"   {WINDOW_KEY}"
        away = await workspace.models.destination(provider, model)
        facts = (ability_words(able), price_words(able, away), place_words(provider, away))
        return "\n".join(filter(None, (window, " · ".join(facts))))

    def compare(marked: Sequence[ModelName]) -> None:
        begin(chat, ["/".join(name) for name in marked])

    choice = conversation and conversation.choice
    current = (choice.provider.name, choice.model) if choice else None
    resizable = choice is not None and choice.resizable
    picker = ModelPicker(
        workspace.models.names,
        workspace.models.offers,
        describe,
        current,
        favourites=chat.app.memory.favourite_models,
        recent=chat.app.memory.recent_models,
        manage=show_stored,
        resize=(lambda: _ask_window(chat)) if resizable else None,
        compare=compare if choice else None,
    )
    chat.ask(picker, use)


def _ask_window(chat: ChatPort) -> None:
    """Ask for the size of the window; its effect is shown before it is used."""
    choice = chat.conversation.choice

    def use(answer: str | None) -> None:
        if answer:
            chat.screen.run_worker(chat.command("context.window", answer))

    text = f"Window of {visible(choice.model)}\n{about_window(choice)}"
    chat.ask(Question(text, str(choice.window or ""), "preview"), use)


def _take(chat: ChatPort, provider: str | None, model: str | None) -> None:
    """Use a model of a provider, the default one for None."""
    _attempt(chat, lambda: _use(chat, provider, model))


def _attempt(chat: ChatPort, use: Callable[[], Awaitable[None]]) -> None:
    """Use a model, in a worker: servers take their time, and the last choice counts."""
    chat.screen.run_worker(chat.attempt(use), group="model", exclusive=True)


async def _use_named(chat: ChatPort, words: str) -> None:
    """Use a model that was typed, also as PROVIDER/MODEL."""
    conversation = chat.front().opened
    current = conversation.choice.provider if conversation else None
    await _use(chat, *await chat.app.workspace.models.named(words, current))


async def _use(chat: ChatPort, provider: str | None, model: str | None) -> None:
    """Switch at once if the context fits; otherwise ask the user first."""
    # The first conversation may have been opened while the picker was shown.
    chat = chat.front()
    _check_free(chat)
    chat.tell(CHECKING_THE_MODEL)
    conversation = chat.opened
    if conversation is None:
        await _begin(chat, provider, model)
        return
    view = await chat.app.workspace.preview_model(conversation, provider, model)
    if view.budget.over_limit:

        def answered(is_meant: bool | None) -> None:
            if is_meant:
                _attempt(chat, lambda: _switch(chat, conversation, provider, model))
            else:
                chat.tell(MODEL_UNCHANGED)

        name = visible(model or provider or "")
        question = Confirmation(f"Switch to {name} anyway?", effect_words(view))
        chat.ask(question, answered)
    else:
        await _switch(chat, conversation, provider, model)


async def _switch(
    chat: ChatPort, conversation: Conversation, provider: str | None, model: str | None
) -> None:
    """Have a model answer from the next message on, and tell what is different now."""
    _check_free(chat)
    before = conversation.context()
    await chat.app.workspace.switch_model(conversation, provider, model)
    _remember(chat, conversation)
    chat.lines.show_facts()
    changed = change_words(before, conversation.context())
    chat.tell(f"Model: {visible(conversation.choice.model)} · {changed}")


async def _begin(chat: ChatPort, provider: str | None, model: str | None) -> None:
    """Begin a session: none could be opened, as there was no model to answer."""

    async def begin() -> tuple[Conversation, tuple[str, ...]]:
        return await chat.app.workspace.begin(provider=provider, model=model), ()

    chat = await chat.switch(begin)
    _remember(chat, chat.conversation)
    chat.tell(f"Model: {visible(chat.conversation.choice.model)}")


def _remember(chat: ChatPort, conversation: Conversation) -> None:
    """Note that a model was chosen, for the picker."""
    choice = conversation.choice
    chat.app.memory.recent_models.keep(f"{choice.provider.name}/{choice.model}")


def _check_free(chat: ChatPort) -> None:
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)


def effect_words(view: ContextView) -> str:
    """Return how full the window of a model would be, and what follows from that."""
    room = view.budget.room
    if room is None:
        return "Window size unknown: the server does not report it"
    window = f"Window {short_count(room.window)}"
    if not view.budget.parts.conversation:
        return window
    used = f"{_about(view)}{short_count(view.count.tokens)}"
    if view.budget.over_limit:
        then = "fold something before the next message"
        if not view.refuses:
            then = "it will be compressed before the next message"
        fit = short_count(room.limit)
        return f"{window}: context too long ({used}, {fit} fit); {then}"
    return f"Context {used} of {short_count(room.window)} ({room.percent} %)"


def change_words(before: ContextView, after: ContextView) -> str:
    """Return what is different now: the window, and how much of it is taken."""
    windows = dict.fromkeys(map(_window, (before, after)))
    shares = dict.fromkeys(map(_share, (before, after)))
    return f"window {' → '.join(windows)}, context {' → '.join(shares)}"


def _window(view: ContextView) -> str:
    return f"{view.budget.room.window:,}" if view.budget.room else "unknown"


def _share(view: ContextView) -> str:
    room = view.budget.room
    return f"{_about(view)}{room.percent} %" if room else f"{view.count.total} tokens"


def _about(view: ContextView) -> str:
    return "≈" if view.count.source == "estimated" else ""


ACTIONS: Mapping[str, Action] = {
    "model.choose": choose,
    "model.provider": provider,
    "model.manage": manage,
}
