"""A checkpoint in the form of a server that compacts prompts by itself, beside its own words."""

from __future__ import annotations

import logging

from msgspec.structs import replace

from ollm_tui.core.errors import ProviderError
from ollm_tui.core.provider import CanCompact, ChatRequest, PromptMessage
from ollm_tui.core.session.compression import Checkpoint
from ollm_tui.engine.compression.plan.plan import Plan
from ollm_tui.engine.context.prompt_message import checkpoint_text, pieces_of
from ollm_tui.engine.conversation.model_choice import ModelChoice

log = logging.getLogger(__name__)


async def compacted(checkpoint: Checkpoint, plan: Plan, choice: ModelChoice) -> Checkpoint:
    """The checkpoint with what the server makes of the same messages; the same checkpoint where
    the server cannot, where that is longer than the words, or where the strategy wants none."""
    provider = choice.provider
    if plan.wanted.strategy != "summarize" or not isinstance(provider, CanCompact):
        return checkpoint
    try:
        if not (await provider.capabilities(choice.model)).compaction:
            return checkpoint
        made = await provider.compact(_request(plan, choice))
    except ProviderError as error:
        log.info("the server did not compact the messages: %s", error.message)
        return checkpoint
    fits = 0 < made.tokens <= checkpoint.current_tokens
    return replace(checkpoint, compacted=made) if fits else checkpoint


def _request(plan: Plan, choice: ModelChoice) -> ChatRequest:
    rolled = (
        PromptMessage(role="assistant", text=checkpoint_text(each), compacted=each.compacted)
        for each in plan.rolled
    )
    said = (piece.message for message in plan.fold for piece in pieces_of(message))
    return ChatRequest(model=choice.model, messages=(*rolled, *said), window=choice.window)
