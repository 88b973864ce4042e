"""A message that did not fit: it goes back into the prompt, with what can be done about it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import NamedTuple

from ollm_tui.core.events import PromptTooLong
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.core.session.graft import as_written
from ollm_tui.core.session.message import Message
from ollm_tui.engine.context.context_view import AttachmentCost, ContextView
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.turn.prompt_check import wider_window
from ollm_tui.tui.browser.commands import new
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.chat.trust import bar_of
from ollm_tui.tui.chat.trust_question import TOO_LONG, Question
from ollm_tui.tui.chat.words import SEND_AGAIN
from ollm_tui.tui.compression.compression_run import Asked, start
from ollm_tui.tui.stream.entries.message_entries import entry_of


class _Way(NamedTuple):
    """One thing that can be done: its key, its words, and the action, which says what was done."""

    key: str
    words: str
    action: Callable[[], Awaitable[str]]


async def take_back(chat: ChatPort, refused: PromptTooLong) -> None:
    """Put the message back into the prompt and offer above it what would help.

    It is left out of the context, or no later message would fit either.
    """
    conversation = chat.conversation
    state = conversation.state
    own = [message for message in state.branch() if message.role == "user"]
    if not own:
        return
    question, view = own[-1], conversation.context()
    await conversation.change_context(ContextChange("exclude", (question.id,)))
    chat.transcript.replace(entry_of(question, state))
    if chat.prompt.text:
        return  # what is being written there is something else
    chat.prompt.put(question.text, as_written(question))
    ways = [way async for way in _ways(chat, refused, question, view)]
    if ways:
        await _offer(chat, refused, ways)


async def _offer(chat: ChatPort, refused: PromptTooLong, ways: Sequence[_Way]) -> None:
    async def give(answer: str) -> str:
        return await next(way for way in ways if way.words == answer).action()

    fit = "" if refused.limit is None else f", {refused.limit:,} fit"
    words = f"Your message does not fit: {refused.tokens:,} tokens with all before it{fit}."
    answers = {way.key: way.words for way in ways}
    (await bar_of(chat)).ask_first(Question(TOO_LONG, words, answers, "", give))


async def _ways(
    chat: ChatPort, refused: PromptTooLong, question: Message, view: ContextView
) -> AsyncGenerator[_Way, None]:
    """Yield only what would help by itself, the least loss first."""
    conversation = chat.conversation
    largest = conversation.choice.largest_window
    if window := wider_window(view.budget.room, largest, refused.tokens):
        yield _Way("w", f"window of {window:,}", lambda: _widen(chat, conversation, window))
    excess = 0 if refused.limit is None else refused.tokens - refused.limit
    count, saved = await conversation.compression.own_foldable()
    if count and saved >= excess:
        yield _Way("f", f"fold {count} of yours (≈{saved:,})", lambda: _fold(chat))
    if removed := _enough(view, question, excess):
        names = [each.name for each in removed]
        yield _Way("r", f"without {', '.join(names)}", lambda: _remove(chat, question, names))
    if "new-session" in refused.choices:
        yield _Way("s", "new session", lambda: _begin_anew(chat, question))


def _enough(view: ContextView, question: Message, excess: int) -> list[AttachmentCost]:
    """Return the largest attachments, as many as have to go; none if all would not be enough."""
    item = next((each for each in view.items if each.key == question.id), None)
    sizes = sorted(item.attachments, key=lambda each: -each.tokens.tokens) if item else []
    removed: list[AttachmentCost] = []
    for each in sizes:
        removed.append(each)
        excess -= each.tokens.tokens
        if excess <= 0:
            return removed
    return []


async def _widen(chat: ChatPort, conversation: Conversation, window: int) -> str:
    """Use a larger window; the session remembers it, as it does another model."""
    before = conversation.choice
    await conversation.use(before._replace(window=window))
    chat.lines.show_facts()
    return f"window {before.window:,} → {window:,} from now on · {SEND_AGAIN}"


async def _fold(chat: ChatPort) -> str:
    start(chat, Asked(fold_own=True))
    return f"folding the oldest of your messages · then {SEND_AGAIN}"


async def _remove(chat: ChatPort, question: Message, names: Sequence[str]) -> str:
    kept = [each for each in as_written(question) if each.name not in names]
    chat.prompt.put(question.text, kept)
    return f"taken out: {', '.join(names)} · {SEND_AGAIN}"


async def _begin_anew(chat: ChatPort, question: Message) -> str:
    await new(chat, "")
    chat = chat.front()  # the port given belongs to the session that was left
    chat.prompt.put(question.text, as_written(question))
    return f"a new session · {SEND_AGAIN}"
