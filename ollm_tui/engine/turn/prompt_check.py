"""Whether a prompt may be sent, and whether the model then read all of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Literal

from ollm_tui.core.compression_events import AnyCompressionEvent
from ollm_tui.core.errors import OverLimit
from ollm_tui.core.events import OverflowChoice, PromptCut, PromptTooLong
from ollm_tui.core.provider import ChatRequest
from ollm_tui.core.session.message import Attachment, Message, Usage
from ollm_tui.engine.context.budget import Room
from ollm_tui.engine.context.context_view import cost_of
from ollm_tui.engine.context.session_context import SessionContext
from ollm_tui.services.tokens.counter import CUT_BELOW
from ollm_tui.services.tokens.prompt_count import PromptCount

OverflowPolicy = Literal["fail", "compress"]
"""Whether the context is compressed when a prompt does not fit."""
EASY_SHARE = 0.75
"""Of the limit: a prompt that takes more would have the context compressed at once."""
OWN_SHARE = 0.25
"""Of the limit: so much of the user's own words stays when the oldest are folded."""


def choices(context: SessionContext, question: Message, tokens: int) -> tuple[OverflowChoice, ...]:
    """What the user can do about a prompt of so many tokens, the least loss first."""
    room = context.budget(context.count()).room
    found: list[OverflowChoice] = []
    if wider_window(room, context.choice.largest_window, tokens):
        found.append("larger-window")
    if room and _own_tokens(context, question) > room.limit * OWN_SHARE:
        found.append("fold-own")
    has_more = len(context.assembly.messages) > 1
    if has_more:
        found.append("fold-or-exclude")
    if any(isinstance(part, Attachment) for part in question.parts):
        found.append("remove-attachment")
    alone = cost_of(context.counter, question) + context.count().parts.system
    if has_more and (room is None or alone <= room.limit):
        found.append("new-session")
    return tuple(found)


def wider_window(room: Room | None, largest: int | None, tokens: int) -> int | None:
    """The next window, each twice as large, in which a prompt fits with room to go on; None
    where it fits into none."""
    if room is None or room.window <= 0 or largest is None:
        return None
    window = room.window
    while window < largest and _limit(room, window) * EASY_SHARE < tokens:
        window = min(window * 2, largest)
    return window if window > room.window and tokens <= _limit(room, window) else None


def _limit(room: Room, window: int) -> int:
    return window * room.limit // max(room.window, 1)


def _own_tokens(context: SessionContext, question: Message) -> int:
    """What the user's other messages take that may be folded."""
    assembly = context.assembly
    sent = {owner.key for owners in assembly.owners for owner in owners}
    return sum(
        cost_of(context.counter, message, assembly.marks.folded.get(message.id))
        for message in assembly.messages
        if message.role == "user"
        and message.id != question.id
        and message.id in sent
        and message.id not in assembly.marks.pinned
    )


FEWEST_TOKENS = 64
"""Nobody cuts a prompt shorter than this; a server that reads less just counts in its own way."""

SMALLEST_WINDOW = 512
"""A server that refuses less has another reason."""

MakeRoom = Callable[[], AsyncGenerator[AnyCompressionEvent, None]]
"""Compresses the context so that the prompt fits."""
Narrow = Callable[[int], Awaitable[None]]
"""Takes a smaller window for the one the session has."""
Prepare = Callable[[Message], Awaitable[None]]
"""Does what has to be done before a question is asked; it may still change the context."""


class PromptCheck:
    """Checks the prompt of one question, before and after. `make_room` if that may be done."""

    def __init__(
        self,
        context: SessionContext,
        question: Message,
        make_room: MakeRoom | None,
        narrow: Narrow,
        prepare: Prepare | None = None,
    ) -> None:
        self._context = context
        self._question = question
        self._make_room = make_room
        self._narrow = narrow
        self._prepare = prepare
        self._count = PromptCount()
        self._sent = False

    async def before(self) -> ChatRequest:
        """The request to send. OverLimit if it is too long."""
        prepare, self._prepare = self._prepare, None
        if prepare:
            await prepare(self._question)
        request = self._context.request()
        self._count = await self._context.check(request)
        if self._over():
            told = self._too_long(self._count.tokens)
            raise OverLimit(told.message, told.hint, told.tokens, self._context.choice.window)
        self._context.sent(self._count)
        self._sent = True
        return request

    async def room_for(self, error: OverLimit) -> AsyncGenerator[AnyCompressionEvent, None] | None:
        """Makes room for a prompt that was too long, here or for the server: once."""
        make_room, self._make_room = self._make_room, None
        if make_room is None:
            return None
        if self._sent:
            self._context.live.end()
            await self._learn_from(error)
        return make_room() if self._over() else None

    async def refused(self, error: OverLimit) -> PromptTooLong:
        """What to tell when a prompt was too long."""
        if self._sent:
            await self._learn_from(error)
        return self._too_long(error.prompt_tokens or self._count.tokens, error.window)

    async def after(self, usage: Usage | None) -> PromptCut | None:
        """The alarm, if less was read than was sent; otherwise the counter learns."""
        if usage is None or usage.input_tokens <= 0:
            return None
        context, read = self._context, usage.input_tokens
        whole = await context.counter.measured(context.assembly.pieces, context.tools, read)
        context.forget_count()
        least = context.read if whole else self._least()
        if read < least:
            return PromptCut(read, least)
        context.read = read
        return None

    async def _learn_from(self, error: OverLimit) -> None:
        """A server that says how long the prompt is knows better; so does one that refuses what
        should fit: it has less room than was known, whatever it said before."""
        context = self._context
        if error.prompt_tokens:
            pieces = context.assembly.pieces
            await context.counter.measured(pieces, context.tools, error.prompt_tokens)
            context.forget_count()
        self._count = context.count()
        if self._over():
            return
        refused = error.prompt_tokens or self._count.tokens
        window = max(SMALLEST_WINDOW, min(error.window or refused, refused))
        if context.choice.window is None or window < context.choice.window:
            await self._narrow(window)
            self._count = context.count()

    def _over(self) -> bool:
        return self._excess() > 0

    def _excess(self) -> int:
        room = self._context.budget(self._count).room
        return 0 if room is None else self._count.tokens - room.limit

    def _too_long(self, tokens: int, window: int | None = None) -> PromptTooLong:
        room = self._context.budget(self._count).room
        return PromptTooLong(
            tokens,
            room.limit if room else window,
            choices(self._context, self._question, tokens),
            self._context.choice.largest_window,
            self._count.source == "estimated" and tokens == self._count.tokens,
        )

    def _least(self) -> int:
        """What the prompt surely has; an estimate may be too high by as much as is allowed for."""
        if self._count.tokens < FEWEST_TOKENS:
            return 0
        exact = self._count.source != "estimated"
        return self._count.tokens if exact else int(self._count.tokens * CUT_BELOW)
