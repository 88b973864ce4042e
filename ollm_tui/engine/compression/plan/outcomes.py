"""Outcomes: what becomes of each message and of each older checkpoint in a compression."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ollm_tui.core.compression_events import Outcome
from ollm_tui.core.session.compression import Checkpoint
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import next_number
from ollm_tui.engine.compression.fold.checkpoints import Sizes, level_at_age
from ollm_tui.engine.compression.plan.elisions import Elisions
from ollm_tui.engine.compression.plan.material import Material
from ollm_tui.engine.context.context_view import one_line, title_of


def outcomes_of_messages(
    material: Material, fold: Collection[str], elide: Mapping[str, str], elisions: Elisions
) -> Iterator[Outcome]:
    """Yield what becomes of each message, in the order of the prompt."""
    for message in material.messages:
        if not material.is_sent(message):
            continue
        tokens = material.costs[message.id]
        title = title_of(message)
        if message.id in fold:
            yield Outcome(message.id, "fold", title, tokens, 0)
        elif message.id in elide:
            after = elisions.cost(message, elide[message.id])
            yield Outcome(message.id, "elide", title, tokens, after)
        else:
            yield Outcome(message.id, "keep", title, tokens, tokens, _why(material, message))


def outcomes_of_checkpoints(
    material: Material, rolled: Collection[Checkpoint], sizes: Sizes
) -> Iterator[Outcome]:
    """Yield what becomes of each older checkpoint; `rolled` go into the new one."""
    number = next_number(material.metadata)
    for checkpoint in material.assembly.shortening.checkpoints:
        title = one_line(checkpoint.summary or checkpoint.facts)
        tokens = checkpoint.current_tokens
        level = level_at_age(number - checkpoint.compression_number)
        if checkpoint in rolled:
            yield Outcome(checkpoint.id, "age", title, tokens, 0, "checkpoint")
        elif level < checkpoint.level:
            after = min(tokens, sizes.at_level(level))
            yield Outcome(checkpoint.id, "age", title, tokens, after, "checkpoint")
        else:
            yield Outcome(checkpoint.id, "keep", title, tokens, tokens, "checkpoint")


def _why(material: Material, message: Message) -> str:
    if material.is_pinned(message):
        return "pinned"
    return "yours" if message.role == "user" else "recent"
