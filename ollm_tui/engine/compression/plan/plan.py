"""What a compression will do, before anything is done: what stays, folds, or is cut short."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from ollm_tui.core.compression_events import CompressionSkipped, Outcome
from ollm_tui.core.session.compression import Checkpoint
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import next_number
from ollm_tui.engine.compression.fold.checkpoints import (
    LEAST_CAP,
    LEAST_TOKENS,
    Sizes,
    level_at_age,
)
from ollm_tui.engine.compression.plan.elision import Elisions, has_data
from ollm_tui.engine.compression.plan.material import CompressionRequest, Material
from ollm_tui.engine.context.context_view import one_line, title_of


def outcomes_of_messages(
    material: Material, fold: Collection[str], elide: Mapping[str, str], elisions: Elisions
) -> Iterator[Outcome]:
    """In the order of the prompt."""
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
    """Those that a new one takes in leave nothing by themselves."""
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


GOAL_SHARE = 0.7
"""Of the trigger: compressing to less leaves room for some exchanges before the next time."""
WORTH_TOKENS = 64
"""Less is not worth a summary."""
WORTH_AGAIN_SHARE = 0.2
OWN_SHARE = 0.5
"""Of the limit: when the user's own messages take more, only the user can make room."""
OWN_GOAL_SHARE = 0.25
TOLD_PERCENT = 10
"""Of the context: less of the user's own is no reason why it is full."""
EXCERPT_SHARE = 0.25
"""Of the limit: what is left of output that the model has not read yet, and that cannot fit."""


class Plan(NamedTuple):
    """Which messages become part of a checkpoint, which are cut short, what is expected."""

    wanted: CompressionRequest
    fold: tuple[Message, ...]
    elide: dict[str, str]
    """Messages whose data is cut short, and the facts kept of each."""
    rolled: tuple[Checkpoint, ...]
    """Older checkpoints the new one takes the place of."""
    excess: int
    """Tokens by which the older checkpoints are too many: the window was larger once."""
    sizes: Sizes
    outcomes: tuple[Outcome, ...]
    elided_before: int
    elided_after: int
    expected: int
    """Tokens of the whole prompt afterwards, at most."""


def own_messages_fill(material: Material) -> bool:
    """Whether the user's own words leave too little room for anything else."""
    return material.own_tokens >= material.room.limit * OWN_SHARE


def make_plan(material: Material, wanted: CompressionRequest) -> Plan | CompressionSkipped:
    """The gentlest plan that makes enough room, or else the one that makes most."""
    if not _is_due(material, wanted):
        return nothing_to_do("there is room enough")
    # By hand only what is older than the recent part, unless there is no room.
    needed = wanted.trigger != "manual" or material.conversation >= material.room.trigger
    elisions = Elisions(material.counter)
    plans: list[Plan] = []
    for choice in _choices(material, wanted):
        if plan := _plan(material, wanted, choice, elisions):
            plans.append(plan)
        if not needed or (plan and _makes_room(material, plan)):
            break
    best = min(plans, key=lambda plan: plan.expected, default=None)
    if wanted.trigger == "overflow":
        best = _within_limit(best, material.room.limit)
        if best is None and wanted.own == "fold-if-full":
            return make_plan(material, wanted._replace(own="fold"))
    if best is None:
        over = material.budget.over_limit or material.budget.needs_compression
        return cannot_fit(material) if over and needed else nothing_to_do("nothing to compress")
    return best


def _within_limit(plan: Plan | None, limit: int) -> Plan | None:
    """A plan after which the prompt can be sent, if need be with a shorter checkpoint."""
    if plan is None or plan.expected <= limit:
        return plan
    new = plan.sizes.new - (plan.expected - limit)
    if not plan.fold or new < LEAST_TOKENS:
        return None
    return plan._replace(sizes=plan.sizes._replace(new=new), expected=limit)


def _makes_room(material: Material, plan: Plan) -> bool:
    """Whether the context is then below the trigger: one that is less gentle is not needed."""
    left = material.conversation - (material.budget.used - plan.expected)
    return left < material.room.trigger and plan.expected <= material.room.limit


