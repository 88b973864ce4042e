"""What a compression will do, before anything is done: what stays, folds, or is cut short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ollm_tui.core.compression import Checkpoint
from ollm_tui.core.compression_events import CompressionSkipped, Fate
from ollm_tui.core.message import Message
from ollm_tui.engine.compression.checkpoint_sizes import Sizes
from ollm_tui.engine.compression.elision import facts_of, has_data
from ollm_tui.engine.compression.material import Material
from ollm_tui.engine.compression.wanted import CompressionWanted
from ollm_tui.engine.context_view import cost_of, one_line, title_of

GOAL_SHARE = 0.7
"""Of the trigger: compressing to less leaves room for some exchanges before the next time."""
WORTH_TOKENS = 64
"""Less is not worth a summary."""
OWN_SHARE = 0.5
"""Of the limit: when the user's own messages take more, only the user can make room."""
OWN_GOAL_SHARE = 0.25


class Plan(NamedTuple):
    """Which messages become part of a checkpoint, which are cut short, what is expected."""

    wanted: CompressionWanted
    fold: tuple[Message, ...]
    elide: dict[str, str]
    """Messages whose data is cut short, and the facts kept of each."""
    rolled: tuple[Checkpoint, ...]
    """Older checkpoints the new one takes the place of."""
    sizes: Sizes
    fates: tuple[Fate, ...]
    elided_before: int
    elided_after: int
    expected: int
    """Tokens of the whole prompt afterwards, at most."""


def own_messages_fill(material: Material) -> bool:
    """Whether the user's own words leave too little room for anything else."""
    return material.own_tokens >= material.room.limit * OWN_SHARE


def make_plan(material: Material, wanted: CompressionWanted) -> Plan | CompressionSkipped:
    """The gentlest plan that makes enough room, or the one that makes most."""
    if not _is_due(material, wanted):
        return _nothing("there is room enough")
    goal = material.room.trigger * GOAL_SHARE
    needed = wanted.trigger != "manual" or material.conversation > goal
    best: Plan | None = None
    for choice in _choices(material, wanted):
        plan = _plan(material, wanted, choice)
        if plan and (best is None or plan.expected < best.expected):
            best = plan
        enough = material.conversation - (material.budget.used - plan.expected) if plan else None
        if (enough is not None and enough <= goal) or not needed:
            break
    if best is None:
        over = material.budget.over_limit or material.budget.needs_compression
        return _cannot_fit(material) if over and needed else _nothing("nothing to compress")
    if wanted.trigger == "overflow" and best.expected > material.room.limit:
        return _cannot_fit(material)
    return best


def _is_due(material: Material, wanted: CompressionWanted) -> bool:
    match wanted.trigger:
        case "auto":
            return material.budget.needs_compression
        case "overflow":
            return material.budget.over_limit
        case "manual":
            return True


class _Choice(NamedTuple):
    """The messages that may be touched."""

    older: Sequence[Message]
    """May be folded, and their data cut short."""
    data_until: int = 0
    """Up to here, data may be cut short although the message stays."""


def _choices(material: Material, wanted: CompressionWanted) -> Iterator[_Choice]:
    """From the gentlest on: the recent part is whole turns, as long as that makes room."""
    messages = material.messages
    if wanted.above is not None:
        place = next((n for n, m in enumerate(messages) if m.id == wanted.above), 0)
        yield _Choice(messages[:place])
        return
    recent = _recent_start(material)
    yield _Choice(messages[:recent])
    last = material.turns[-1] if material.turns else len(messages)
    if last > recent:
        yield _Choice(messages[:last])
    # In the turn itself the last tool output is what the model is about to read.
    calls = [n for n, m in enumerate(messages) if m.role == "assistant" and m.tool_calls]
    if calls and calls[-1] > last:
        yield _Choice(messages[:last], calls[-1])


def _recent_start(material: Material) -> int:
    """Where the recent part begins: whole turns, with as many tokens as stay at least."""
    messages, end, tokens = material.messages, len(material.messages), 0
    for start in reversed(material.turns):
        tokens += material.total(messages[start:end])
        end = start
        if tokens >= material.room.recent:
            break
    return end


def _plan(material: Material, wanted: CompressionWanted, choice: _Choice) -> Plan | None:
    elide = _elidable(material, (*choice.older, *material.messages[: choice.data_until]))
    saved = sum(_saved(material, message, facts) for message, facts in elide)
    goal = material.room.trigger * GOAL_SHARE
    fold: list[Message] = []
    if (
        wanted.strategy != "hybrid"
        or wanted.trigger == "manual"
        or material.conversation - saved > goal
    ):
        fold = list(_foldable(material, choice.older))
        if wanted.fold_own:
            fold = _with_own(material, choice.older, fold)
    folded_tokens = material.total(fold)
    if folded_tokens < WORTH_TOKENS:
        fold, folded_tokens = [], 0
    if wanted.strategy == "truncate" and wanted.trigger != "manual":
        fold = _oldest(material, fold, material.conversation - goal)
        folded_tokens = material.total(fold)
    kept = {message.id for message in fold}
    elide = [(message, facts) for message, facts in elide if message.id not in kept]
    if not fold and sum(_saved(material, m, facts) for m, facts in elide) < WORTH_TOKENS:
        return None
    return _written(material, wanted, fold, elide)


