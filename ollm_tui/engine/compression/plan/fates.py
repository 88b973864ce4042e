"""What becomes of every message and of every older checkpoint, as a plan has it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ollm_tui.core.compression_events import Fate
from ollm_tui.core.session.compression import Checkpoint
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import next_number
from ollm_tui.engine.compression.fold.checkpoint_sizes import Sizes, level_at_age
from ollm_tui.engine.compression.plan.elision import Elisions
from ollm_tui.engine.compression.plan.material import Material
from ollm_tui.engine.context.context_view import one_line, title_of


def fates_of_messages(
    material: Material, fold: Collection[str], elide: Mapping[str, str], elisions: Elisions
) -> Iterator[Fate]:
    """In the order of the prompt."""
    for message in material.messages:
        if not material.is_sent(message):
            continue
        tokens = material.costs[message.id]
        title = title_of(message)
        if message.id in fold:
            yield Fate(message.id, "fold", title, tokens, 0)
        elif message.id in elide:
            after = elisions.cost(message, elide[message.id])
            yield Fate(message.id, "elide", title, tokens, after)
        else:
            yield Fate(message.id, "keep", title, tokens, tokens, _why(material, message))


def fates_of_checkpoints(
    material: Material, rolled: Collection[Checkpoint], sizes: Sizes
) -> Iterator[Fate]:
    """Those that a new one takes in leave nothing by themselves."""
    number = next_number(material.metadata)
    for checkpoint in material.assembly.shortening.checkpoints:
        title = one_line(checkpoint.summary or checkpoint.facts)
        tokens = checkpoint.current_tokens
        level = level_at_age(number - checkpoint.compression_number)
        if checkpoint in rolled:
            yield Fate(checkpoint.id, "age", title, tokens, 0, "checkpoint")
        elif level < checkpoint.level:
            after = min(tokens, sizes.at_level(level))
            yield Fate(checkpoint.id, "age", title, tokens, after, "checkpoint")
        else:
            yield Fate(checkpoint.id, "keep", title, tokens, tokens, "checkpoint")


def _why(material: Material, message: Message) -> str:
    if material.is_pinned(message):
        return "pinned"
    return "yours" if message.role == "user" else "recent"
