"""Writing: in an editor of one's own, from earlier prompts, or just back in the prompt."""

from __future__ import annotations

from ollm_tui.core.errors import UsageError
from ollm_tui.tui.dialogs.picker import Picker
from ollm_tui.tui.external_editor import edit_outside
from ollm_tui.tui.screens.chat import ChatScreen
from ollm_tui.tui.widgets.choice_list import Choice


async def editor(chat: ChatScreen, _argument: str) -> None:
    """Write on in $VISUAL or $EDITOR; what is saved there is the prompt's text."""
    chat.prompt.put_whole(await edit_outside(chat.app, chat.prompt.whole_text))
    chat.prompt.focus()


def history(chat: ChatScreen, argument: str) -> None:
    """Choose one of the earlier prompts of this project."""
    texts = list(dict.fromkeys(reversed(chat.app.memory.history())))
    words = argument.casefold()
    texts = [text for text in texts if words in text.casefold()]
    if not texts:
        raise UsageError("no earlier prompt fits" if argument else "no earlier prompts yet")
    choices = [
        Choice(str(number), " ".join(text.split()), words=text) for number, text in enumerate(texts)
    ]

    def use(key: str | None) -> None:
        if key is not None:
            chat.put_aside()
            chat.prompt.restore(texts[int(key)])
            chat.prompt.focus()

    keys = "Enter use   Up Down move   Esc close"
    chat.app.push_screen(Picker("Earlier prompts", choices, keys=keys), use)


def focus(chat: ChatScreen, _argument: str) -> None:
    """Leave the stream; what is marked stays marked until it is moved."""
    chat.transcript.cursor.move_to(None)
    chat.prompt.focus()
