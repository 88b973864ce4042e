"""The check of a prompt: whether it may be sent, what to do if it is too long, and afterwards
whether the model read all of it."""

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
"""What happens to a prompt that does not fit: the turn fails, or the context is compressed."""
EASY_SHARE = 0.75
"""Share of the limit that a prompt may take in a wider window; with more, the context would be
compressed at once."""
OWN_SHARE = 0.25
"""Share of the limit above which folding the user's own older messages is offered."""

FEWEST_TOKENS = 64
"""A shorter prompt is never taken for cut off: a server that says it read less of one just
counts in its own way."""

SMALLEST_WINDOW = 512
"""No window is taken for smaller, in tokens: a server that refuses less has another reason."""

MakeRoom = Callable[[], AsyncGenerator[AnyCompressionEvent, None]]
"""Compresses the context so that the prompt fits, as events."""
Narrow = Callable[[int], Awaitable[None]]
"""Gives the session a smaller window, in tokens."""
Prepare = Callable[[], Awaitable[None]]
"""Does what has to be done before a question is asked; it may still change the context."""


class PromptCheck:
    """Checks the prompt of one round before and after it is sent.

    `make_room` is None where the context may not be compressed.
    """

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
        # Once, however often the round is tried.
        prepare, self._prepare = self._prepare, None
        if prepare:
            await prepare()
        request = self._context.request()
        self._count = await self._context.check(request)
        if self._over():
            found = self._too_long(self._count.tokens)
            raise OverLimit(found.message, found.hint, found.tokens, self._context.choice.window)
        self._context.sent(self._count)
        self._sent = True
        return request

    async def room_for(self, error: OverLimit) -> AsyncGenerator[AnyCompressionEvent, None] | None:
        """Make room for a prompt that was too long, here or for the server: only once. None if
        that may not be done, or would not help."""
        make_room, self._make_room = self._make_room, None
        if make_room is None:
            return None
        if self._sent:
            self._context.live.end()
            await self._learn_from(error)
        return make_room() if self._over() else None

    async def refused(self, error: OverLimit) -> PromptTooLong:
        """The event that tells the user that a prompt was too long."""
        if self._sent:
            await self._learn_from(error)
        return self._too_long(error.prompt_tokens or self._count.tokens, error.window)

    async def after(self, usage: Usage | None) -> PromptCut | None:
        """Learn from what the server measured; the alarm if it read less than was sent."""
        if usage is None or usage.input_tokens <= 0:
            return None
        context, read = self._context, usage.input_tokens
        whole = await context.measured(read)
        # The prompt only grew since `context.read` was measured: less than that was cut off too,
        # even if it is not far enough below the estimate.
        least = context.read if whole else self._least()
        if read < least:
            return PromptCut(read, least)
        context.read = read
        return None

    async def _learn_from(self, error: OverLimit) -> None:
        """Take over what a refusal tells: the length of the prompt, if it says that; and if the
        prompt should still fit, a smaller window than the server said it had."""
        context = self._context
        if error.prompt_tokens:
            await context.measured(error.prompt_tokens)
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
        """The tokens the prompt has at least; an estimate may be too high by its allowed error."""
        if self._count.tokens < FEWEST_TOKENS:
            return 0
        exact = self._count.source != "estimated"
        return self._count.tokens if exact else int(self._count.tokens * CUT_BELOW)


def choices(context: SessionContext, question: Message, tokens: int) -> tuple[OverflowChoice, ...]:
    """What the user can do about a prompt of so many tokens, the choice that loses least first."""
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
    """The first doubling of the window in which a prompt fits with room to go on, at most
    `largest`; None where it fits into none."""
    if room is None or room.window <= 0 or largest is None:
        return None
    window = room.window
    while window < largest and _limit(room, window) * EASY_SHARE < tokens:
        window = min(window * 2, largest)
    return window if window > room.window and tokens <= _limit(room, window) else None


def _limit(room: Room, window: int) -> int:
    """The longest prompt for another window, in the proportion of the present one."""
    return window * room.limit // max(room.window, 1)


def _own_tokens(context: SessionContext, question: Message) -> int:
    """The tokens of the user's other messages that are sent and not pinned."""
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
