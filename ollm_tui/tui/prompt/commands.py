"""The commands of the prompt: write in an external editor, use an earlier prompt, focus it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from textual.binding import Binding

from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.picker import PickerOf
from ollm_tui.tui.prompt.words import ELSEWHERE, HISTORY_EMPTY, HISTORY_KEYS
from ollm_tui.tui.terminal.external_editor import edit_outside


class PromptPick(NamedTuple):
    """What was chosen: a prompt to use, or words to search for."""

    text: str
    is_search: bool = False


class PromptPicker(PickerOf[PromptPick]):
    """Lists the prompts of this project, then those of others, the latest first."""

    RANKS = False
    BINDINGS = [
        Binding("tab", "widen", "All sessions", id="picker.widen", tooltip="Search all sessions"),
    ]

    def __init__(self, here: Sequence[str], elsewhere: Sequence[str], words: str = "") -> None:
        self._texts = (*here, *elsewhere)
        self._words = words
        lines = [
            Choice(str(number), " ".join(text.split()), words=text)
            for number, text in enumerate(self._texts)
        ]
        if elsewhere:
            lines.insert(len(here), Choice("", ELSEWHERE, heading=True))
        super().__init__("Prompt history", lines, empty=HISTORY_EMPTY, keys=HISTORY_KEYS)

    def on_mount(self) -> None:
        """Narrow the list at once by the words that are known already."""
        super().on_mount()
        self.query_one(LineInput).value = self._words

    def result(self, choice: Choice) -> PromptPick:
        """Return the prompt of a line."""
        return PromptPick(self._texts[int(choice.key)])

    def action_widen(self) -> None:
        """Close, and search for the words in everything ever said."""
        self.dismiss(PromptPick(self.query_one(LineInput).value, is_search=True))


async def editor(chat: ChatPort, _argument: str) -> None:
    """Write on in $VISUAL or $EDITOR; what is saved there is the prompt's text."""
    chat.prompt.put_whole(await edit_outside(chat.app, chat.prompt.whole_text))
    chat.prompt.focus()


async def history(chat: ChatPort, argument: str) -> None:
    """Choose an earlier prompt, of this project or another; Tab searches everything ever said."""
    memory = chat.app.memory
    here = list(dict.fromkeys(reversed(memory.history())))
    known = set(here)
    others = await asyncio.to_thread(memory.elsewhere)
    elsewhere = [text for text in dict.fromkeys(others) if text not in known]

    async def use(pick: PromptPick | None) -> None:
        if pick is None:
            return
        if pick.is_search:
            await chat.command("search.everything", pick.text)
            return
        chat.put_aside()
        chat.prompt.restore(pick.text)
        chat.prompt.focus()

    chat.ask(PromptPicker(here, elsewhere, argument), use)


def focus(chat: ChatPort, _argument: str) -> None:
    """Go from the stream to the prompt, and take the cursor off the messages."""
    chat.transcript.cursor.move_to(None)
    chat.prompt.focus()


ACTIONS: Mapping[str, Action] = {
    "prompt.editor": editor,
    "prompt.history": history,
    "prompt.focus": focus,
}
