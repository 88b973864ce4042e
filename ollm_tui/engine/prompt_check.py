"""Whether a prompt may be sent, and whether the model then read all of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from ollm_tui.core.context_marks import ContextChange
from ollm_tui.core.errors import OverLimit
from ollm_tui.core.events import ContextFolded, PromptCut, PromptTooLong
from ollm_tui.core.message import Message, Usage
from ollm_tui.core.provider import ChatRequest
from ollm_tui.engine.overflow import choices, fold_to_fit
from ollm_tui.engine.session_context import SessionContext
from ollm_tui.services.tokens.counter import CUT_BELOW
from ollm_tui.services.tokens.prompt_count import PromptCount

FEWEST_TOKENS = 64
"""Nobody cuts a prompt shorter than this; a server that reads less just counts in its own way."""

Fold = Callable[[ContextChange], Awaitable[object]]


class Passed(NamedTuple):
    """A request that may be sent, and what had to be folded for it."""

    request: ChatRequest
    folded: ContextFolded | None = None


class PromptCheck:
    """Checks the prompt of one question, before and after. `fold` if that may be done unasked."""

    def __init__(self, context: SessionContext, question: Message, fold: Fold | None) -> None:
        self._context = context
        self._question = question
        self._fold = fold
        self._count = PromptCount()
        self._sent = False
        self._shortened = False

    async def before(self) -> Passed:
        """The request to send. OverLimit if it is too long."""
        request = await self._checked()
        folded = None
        if self._over() and self._fold:
            folded = await self._make_room(self._fold)
            request = await self._checked()
        if self._over():
            told = self._too_long(self._count.tokens)
            raise OverLimit(told.message, told.hint, told.tokens, self._context.choice.window)
        self._context.sent(self._count)
        self._sent = True
        return Passed(request, folded)

    async def can_shorten(self, error: OverLimit) -> bool:
        """Whether a prompt that a server refused will come out shorter from `before`: once."""
        if self._fold is None or not self._sent or self._shortened:
            return False
        self._shortened = True
        await self._learn_from(error)
        self._count = self._context.count()
        return self._over()

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
        whole = await context.counter.measured(context.assembly.pieces, (), read)
        context.forget_count()
        least = context.read if whole else self._least()
        if read < least:
            return PromptCut(read, least)
        context.read = read
        return None

    async def _learn_from(self, error: OverLimit) -> None:
        """A server that says how long the prompt is knows better."""
        if error.prompt_tokens:
            pieces = self._context.assembly.pieces
            await self._context.counter.measured(pieces, (), error.prompt_tokens)
            self._context.forget_count()

    async def _checked(self) -> ChatRequest:
        request = self._context.request()
        self._count = await self._context.check(request)
        return request

    async def _make_room(self, fold: Fold) -> ContextFolded | None:
        """Fold until it fits; what is saved is estimated, so it may take a second round."""
        before, keys = self._count.tokens, list[str]()
        while (excess := self._excess()) > 0:
            change = fold_to_fit(self._context, excess)
            if change is None:
                break
            await fold(change)
            keys += change.keys
            await self._checked()
        return ContextFolded(tuple(keys), before, self._count.tokens) if keys else None

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
