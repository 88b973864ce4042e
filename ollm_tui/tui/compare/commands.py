"""The command that compares models: it asks them, and goes on from the answer that is chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.provider import same_model
from ollm_tui.core.session.message import Message
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.compare.screen import ComparisonScreen
from ollm_tui.tui.compare.words import (
    ANSWERS_NEXT,
    GOES_ON,
    HOW,
    KEPT,
    LOOKING,
    MODELS_NEEDED,
    NEXT,
    NEXT_PLACEHOLDER,
    OFF,
)
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.prompt.prompt import Prompt

NEXT_WORD, OFF_WORD = "next", "off"
"""What may stand in the place of the first model."""


def compare(chat: ChatPort, argument: str) -> None:
    """Have several models answer the last message, or with `next` the next one; `off` has the
    next one answered as usual after all."""
    words = argument.split()
    if words == [OFF_WORD]:
        _disarm(chat)
        chat.tell(OFF)
        return
    wants_next = words[:1] == [NEXT_WORD]
    names = words[1:] if wants_next else words
    if not names:
        raise UsageError(MODELS_NEEDED, HOW)
    begin(chat, names, wants_next=wants_next)


def begin(chat: ChatPort, names: Sequence[str], *, wants_next: bool = False) -> None:
    """Find the models by their names and ask them, in a worker: servers take their time."""
    chat.tell(LOOKING.format(", ".join(map(visible, names))))
    work = chat.attempt(lambda: _begin(chat.front(), names, wants_next=wants_next))
    chat.screen.run_worker(work, group="model", exclusive=True)


async def _begin(chat: ChatPort, names: Sequence[str], *, wants_next: bool) -> None:
    conversation = _free_conversation(chat)
    choices = await _choices(chat, conversation, names)
    turn = conversation.comparison.last_turn
    if wants_next or not turn:
        _arm(chat, choices)
        return
    standing = _standing(turn)
    if standing:
        choices = _without(choices, standing[-1])
    news = conversation.comparison.events(choices)
    _show(chat, ComparisonScreen(conversation.comparison, news, choices, turn[0].text, standing))


async def _choices(
    chat: ChatPort, conversation: Conversation, names: Sequence[str]
) -> list[ModelChoice]:
    """Return the models of these names. UsageError or ProviderError if there is one it is not."""
    models, current = chat.app.workspace.models, conversation.choice.provider

    async def choose(name: str) -> ModelChoice:
        return await models.choose(*await models.named(name, current))

    return list(await asyncio.gather(*map(choose, names)))


def _standing(turn: Sequence[Message]) -> Sequence[Message]:
    """Return the answer that a question has; empty where it was cut off or failed."""
    answer = turn[1:]
    is_whole = answer and answer[-1].role == "assistant" and answer[-1].status == "complete"
    return answer if is_whole else ()


def _without(choices: list[ModelChoice], answer: Message) -> list[ModelChoice]:
    """Return the models without the one whose answer stands there already, if others are left."""
    for choice in choices:
        is_same = same_model(choice.model, answer.model or "")
        if is_same and choice.provider.name == answer.provider and len(choices) > 1:
            return [each for each in choices if each is not choice]
    return choices


def _arm(chat: ChatPort, choices: Sequence[ModelChoice]) -> None:
    """Have the next message answered by several models."""

    def take(sent: Prompt.Sent) -> None:
        chat.takes_next = take
        try:
            conversation = _free_conversation(chat)
        except UsageError as error:
            chat.prompt.restore(sent.draft)
            chat.complain(error)
            return
        _disarm(chat)
        news = conversation.comparison.events(choices, sent.text, sent.attachments)
        _show(chat, ComparisonScreen(conversation.comparison, news, choices, sent.text))

    chat.takes_next = take
    chat.invite(NEXT_PLACEHOLDER)
    chat.tell(NEXT.format(", ".join(visible(choice.model) for choice in choices)))


def _disarm(chat: ChatPort) -> None:
    chat.takes_next = None
    chat.invite()


def _show(chat: ChatPort, screen: ComparisonScreen) -> None:
    """Show the answers; afterwards go on from the one that was chosen."""

    def closed(answer: str | None) -> None:
        chat.is_busy = False
        chat.screen.run_worker(chat.attempt(lambda: _go_on(chat, answer)))

    chat.is_busy = True
    chat.ask(screen, closed)


async def _go_on(chat: ChatPort, answer: str | None) -> None:
    conversation = chat.conversation
    if answer and answer != conversation.state.header.head:
        await conversation.switch_to(answer)
    chat.show_branch()
    chat.lines.show_facts()
    if answer:
        model = conversation.state[answer].model or ""
        is_next = same_model(model, conversation.choice.model)
        next_words = "" if is_next else ANSWERS_NEXT.format(visible(conversation.choice.model))
        chat.tell(GOES_ON.format(visible(model)) + next_words)
    else:
        chat.tell(KEPT)
    chat.go_on()


def _free_conversation(chat: ChatPort) -> Conversation:
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    return chat.conversation


ACTIONS: Mapping[str, Action] = {"model.compare": compare}