def _written(
    material: Material,
    wanted: CompressionWanted,
    fold: list[Message],
    elide: list[tuple[Message, str]],
) -> Plan:
    older = material.assembly.shortening.checkpoints
    rolled = older if wanted.strategy == "summarize" and fold else ()
    rolled_tokens = sum(checkpoint.current_tokens for checkpoint in rolled)
    sizes = Sizes.of(material.room.checkpoint_cap, material.total(fold) + rolled_tokens)
    before = sum(material.costs[message.id] for message, _ in elide)
    after = sum(_cost_elided(material, message, facts) for message, facts in elide)
    new = sizes.new if fold else 0
    expected = material.budget.used - material.total(fold) - rolled_tokens + new - before + after
    kept = {message.id: facts for message, facts in elide}
    return Plan(
        wanted=wanted,
        fold=tuple(fold),
        elide=kept,
        rolled=rolled,
        sizes=sizes,
        fates=tuple(_fates(material, {m.id for m in fold}, kept)),
        elided_before=before,
        elided_after=after,
        expected=expected,
    )


def _foldable(material: Material, older: Sequence[Message]) -> Iterator[Message]:
    """Replies and what tools said; the user's own words and what is pinned stay."""
    for message in older:
        if message.role != "user" and material.is_sent(message) and not material.is_pinned(message):
            yield message


def _with_own(material: Material, older: Sequence[Message], fold: list[Message]) -> list[Message]:
    """The oldest messages of the user too, until theirs take a quarter of the limit."""
    excess = material.own_tokens - material.room.limit * OWN_GOAL_SHARE
    chosen = {message.id for message in fold}
    for message in older:
        if excess <= 0:
            break
        is_own = message.role == "user" and material.is_sent(message)
        if is_own and not material.is_pinned(message):
            chosen.add(message.id)
            excess -= material.costs[message.id]
    return [message for message in older if message.id in chosen]


def _oldest(material: Material, fold: list[Message], excess: float) -> list[Message]:
    """As many of the oldest as are needed; calls go with their results."""
    chosen: list[Message] = []
    for message in fold:
        if excess <= 0 and message.role != "tool":
            break
        chosen.append(message)
        excess -= material.costs[message.id]
    return chosen


def _elidable(material: Material, older: Sequence[Message]) -> list[tuple[Message, str]]:
    """Messages with data that would be shorter without it, each once."""
    found: dict[str, tuple[Message, str]] = {}
    for message in older:
        if (
            message.id not in found
            and has_data(message)
            and material.is_sent(message)
            and not material.is_pinned(message)
            and message.id not in material.assembly.shortening.elided
            and message.id not in material.assembly.marks.folded
        ):
            facts = facts_of(message)
            if _saved(material, message, facts) > 0:
                found[message.id] = (message, facts)
    return list(found.values())


def _saved(material: Material, message: Message, facts: str) -> int:
    return material.costs[message.id] - _cost_elided(material, message, facts)


def _cost_elided(material: Material, message: Message, facts: str) -> int:
    return cost_of(material.counter, message, None, facts)


def _fates(material: Material, fold: set[str], elide: dict[str, str]) -> Iterator[Fate]:
    """What becomes of each message in the prompt, in its order."""
    for message in material.messages:
        if not material.is_sent(message):
            continue
        tokens = material.costs[message.id]
        title = title_of(message)
        if message.id in fold:
            yield Fate(message.id, "fold", title, tokens, 0)
        elif message.id in elide:
            after = _cost_elided(material, message, elide[message.id])
            yield Fate(message.id, "elide", title, tokens, after)
        else:
            yield Fate(message.id, "keep", title, tokens, tokens, _why(material, message))
    for checkpoint in material.assembly.shortening.checkpoints:
        title = one_line(checkpoint.summary or checkpoint.facts)
        yield Fate(checkpoint.id, "keep", title, checkpoint.current_tokens, 0, "checkpoint")


def _why(material: Material, message: Message) -> str:
    if material.is_pinned(message):
        return "pinned"
    return "yours" if message.role == "user" else "recent"


def _nothing(message: str) -> CompressionSkipped:
    return CompressionSkipped(
        reason="nothing-to-do",
        message=message,
        hint="the recent part, your own messages and pins are never compressed",
    )


def _cannot_fit(material: Material) -> CompressionSkipped:
    own = material.own_tokens * 100 // max(1, material.budget.used)
    return CompressionSkipped(
        reason="cannot-fit",
        message=f"nothing is left to compress; your own messages are {own} % of the context",
        hint="leave out or fold something (F5), take a larger window, or begin a new session",
    )
