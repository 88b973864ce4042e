"""The commands for the context: show it, add to it, pin, leave out and fold messages, trust."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.context_marks import Marks
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.chat.status import WIDE
from ollm_tui.tui.chat.trust_question import TrustQuestion
from ollm_tui.tui.compression.compression_run import Asked, preview
from ollm_tui.tui.context import context_entries
from ollm_tui.tui.context.context_lines import MESSAGE_ACTIONS
from ollm_tui.tui.context.inspector import Inspector
from ollm_tui.tui.context.prompt_screen import PromptScreen, export_prompt, prompt_screen
from ollm_tui.tui.context.screen import CompactAbove, ContextScreen, GoTo
from ollm_tui.tui.context.window import window
from ollm_tui.tui.context.words import (
    NARROW_INSPECTOR,
    NO_MESSAGE_YET,
    NO_QUESTION_PENDING,
    SEND_ONE_FIRST,
    UNDER_REVIEW,
    WHAT_ASKS,
    effect,
)
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.stream.entries.message_entries import entry_of
from ollm_tui.tui.tools.tool_display import ToolDisplay


async def breakdown(chat: ChatPort, argument: str) -> None:
    """Open the context screen; show the prompt (`show`) or write it to a file (`export`); change
    what is in every prompt (`add`, `remove`, `list`, `clear`, `refresh`)."""
    word, _, rest = argument.partition(" ")
    if not argument:
        await _open(chat)
    elif argument == "show":
        chat.ask(prompt_screen(chat.conversation))
    elif word == "export" and rest.strip():
        file = await export_prompt(chat.conversation, rest.strip())
        chat.tell(f"Prompt written to {visible(file)}")
    else:
        await context_entries.carry_out(chat, word, rest.strip())


async def inspector(chat: ChatPort, argument: str) -> None:
    """Show context, goal and jobs at the right, or hide them; `as-before` shows them again."""
    if argument != "as-before" and chat.screen.size.width < WIDE:
        key = chat.lines.hints.keys("context.breakdown")[0]
        raise UsageError(NARROW_INSPECTOR.format(WIDE, key), "")
    panes = chat.screen.query(Inspector)
    is_open = not panes
    if is_open:
        await chat.mount_beside(Inspector(chat.front))
    else:
        await panes.remove()
    if argument != "as-before":
        await asyncio.to_thread(chat.app.memory.keep_inspector, is_open)


async def trust(chat: ChatPort, argument: str) -> None:
    """Answer the question above the prompt; without an answer, go there. UsageError if nothing is
    asked."""
    tools = None if argument else chat.find_part(ToolDisplay)
    asking = tools.asking if tools else None
    bar = next((each for each in chat.screen.query(TrustQuestion) if each.questions), None)
    if asking and (bar is None or not asking.has_focus):
        asking.focus()  # a turn waits for that; from there the key leads on
        return
    if bar is None:
        raise UsageError(NO_QUESTION_PENDING, WHAT_ASKS)
    question = bar.questions[0]
    answers = {**question.answers, **{word: word for word in question.answers.values()}}
    if not argument:
        bar.focus()
    elif argument in ("v", "view") and question.text:
        chat.ask(PromptScreen(UNDER_REVIEW, "", question.text))
    elif argument == "later" or argument in answers:
        reply = question.later if argument == "later" else await question.give(answers[argument])
        bar.drop(question.subject)
        # Also where more is asked: what is typed next is meant for the prompt, not as an answer.
        chat.screen.set_focus(chat.prompt)
        # Behind the focus through both queues: the keys it shows would take the place of this.
        chat.prompt.call_later(chat.screen.call_later, chat.tell, reply)
    elif why_not := question.refused.get(argument):
        raise UsageError(why_not, "")
    elif chat.screen.focused is not bar:
        known = ", ".join((*question.answers.values(), "view", "later"))
        raise UsageError(f"Not an answer here: {visible(argument)}", f"one of {known}")


async def pin(chat: ChatPort, _argument: str) -> None:
    """Keep messages in every prompt, or no longer."""
    await _change(chat, "pin")


async def leave_out(chat: ChatPort, _argument: str) -> None:
    """Do not send messages, or send them again."""
    await _change(chat, "leave_out")


async def fold(chat: ChatPort, _argument: str) -> None:
    """Send the first words of messages only, or all of them again."""
    await _change(chat, "fold")


async def _open(chat: ChatPort) -> None:
    """Open the context screen, and carry out what the user wants when it closes."""
    before = _marks(chat)

    async def go(wanted: GoTo | CompactAbove | None) -> None:
        _show_change(chat, before)
        if isinstance(wanted, CompactAbove):
            asked = Asked(above=wanted.key)
            await chat.attempt(lambda: preview(chat, asked))
        elif wanted and wanted.key in chat.transcript.keys:
            chat.transcript.focus()
            chat.transcript.cursor.move_to(wanted.key)

    await chat.conversation.context_items()
    screen = ContextScreen(chat.conversation, is_busy=lambda: chat.is_busy)
    chat.ask(screen, go)


async def _change(chat: ChatPort, name: str) -> None:
    """Change the marked messages, or the last one; if all of them are changed so, undo that."""
    conversation, before = chat.conversation, _marks(chat)
    chosen = chat.transcript.cursor.keys or chat.transcript.keys
    keys = tuple(key for key in chosen if key in conversation.state)
    if not chat.transcript.cursor.keys:
        keys = keys[-1:]
    if not keys:
        raise UsageError(NO_MESSAGE_YET, SEND_ONE_FIRST)
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    change, word = MESSAGE_ACTIONS[name].change(keys, before)
    view = conversation.context()
    await conversation.change_context(change)
    _show_change(chat, before)
    chat.tell(effect(word, view, conversation.context()))


def _marks(chat: ChatPort) -> Marks:
    return Marks.of(chat.conversation.state.header.metadata)


def _show_change(chat: ChatPort, before: Marks) -> None:
    """Draw the gauge again, and the messages that have another mark now."""
    state, after = chat.conversation.state, _marks(chat)
    for key in chat.transcript.keys:
        if key in state and before.mark(key) != after.mark(key):
            chat.transcript.replace(entry_of(state[key], state))
    chat.lines.show_facts()


ACTIONS: Mapping[str, Action] = {
    "context.breakdown": breakdown,
    "context.inspector": inspector,
    "context.trust": trust,
    "context.window": window,
    "context.pin": pin,
    "context.leave_out": leave_out,
    "context.fold": fold,
}
