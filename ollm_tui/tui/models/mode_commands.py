"""The command of modes: choose what the model is told to be, also in the middle of a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.engine.conversation.modes import Mode
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker

NOTHING_TOLD = "nothing more than the system prompt"


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
        raise UsageError("the model is still answering", "Esc stops it")
    await chat.conversation.change_mode(name, trigger)
    chat.lines.show_facts()
    chat.tell(f"{visible(name)} from the next message on")


def _about(mode: Mode) -> str:
    temperature = "" if mode.temperature is None else f"   temperature {mode.temperature:g}"
    return f"{mode.prompt or NOTHING_TOLD}{temperature}"


ACTIONS: Mapping[str, Action] = {
    "mode.choose": choose,
}
