"""Writing: in an editor of one's own, from earlier prompts, or just back in the prompt."""

from __future__ import annotations

import asyncio

from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.prompt.prompt_picker import PromptPick, PromptPicker
from ollm_tui.tui.terminal.external_editor import edit_outside


async def editor(chat: ChatScreen, _argument: str) -> None:
    """Write on in $VISUAL or $EDITOR; what is saved there is the prompt's text."""
    chat.prompt.put_whole(await edit_outside(chat.app, chat.prompt.whole_text))
    chat.prompt.focus()


async def history(chat: ChatScreen, argument: str) -> None:
    """Choose an earlier prompt, of this project or another; Tab looks through all that was said."""
    memory = chat.app.memory
    here = list(dict.fromkeys(reversed(memory.history())))
    known = set(here)
    others = await asyncio.to_thread(memory.elsewhere)
    elsewhere = [text for text in dict.fromkeys(others) if text not in known]

    async def use(pick: PromptPick | None) -> None:
        if pick is None:
            return
        if pick.is_search:
            await chat.action_command("search.everything", pick.text)
            return
        chat.put_aside()
        chat.prompt.restore(pick.text)
        chat.prompt.focus()

    chat.app.push_screen(PromptPicker(here, elsewhere, argument), use)


def focus(chat: ChatScreen, _argument: str) -> None:
    """Leave the stream; what is marked stays marked until it is moved."""
    chat.transcript.cursor.move_to(None)
    chat.prompt.focus()