def nothing_to_do(message: str) -> CompressionSkipped:
    """Why nothing is done."""
    return CompressionSkipped(
        reason="nothing-to-do",
        message=message,
        hint="the recent part, your own messages and pins are never compressed",
    )


def cannot_fit(material: Material) -> CompressionSkipped:
    """What is left to the user."""
    own = material.own_tokens * 100 // max(1, material.budget.used)
    share = f"; your own messages are {own} % of the context"
    return CompressionSkipped(
        reason="cannot-fit",
        message=f"nothing is left to compress{share if own >= TOLD_PERCENT else ''}",
        hint="leave out or fold something (F5), take a larger window, or begin a new session",
    )


def _is_due(material: Material, wanted: CompressionRequest) -> bool:
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
    excerpts: Sequence[Message] = ()
    """Of the output of these an excerpt is enough: otherwise nobody could read it at all."""


def _choices(material: Material, wanted: CompressionRequest) -> Iterator[_Choice]:
    """From the gentlest on: the recent part is whole turns, as long as that makes room."""
    messages = material.messages
    if wanted.above is not None:
        place = next((n for n, m in enumerate(messages) if m.id == wanted.above), 0)
        yield _Choice(messages[: material.batch_start(place)])
        return
    recent = _recent_start(material)
    yield _Choice(messages[:recent])
    last = material.turns[-1] if material.turns else len(messages)
    if last > recent:
        yield _Choice(messages[:last])
    # In the turn itself the last tool output is what the model is about to read.
    calls = [n for n, m in enumerate(messages) if m.role == "assistant" and m.tool_calls]
    if not calls or calls[-1] < last:
        return
    yield _Choice(messages[:last], calls[-1])
    if wanted.trigger == "overflow":
        outputs = [message for message in messages[calls[-1] :] if message.role == "tool"]
        yield _Choice(messages[:last], calls[-1], outputs)


def _recent_start(material: Material) -> int:
    """Where the recent part begins: whole turns, with as many tokens as stay at least."""
    messages, end, tokens = material.messages, len(material.messages), 0
    for start in reversed(material.turns):
        tokens += material.total(messages[start:end])
        end = start
        if tokens >= material.room.recent:
            break
    return end


def _plan(
    material: Material, wanted: CompressionRequest, choice: _Choice, elisions: Elisions
) -> Plan | None:
    fold = list[Message]()
    if not _is_eliding_enough(material, wanted, choice, elisions):
        fold = _folded(material, wanted, choice)
    elide = _elidable(material, choice, elisions, {message.id for message in fold})
    plan = _written(material, wanted, fold, elide, elisions)
    saves = _saved(material, elide, elisions) + plan.excess
    is_worth = fold or saves >= WORTH_TOKENS
    return plan if is_worth and not _is_again(material, plan) else None


def _is_again(material: Material, plan: Plan) -> bool:
    """Whether nothing was said since the last compression, and the same is asked for again, or
    hardly anything is to be gained: counts change with everything that is measured."""
    wanted, done = plan.wanted, material.metadata.compression_history[-1:]
    if wanted.trigger != "manual" or not done or done[0].last != material.assembly.leaf:
        return False
    if done[0].after != material.metadata.compressed:
        return False
    asked = (done[0].trigger, done[0].strategy, done[0].above)
    is_same = asked == ("manual", wanted.strategy, wanted.above) and wanted.own != "fold"
    freed = material.budget.used - plan.expected
    return is_same or freed < material.budget.used * WORTH_AGAIN_SHARE


def _is_eliding_enough(
    material: Material, wanted: CompressionRequest, choice: _Choice, elisions: Elisions
) -> bool:
    """Whether nothing has to be folded: then no model is asked."""
    if wanted.strategy != "hybrid" or wanted.trigger == "manual":
        return False
    saved = _saved(material, _elidable(material, choice, elisions), elisions)
    return material.conversation - saved <= material.room.trigger * GOAL_SHARE


def _folded(material: Material, wanted: CompressionRequest, choice: _Choice) -> list[Message]:
    """What becomes part of a checkpoint."""
    fold = list(_foldable(material, choice.older))
    if wanted.own == "fold" or (wanted.own == "fold-if-full" and own_messages_fill(material)):
        fold = _with_own(material, choice.older, fold)
    if wanted.strategy == "truncate" and wanted.trigger != "manual":
        excess = material.conversation - material.room.trigger * GOAL_SHARE
        fold = _oldest(material, fold, excess)
    return fold if material.total(fold) >= WORTH_TOKENS else []


