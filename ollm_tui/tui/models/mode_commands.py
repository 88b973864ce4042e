"""The commands for what the model is told to be: modes, the system prompt, how it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.engine.conversation.modes import Mode
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.models.words import SYSTEM_PROMPT_CHANGED

NOTHING_TOLD = "system prompt only"


async def choose(chat: ChatPort, argument: str) -> None:
    """Choose how the model works, or use a mode by its name."""
    if argument:
        await _use(chat, argument.strip(), "command")
        return
    conversation = chat.conversation
    modes = {mode.name: mode for mode in conversation.modes}

    async def use(name: str | None) -> None:
        if name:
            await chat.attempt(lambda: _use(chat, name, "manual"))

    def describe(choice: Choice | None) -> None:
        picker.say(_about(modes[choice.key]) if choice else "")

    current = conversation.mode.name
    choices = [
        Choice(
            mode.name, visible(mode.name), "now" if mode.name == current else "", words=mode.prompt
        )
        for mode in modes.values()
    ]
    picker = Picker("Mode", choices, highlight=current, watcher=describe)
    chat.ask(picker, use)


async def _use(chat: ChatPort, name: str, trigger: Literal["manual", "command"]) -> None:
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    await chat.conversation.change_mode(name, trigger)
    chat.lines.show_facts()
    chat.tell(f"Mode: {visible(name)}")


def _about(mode: Mode) -> str:
    temperature = "" if mode.temperature is None else f"   temperature {mode.temperature:g}"
    return f"{mode.prompt or NOTHING_TOLD}{temperature}"


async def system(chat: ChatPort, argument: str) -> None:
    """Use another system prompt in this session; without words, put it into the prompt."""
    wishes = chat.conversation.wishes
    if not argument:
        chat.put_aside()
        chat.prompt.put(f"/system {wishes.system}")
        chat.prompt.focus()
        return
    _check_free(chat)
    await wishes.set_system(argument)
    _told(chat, SYSTEM_PROMPT_CHANGED)


async def temperature(chat: ChatPort, argument: str) -> None:
    """Tell or change the temperature of this session."""
    wishes = chat.conversation.wishes
    if argument:
        _check_free(chat)
        await wishes.set_temperature(argument.strip())
    _told(chat, f"Temperature: {wishes.temperature}")


async def think(chat: ChatPort, argument: str) -> None:
    """Tell or change how long the model thinks in this session."""
    wishes = chat.conversation.wishes
    if argument:
        _check_free(chat)
        await wishes.set_thinking(argument.strip())
    _told(chat, f"Thinking: {wishes.thinking}")


def _check_free(chat: ChatPort) -> None:
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)


def _told(chat: ChatPort, notice: str) -> None:
    chat.lines.show_facts()
    chat.tell(notice)


ACTIONS: Mapping[str, Action] = {
    "mode.choose": choose,
    "mode.system": system,
    "mode.temperature": temperature,
    "mode.think": think,
}
