"""The command of regions: choose where Amazon Bedrock answers, then one of its models there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ollm_tui.core.errors import UsageError
from ollm_tui.engine.conversation.regions import REGIONS
from ollm_tui.settings.user_file import set_user_value
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.models.words import HOW_TO_SET_UP, NO_REGIONS, REGION_TITLE
from ollm_tui.tui.settings.commands import read_again


async def region(chat: ChatPort, argument: str) -> None:
    """Choose the region of a provider, or use one by its name."""
    regional = chat.app.workspace.models.regional
    if not regional:
        raise UsageError(NO_REGIONS, HOW_TO_SET_UP)
    current = chat.opened and chat.opened.choice.provider.name
    name = current if current in regional else next(iter(regional))
    if argument:
        await _use(chat, name, argument.strip())
        return

    async def use(chosen: str | None) -> None:
        if chosen:
            await chat.attempt(lambda: _use(chat, name, chosen))

    now = regional[name]
    lines = [
        Choice(each, each, where, "*" if each == now else "", words=where)
        for each, where in REGIONS.items()
    ]
    chat.ask(Picker(REGION_TITLE.format(name=name), lines, highlight=now), use)


async def _use(chat: ChatPort, name: str, chosen: str) -> None:
    """Have a provider answer in a region, keep that, and ask for one of the models there."""
    await chat.app.workspace.models.use_region(name, chosen)
    file = chat.app.loaded.locations.user_config
    await asyncio.to_thread(set_user_value, file, ("providers", name, "region"), chosen)
    read_again(chat)
    chat.tell(f"Region of {name}: {chosen}")
    await chat.command("model.choose")


ACTIONS: Mapping[str, Action] = {"model.region": region}
