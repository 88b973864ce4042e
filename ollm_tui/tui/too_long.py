"""A message that did not fit: it goes back into the prompt, to be made shorter."""

from __future__ import annotations

from ollm_tui.core.context_marks import ContextChange
from ollm_tui.core.graft import as_written
from ollm_tui.tui.entries import entry_of
from ollm_tui.tui.screens.chat import ChatScreen


async def take_back(chat: ChatScreen) -> None:
    """It would keep all that follow from fitting: it is left out of the context and stands in
    the prompt again."""
    state = chat.conversation.state
    own = [message for message in state.branch() if message.role == "user"]
    if not own:
        return
    await chat.conversation.change_context(ContextChange("exclude", (own[-1].id,)))
    chat.transcript.replace(entry_of(own[-1], state))
    if not chat.prompt.text:
        chat.prompt.put(own[-1].text, as_written(own[-1]))
