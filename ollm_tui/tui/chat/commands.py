"""Talking: stop the answer, leave step by step, go back to what was said."""

from __future__ import annotations

import time

from ollm_tui.core.errors import UsageError
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.terminal.clipboard import copy

AGAIN_SECONDS = 2.0
"""A second press within this time means more than the first."""


def stop(chat: ChatScreen, _argument: str) -> None:
    """Esc: the least that helps. Stop the answer, leave the stream, give up an edit, rewind."""
    if chat.app.shell and chat.app.shell.stop():
        return
    if chat.is_busy:
        _stop(chat)
    elif not isinstance(chat.focused, Prompt):
        chat.transcript.finder.clear()
        chat.transcript.cursor.move_to(None)
        chat.prompt.focus()
    elif chat.editing:
        chat.editing = None
        chat.transcript.cursor.move_to(None)
        chat.put_aside()
        chat.lines.show_state()
    elif not chat.prompt.text and len(chat.conversation.state):
        if pressed_again(chat, "escape"):
            rewind(chat, "")
        else:
            chat.lines.tell("Esc again goes back to an earlier message")


async def interrupt(chat: ChatScreen, _argument: str) -> None:
    """Ctrl+C: copy the selection, else stop, else put the draft aside; twice in a row, leave."""
    if selected := chat.prompt.selected_text or chat.get_selected_text():
        chat.lines.tell(await copy(chat.app, selected))
        chat.clear_selection()
    elif chat.app.shell and chat.app.shell.stop():
        pass
    elif chat.is_busy:
        _stop(chat)
    elif chat.prompt.text:
        chat.put_aside()
        chat.lines.tell("draft put aside, Up brings it back")
    elif pressed_again(chat, "ctrl+c"):
        await chat.leave()
    else:
        ends = chat.app.shell.would_end if chat.app.shell else ""
        chat.lines.tell(f"Ctrl+C again quits{ends and f' and ends {ends}'}")


def rewind(chat: ChatScreen, _argument: str) -> None:
    """Stand on your last message, from where it can be edited or the session forked."""
    state = chat.conversation.state
    own = [key for key in chat.transcript.keys if key in state and state[key].role == "user"]
    if not own:
        raise UsageError("there is nothing to go back to", "send a message first")
    chat.transcript.cursor.move_to(own[-1])
    chat.transcript.focus()


def _stop(chat: ChatScreen) -> None:
    """Stop the answer; what waits goes on waiting until something is sent."""
    chat.is_holding = True
    chat.conversation.cancel()


def pressed_again(chat: ChatScreen, key: str) -> bool:
    """Whether a key was pressed shortly before as well; remembers this press."""
    now = time.monotonic()
    before, chat.last_press = chat.last_press, (key, now)
    return before[0] == key and now - before[1] < AGAIN_SECONDS
