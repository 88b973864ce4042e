"""A message that did not fit: it goes back into the prompt, with what can be done about it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.events import PromptTooLong
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.core.session.graft import as_written
from ollm_tui.core.session.message import Attachment, Message, new_id
from ollm_tui.engine.context.context_view import AttachmentCost, ContextView
from ollm_tui.engine.context.prompt_message import attached as as_the_model_sees
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.turn.prompt_check import wider_window
from ollm_tui.tui.browser.commands import new
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.chat.trust import bar_of
from ollm_tui.tui.chat.trust_question import TOO_LONG, Question
from ollm_tui.tui.chat.words import MESSAGE_FILE, NO_PARTS, READ_MESSAGE, SEND_AGAIN, TOO_SHORT
from ollm_tui.tui.compression.compression_run import Asked, start
from ollm_tui.tui.context.window import window_cost
from ollm_tui.tui.prompt.chip_area import Written, is_image
from ollm_tui.tui.stream.entries.message_entries import entry_of

MOST_NUMBERED = 9
"""Attachments that can be left out by a digit each."""


class _Way(NamedTuple):
    """One thing that can be done: its key, its words, and the action, which says what was done."""

    key: str
    words: str
    action: Callable[[], Awaitable[str]]


async def take_back(chat: ChatPort, refused: PromptTooLong) -> bool:
    """Put the message back into the prompt and offer above it what would help; returns whether
    anything does.

    It is left out of the context, or no later message would fit either.
    """
    conversation = chat.conversation
    state = conversation.state
    own = [message for message in state.branch() if message.role == "user"]
    if not own:
        return False
    question, view = own[-1], conversation.context()
    await conversation.change_context(ContextChange("exclude", (question.id,)))
    chat.transcript.replace(entry_of(question, state))
    if chat.prompt.text:
        return False  # what is being written there is something else
    chat.prompt.put(question.text, as_written(question))
    ways = [way async for way in _ways(chat, refused, question, view)]
    if ways:
        await _offer(chat, refused, ways)
    return bool(ways)


async def _offer(chat: ChatPort, refused: PromptTooLong, ways: Sequence[_Way]) -> None:
    async def give(answer: str) -> str:
        return await next(way for way in ways if way.words == answer).action()

    words = f"! This message is too long: {refused.tokens:,} tokens with the context."
    if refused.limit is not None:
        excess, window = refused.tokens - refused.limit, chat.conversation.choice.window
        about = "≈" if refused.estimated else ""
        of = f" for the {short_count(window)} window" if window else ""
        words = f"! This message is {about}{counted(excess, 'token')} too long{of}."
    answers = {way.key: way.words for way in ways}
    has_tools = chat.conversation.tools.reads_parts
    refused_keys = {} if "f" in answers else {"f": TOO_SHORT if has_tools else NO_PARTS}
    question = Question(TOO_LONG, words, answers, "", give, refused=refused_keys)
    (await bar_of(chat)).ask_first(question)


async def _ways(
    chat: ChatPort, refused: PromptTooLong, question: Message, view: ContextView
) -> AsyncGenerator[_Way, None]:
    """Yield only what would help by itself, the least loss first."""
    conversation = chat.conversation
    largest = conversation.choice.largest_window
    if window := wider_window(view.budget.room, largest, refused.tokens):
        cost = window_cost(conversation.choice, window)
        words = f"window {short_count(window)}{f' ({cost})' if cost else ''}"
        yield _Way("w", words, lambda: _widen(chat, conversation, window))
    excess = 0 if refused.limit is None else refused.tokens - refused.limit
    folded, saved = await conversation.compression.foldable()
    if folded and saved >= excess:
        yield _Way("c", f"compress first (≈{saved:,})", lambda: _fold(chat, excess, own=False))
    count, saved = await conversation.compression.foldable(own=True)
    if count and saved >= excess:
        words = f"fold {count} of yours (≈{saved:,})"
        yield _Way("o", words, lambda: _fold(chat, excess, own=True))
    attached = _attached(view, question)
    for way in _without(chat, question, attached, excess):
        yield way
    if (parts := _in_parts(view, question, attached, excess)) and conversation.tools.reads_parts:
        names = ", ".join(each.name for each in parts.attachments if each.handle)
        yield _Way("f", f"{names} as a file the model reads in parts", lambda: _put(chat, parts))
    if "new-session" in refused.choices:
        yield _Way("s", "new session", lambda: _begin_anew(chat, question))


def _attached(view: ContextView, question: Message) -> list[AttachmentCost]:
    """Return what is attached to the message, the largest first."""
    item = next((each for each in view.items if each.key == question.id), None)
    return sorted(item.attachments, key=lambda each: -each.tokens.tokens) if item else []


def _without(
    chat: ChatPort, question: Message, attached: Sequence[AttachmentCost], excess: int
) -> Iterator[_Way]:
    """Yield each attachment without which the message fits; if none is enough by itself, as many
    of the largest as have to go."""

    def way(key: str, names: list[str], tokens: int) -> _Way:
        words = f"without {', '.join(names)} ({tokens:,})"
        return _Way(key, words, lambda: _remove(chat, question, names))

    enough = [each for each in attached if each.tokens.tokens >= excess]
    for number, each in enumerate(enough[:MOST_NUMBERED], 1):
        yield way(str(number), [each.name], each.tokens.tokens)
    if enough:
        return
    names, freed = list[str](), 0
    for each in attached:
        names.append(each.name)
        freed += each.tokens.tokens
        if freed >= excess:
            yield way("r", names, freed)
            return


def _in_parts(
    view: ContextView, question: Message, attached: Sequence[AttachmentCost], excess: int
) -> Written | None:
    """Return the message with as many of its largest attachments in parts as have to be; the
    text itself if nothing is attached. None if it would still be too long."""
    texts = {each.name: each for each in as_written(question) if not is_image(each)}
    freed, handles = 0, dict[str, Attachment]()
    for cost in attached:
        if freed < excess and (piece := texts.get(cost.name)) and not piece.handle:
            handles[piece.name] = piece = replace(piece, handle=f"file_{new_id()[:8]}")
            freed += cost.tokens.tokens - view.counter.text_tokens(as_the_model_sees(piece))
    if freed >= excess and handles:
        pieces = (handles.get(each.name, each) for each in as_written(question))
        return Written(question.text, tuple(pieces))
    text = Attachment(
        name=MESSAGE_FILE,
        media_type="text/plain",
        content=question.text,
        handle=f"file_{new_id()[:8]}",
    )
    seen = view.counter.text_tokens(f"{READ_MESSAGE}\n{as_the_model_sees(text)}")
    if view.counter.text_tokens(question.text) - seen < excess:
        return None
    return Written(READ_MESSAGE, (text, *as_written(question)))


async def _put(chat: ChatPort, parts: Written) -> str:
    chat.prompt.put(*parts)
    return f"Attached as a file · {SEND_AGAIN}"


async def _widen(chat: ChatPort, conversation: Conversation, window: int) -> str:
    """Use a larger window; the session remembers it, as it does another model."""
    before = conversation.choice
    await conversation.use(before._replace(window=window))
    chat.lines.show_facts()
    return f"Window {before.window:,} → {window:,} · {SEND_AGAIN}"


async def _fold(chat: ChatPort, excess: int, *, own: bool) -> str:
    """Make room for the message, which is in the prompt again, and for no less than that."""
    target = max(chat.conversation.context().count.tokens - excess, 1)
    start(chat, Asked(fold_own=own, target=target))
    what = "Folding your oldest messages" if own else "Compressing the context"
    return f"{what} · then {SEND_AGAIN}"


async def _remove(chat: ChatPort, question: Message, names: Sequence[str]) -> str:
    kept = [each for each in as_written(question) if each.name not in names]
    chat.prompt.put(question.text, kept)
    return f"Removed {', '.join(names)} · {SEND_AGAIN}"


async def _begin_anew(chat: ChatPort, question: Message) -> str:
    await new(chat, "")
    chat = chat.front()  # the port given belongs to the session that was left
    chat.prompt.put(question.text, as_written(question))
    return f"New session · {SEND_AGAIN}"