def _written(
    material: Material,
    wanted: CompressionRequest,
    fold: Sequence[Message],
    elide: Sequence[tuple[Message, str]],
    elisions: Elisions,
) -> Plan:
    older = material.assembly.shortening.checkpoints
    rolled = older if wanted.strategy == "summarize" and fold else ()
    rolled_tokens = sum(checkpoint.current_tokens for checkpoint in rolled)
    sizes = Sizes.of(material.room.checkpoint_cap, material.total(fold) + rolled_tokens)
    before = sum(material.costs[message.id] for message, _ in elide)
    after = sum(elisions.cost(message, facts) for message, facts in elide)
    new = sizes.new if fold else 0
    allowed = max(material.room.checkpoint_cap, LEAST_CAP)
    excess = max(0, material.budget.parts.checkpoints - rolled_tokens - allowed)
    kept = {message.id: facts for message, facts in elide}
    folded = {message.id for message in fold}
    freed = material.total(fold) + rolled_tokens + excess + before
    return Plan(
        wanted=wanted,
        fold=tuple(fold),
        elide=kept,
        rolled=rolled,
        excess=excess,
        sizes=sizes,
        outcomes=(
            *outcomes_of_messages(material, folded, kept, elisions),
            *outcomes_of_checkpoints(material, rolled, sizes),
        ),
        elided_before=before,
        elided_after=after,
        expected=material.budget.used - freed + new + after,
    )


def _foldable(material: Material, older: Sequence[Message]) -> Iterator[Message]:
    """Replies and what tools said; the user's own words and what is pinned stay."""
    for message in older:
        if message.role != "user" and material.is_sent(message) and not material.is_pinned(message):
            yield message


def _with_own(material: Material, older: Sequence[Message], fold: list[Message]) -> list[Message]:
    """The oldest messages of the user too, until theirs take a quarter of the limit; never the
    last one."""
    excess = material.own_tokens - material.room.limit * OWN_GOAL_SHARE
    chosen = {message.id for message in fold}
    last = material.messages[material.turns[-1]] if material.turns else None
    for message in older:
        if excess <= 0:
            break
        is_own = message.role == "user" and message is not last and material.is_sent(message)
        if is_own and not material.is_pinned(message):
            chosen.add(message.id)
            excess -= material.costs[message.id]
    return [message for message in older if message.id in chosen]


def _oldest(material: Material, fold: list[Message], excess: float) -> list[Message]:
    """As many of the oldest as are needed; calls go with their results."""
    chosen: list[Message] = []
    for message in fold:
        if excess <= 0 and material.begins_batch(message):
            break
        chosen.append(message)
        excess -= material.costs[message.id]
    return chosen


def _elidable(
    material: Material, choice: _Choice, elisions: Elisions, fold: Container[str] = ()
) -> list[tuple[Message, str]]:
    """Messages with data that would be shorter without it, each once, and what stays of it."""
    found: dict[str, tuple[Message, str]] = {}
    excerpt = int(material.room.limit * EXCERPT_SHARE) // max(1, len(choice.excerpts))
    for message in (*choice.older, *material.messages[: choice.data_until], *choice.excerpts):
        if message.id in found or message.id in fold or not _may_be_cut(material, message):
            continue
        is_unread = message in choice.excerpts
        facts = elisions.excerpt(message, excerpt) if is_unread else elisions.facts(message)
        if elisions.shortens(message, facts):
            found[message.id] = (message, facts)
    return list(found.values())


def _may_be_cut(material: Material, message: Message) -> bool:
    return (
        has_data(message)
        and material.is_sent(message)
        and not material.is_pinned(message)
        and message.id not in material.assembly.shortening.elided
        and message.id not in material.assembly.marks.folded
    )


def _saved(material: Material, elide: Sequence[tuple[Message, str]], elisions: Elisions) -> int:
    return sum(material.costs[m.id] - elisions.cost(m, facts) for m, facts in elide)
