"""The user's own commands on the screen: asked about where they run something, then sent."""

from __future__ import annotations

from ollm_tui.core.intake import visible
from ollm_tui.engine.project.command_sending import files_of, output_of, use_wishes
from ollm_tui.engine.project.own_commands import Filled, OwnCommand
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.extensions.words import NOTHING_SENT, RUN_FIRST
from ollm_tui.tui.kit.question import Confirmation
from ollm_tui.tui.prompt.prompt import Prompt


def run_own(chat: ChatPort, command: OwnCommand, words: str) -> None:
    """Send a command's text; what it runs first is shown and asked about. UsageError if words are
    missing."""
    filled = command.filled(words)

    def send(is_agreed: bool | None) -> None:
        if is_agreed:
            sending = chat.attempt(lambda: _send(chat, command, filled))
            chat.screen.run_worker(sending, group="command")
        else:
            # Back to where it was typed: it may be changed, or sent as text.
            if not chat.prompt.text:
                chat.prompt.put(f"/{command.name} {words}".rstrip())
            chat.tell(NOTHING_SENT)

    if filled.shell:
        lines = "\n".join(f"$ {visible(code)}" for code in filled.shell)
        chat.ask(Confirmation(RUN_FIRST.format(name=command.name), lines), send)
    else:
        send(True)


async def _send(chat: ChatPort, command: OwnCommand, filled: Filled) -> None:
    workspace, conversation = chat.app.workspace, chat.conversation
    await use_wishes(workspace, conversation, command)
    files = await files_of(workspace, conversation, command, filled.text)
    outputs = [await output_of(chat.app.jobs, conversation, code) for code in filled.shell]
    chat.lines.show_facts()
    chat.send(Prompt.Sent(filled.text, (*files, *outputs)))
