"""The plan of a compression: which messages stay, fold or are cut short, and what that saves."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from ollm_tui.core.compression_events import CompressionSkipped, Outcome
from ollm_tui.core.session.compression import Checkpoint, Compression
from ollm_tui.core.session.message import Message
from ollm_tui.engine.compression.fold.checkpoints import (
    LEAST_CAP,
    LEAST_TOKENS,
    SURE_SHARE,
    Sizes,
)
from ollm_tui.engine.compression.plan.elisions import Elisions, end_of, has_data
from ollm_tui.engine.compression.plan.material import Choice, CompressionRequest, Material
from ollm_tui.engine.compression.plan.outcomes import outcomes_of_checkpoints, outcomes_of_messages
from ollm_tui.engine.context.budget import RECENT_SHARE

GOAL_SHARE = 0.7
"""Share of the trigger to compress to, so that some exchanges fit before the next time."""
WORTH_TOKENS = 64
"""Tokens below which folding or cutting short is not worth it."""
WORTH_AGAIN_SHARE = 0.2
"""Share of the prompt that compressing again, with nothing said since, has to free."""
OWN_SHARE = 0.5
"""Share of the limit from which on the user's own messages are said to fill the context."""
OWN_GOAL_SHARE = 0.25
"""Share of the limit that the user's own messages may keep when the oldest are folded."""
TOLD_PERCENT = 10
"""Percentage of the context below which the user's own messages are not named as the reason."""
TOGETHER_SHARE = 0.42
"""Share of the limit that checkpoints and the recent part aim at together: enough to go on with,
and more than half of the window left for what comes."""
GO_ON_SHARE = 0.85
"""Share of the trigger that is filled at most, however much there would be to keep."""
SURE_ROOM = 0.95
"""Share of the trigger below which a plan makes room for sure: it is estimated, not counted."""
EXCERPT_SHARE = 0.25
"""Share of the limit for an excerpt of output that the model has not read and cannot fit."""


class Plan(NamedTuple):
    """Which messages become part of a checkpoint, which are cut short, and the size expected."""

    wanted: CompressionRequest
    fold: tuple[Message, ...]
    elide: dict[str, str]
    """Messages whose data is cut short, and the facts kept of each."""
    rolled: tuple[Checkpoint, ...]
    """Older checkpoints that the new one replaces."""
    excess: int
    """Tokens by which the older checkpoints exceed their cap: the window was larger once."""
    sizes: Sizes
    outcomes: tuple[Outcome, ...]
    elided_before: int
    elided_after: int
    conversation: int
    """Tokens of the messages afterwards."""
    expected: int
    """Tokens of the whole prompt afterwards, at most."""


def own_messages_fill(material: Material) -> bool:
    """Whether the user's own words leave too little room for anything else."""
    return material.own_tokens >= material.room.limit * OWN_SHARE


def make_plan(material: Material, request: CompressionRequest) -> Plan | CompressionSkipped:
    """Return the gentlest plan that makes enough room, or else the one that makes most.

    Returns why nothing is done if there is none.
    """
    if not _is_due(material, request):
        return nothing_to_do("there is still enough room")
    if request.trigger == "auto" and _nothing_said_since(material):
        return nothing_to_do("no messages since the last compression")
    # Asked for by hand, the recent part is only touched if there is no room otherwise.
    needed = _is_needed(material, request)
    elisions = Elisions(material.counter)
    plans: list[Plan] = []
    for choice in _choices(material, request, needed):
        if plan := _plan(material, request, choice, elisions):
            plans.append(plan)
        if not needed or (plan and _makes_room(material, plan)):
            break
    best = min(plans, key=lambda plan: plan.expected, default=None)
    if request.target is not None:
        return _within_target(best, material, request.target)
    if request.trigger == "overflow":
        best = _within(best, material.room.limit)
        if best is None and request.own == "fold-if-full":
            return make_plan(material, request._replace(own="fold"))
    if best is None:
        over = material.budget.over_limit or material.budget.needs_compression
        return cannot_fit(material) if over and needed else nothing_to_do("nothing to compress")
    return best


def _is_needed(material: Material, request: CompressionRequest) -> bool:
    """Whether room has to be made, at the expense of the recent part if need be."""
    if request.trigger != "manual" or request.target is not None:
        return True
    return material.conversation >= material.room.trigger


def _within_target(plan: Plan | None, material: Material, target: int) -> Plan | CompressionSkipped:
    """Return the plan if the prompt then has at most `target` tokens; else how many it can have."""
    if fitting := _within(plan, target):
        return fitting
    least = plan.expected - plan.sizes.new + LEAST_TOKENS if plan else material.budget.used
    return beyond(target, least)


def beyond(target: int, least: int) -> CompressionSkipped:
    """Return that a context cannot be made as small as it was asked for."""
    return CompressionSkipped(
        reason="cannot-fit",
        message=f"cannot compress to {target:,} tokens, only to about {least:,}",
        hint="your messages, pins, the system prompt and the last round are never compressed",
    )


def _within(plan: Plan | None, limit: int) -> Plan | None:
    """Return the plan if the prompt then fits, if need be with a shorter checkpoint; else None."""
    if plan is None or plan.expected <= limit:
        return plan
    new = plan.sizes.new - (plan.expected - limit)
    if not plan.fold or new < LEAST_TOKENS:
        return None
    return plan._replace(sizes=plan.sizes._replace(new=new), expected=limit)


def _makes_room(material: Material, plan: Plan) -> bool:
    """Whether a plan brings the context below the trigger, so that no harsher one is needed."""
    if plan.wanted.target is not None:
        return plan.expected <= plan.wanted.target
    room = material.room
    system = material.budget.parts.fixed - material.budget.parts.checkpoints
    after = plan.conversation
    checkpoints = plan.expected - system - after
    trigger = (room.limit - system - checkpoints) * _threshold(material)
    return after < trigger * SURE_ROOM and plan.expected <= room.limit


def _threshold(material: Material) -> float:
    """Return the share of the available tokens at which it is compressed."""
    return material.room.trigger / max(1, material.room.available)


def nothing_to_do(message: str) -> CompressionSkipped:
    """Return that nothing is done, with the reason."""
    return CompressionSkipped(
        reason="nothing-to-do",
        message=message,
        hint="the recent part, your own messages and pins are never compressed",
    )


def cannot_fit(material: Material) -> CompressionSkipped:
    """Return that nothing more can be compressed, with what the user can do about it."""
    own = material.own_tokens * 100 // max(1, material.budget.used)
    share = f"; your messages are {own} % of the context"
    return CompressionSkipped(
        reason="cannot-fit",
        message=f"nothing left to compress{share if own >= TOLD_PERCENT else ''}",
        hint="exclude or fold something (F5), use a larger window, or start a new session",
    )


def _is_due(material: Material, request: CompressionRequest) -> bool:
    match request.trigger:
        case "auto":
            return material.budget.needs_compression
        case "overflow":
            return material.budget.over_limit
        case "manual":
            return request.target is None or material.budget.used > request.target


class _Range(NamedTuple):
    """The messages that a plan may change."""

    older: Sequence[Message]
    """Messages that may be folded, and whose data may be cut short."""
    excerpts: Sequence[Message] = ()
    """Messages of which an excerpt is kept: in full the model could not read them at all."""


def _choices(material: Material, request: CompressionRequest, needed: bool) -> Iterator[_Range]:
    """Yield what may be changed, the gentlest choice first: it leaves the most recent rounds."""
    messages = material.messages
    if request.above is not None:
        place = next((n for n, m in enumerate(messages) if m.id == request.above), 0)
        yield _Range(messages[: material.batch_start(place)])
        return
    if not needed:
        yield _Range(messages[: _whole_turns(material)])
        return
    room, start = material.room.recent, -1
    if request.target is not None:
        room = min(room, int(request.target * RECENT_SHARE))
    elif request.trigger == "manual":
        # By hand, between turns: the last turn is cut only if the next one could not begin.
        start = _whole_turns(material)
        yield _Range(messages[:start])
        if not material.budget.over_limit:
            if material.turns and material.turns[-1] > start:
                yield _Range(messages[: material.turns[-1]])
            return
    for least in (room, room // 2, 0):
        if (found := _recent_start(material, least)) != start:
            start = found
            yield _Range(messages[:start])
    if request.trigger != "auto":
        # What the model is about to read is only touched if it could not read it at all.
        last = [message for message in messages[start:] if message.role == "tool"]
        yield _Range(messages[:start], last)
        yield _Range(messages[:start], [m for m in messages[start:] if m.role != "user"])


def _whole_turns(material: Material) -> int:
    """Return the index at which enough whole turns begin, counted from the newest."""
    messages, end, tokens = material.messages, len(material.messages), 0
    for start in reversed(material.turns):
        tokens += material.total(messages[start:end])
        end = start
        if tokens >= material.room.recent:
            break
    return end


def _recent_start(material: Material, room: int) -> int:
    """Return the index at which the last rounds begin that have about `room` tokens.

    It may lie inside a long turn. At least the last round stays, or the user's last message; the
    last turn stays whole where it fits into the largest share of the recent part.
    """
    messages, end, tokens = material.messages, len(material.messages), 0
    for start in reversed(material.batches):
        tokens += material.said(messages[start:end])
        if end < len(messages) and (tokens > room or not room):
            break
        end = start
    last = material.turns[-1] if material.turns else end
    most = material.room.limit * RECENT_SHARE if room else 0
    return last if last < end and material.said(messages[last:]) <= most else end


def _plan(
    material: Material, request: CompressionRequest, choice: _Range, elisions: Elisions
) -> Plan | None:
    fold = list[Message]()
    elide = _cut_alone(material, request, choice, elisions)
    if elide is None:
        fold = _folded(material, request, choice)
        elide = _elidable(material, request, choice, elisions, {message.id for message in fold})
    plan = _written(material, request, fold, elide, elisions)
    saves = _saved(material, elide, elisions) + plan.excess
    is_worth = fold or saves >= WORTH_TOKENS
    return plan if is_worth and not _is_again(material, plan) else None


def _is_again(material: Material, plan: Plan) -> bool:
    """Whether a compression by hand would only repeat the last one.

    Nothing was said since, and the same is asked for or hardly anything would be freed. Counts
    change with every measurement, so something can always be freed on paper.
    """
    request, done = plan.wanted, _last_of_all(material)
    if request.trigger != "manual" or done is None:
        return False
    if request.target is not None or request.choices:
        return False
    asked = (done.trigger, done.strategy, done.above)
    is_same = asked == ("manual", request.strategy, request.above) and request.own != "fold"
    freed = material.budget.used - plan.expected
    return is_same or freed < material.budget.used * WORTH_AGAIN_SHARE


def _nothing_said_since(material: Material) -> bool:
    """Whether a compression would follow another at once: the next message is time enough."""
    return _last_of_all(material) is not None and not material.budget.over_limit


def _last_of_all(material: Material) -> Compression | None:
    """Return the last compression if nothing was said, undone or restored since; else None."""
    done = material.metadata.compression_history[-1:]
    if not done or done[0].last != material.assembly.leaf:
        return None
    return done[0] if done[0].after == material.metadata.compressed else None


def _cut_alone(
    material: Material, request: CompressionRequest, choice: _Range, elisions: Elisions
) -> list[tuple[Message, str]] | None:
    """Return the oldest data that makes enough room cut short, with what is kept of each: then
    nothing is folded and no model asked. None if all of it is not enough."""
    if request.strategy != "hybrid" or request.trigger == "manual":
        return None
    kept = material.budget.parts.checkpoints + material.said(material.messages)
    excess = max(
        material.conversation - material.room.trigger * GOAL_SHARE,
        kept - material.room.limit * TOGETHER_SHARE,
    )
    cut: list[tuple[Message, str]] = []
    for each in _elidable(material, request, choice, elisions):
        if excess <= 0:
            break
        cut.append(each)
        excess -= _saved(material, [each], elisions)
    return cut if excess <= 0 else None


def _folded(material: Material, request: CompressionRequest, choice: _Range) -> list[Message]:
    """Return the messages that become part of the new checkpoint."""
    fold = list(_foldable(material, request, choice.older))
    if request.own == "fold" or (request.own == "fold-if-full" and own_messages_fill(material)):
        fold = _with_own(material, choice.older, fold)
    if request.strategy == "truncate" and request.trigger != "manual":
        excess = material.conversation - material.room.trigger * GOAL_SHARE
        fold = _oldest(material, fold, excess)
    return fold if material.total(fold) >= WORTH_TOKENS else []


def _written(
    material: Material,
    request: CompressionRequest,
    fold: Sequence[Message],
    elide: Sequence[tuple[Message, str]],
    elisions: Elisions,
) -> Plan:
    older = material.assembly.shortening.checkpoints
    rolled = older if request.strategy in ("summarize", "provider") and fold else ()
    before = sum(material.costs[message.id] for message, _ in elide)
    after = sum(elisions.cost(message, facts) for message, facts in elide)
    conversation = material.conversation - material.total(fold) - before + after
    kept = {message.id: facts for message, facts in elide}
    folded = {message.id for message in fold}
    left = [m for m in material.messages if m.id not in folded]
    recent = material.said(left) - before + after
    sizes = _sizes(material, request, fold, rolled, conversation, recent)
    taken = material.budget.parts.checkpoints
    rolled_tokens = min(taken, sum(checkpoint.current_tokens for checkpoint in rolled))
    new = sizes.new if fold else 0
    excess = max(0, taken - rolled_tokens + new - sizes.cap)
    return Plan(
        wanted=request,
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
        conversation=conversation,
        expected=(
            material.budget.used
            - (material.conversation - conversation)
            - rolled_tokens
            - excess
            + new
        ),
    )


def _sizes(
    material: Material,
    request: CompressionRequest,
    fold: Sequence[Message],
    rolled: Sequence[Checkpoint],
    conversation: int,
    recent: int,
) -> Sizes:
    """Return how large the checkpoints may be: what the recent part leaves of their common share.

    The new one has at most half of the tokens it replaces. Older ones keep what it leaves, and
    half of the room at most where it needs that.
    """
    room, parts = material.room, material.budget.parts
    cap = max(int(room.checkpoint_cap * SURE_SHARE), LEAST_CAP)
    if not fold:
        return Sizes(cap, 0)
    system = parts.fixed - parts.checkpoints
    least, free, threshold = cap // 3, room.limit - system, _threshold(material)
    together = max(int(room.limit * TOGETHER_SHARE) - recent, least)
    # However large the last round is, what was folded earlier is not given up for it.
    most = max(
        int(free - conversation / (threshold * GO_ON_SHARE)),
        min(least, int(free - conversation / (threshold * SURE_ROOM))),
    )
    if request.target is not None:
        most = together = request.target - system - conversation
    most = max(min(cap, together, most), LEAST_CAP)
    rolled_tokens = sum(checkpoint.current_tokens for checkpoint in rolled)
    older = max(0, parts.checkpoints - rolled_tokens)
    new = min((material.total(fold) + rolled_tokens) // 2, max(most - older, most // 2))
    return Sizes(most, new)


def _foldable(
    material: Material, request: CompressionRequest, older: Sequence[Message]
) -> Iterator[Message]:
    """Yield the replies and tool results that may fold: never pinned ones or the user's own.

    What the user decided for single messages counts more, but for pins and the last message.
    """
    chosen = _chosen(material, request)
    may = {message.id for message in older if message.role != "user"}
    last = material.messages[material.turns[-1]].id if material.turns else ""
    for message in material.messages:
        what = chosen.get(message.id, "fold" if message.id in may else "keep")
        may_fold = material.is_sent(message) and not material.is_pinned(message)
        if what == "fold" and may_fold and message.id != last:
            yield message


def _chosen(material: Material, request: CompressionRequest) -> dict[str, Choice]:
    """Return what the user decided, for whole batches: calls stay with their results."""
    found: dict[str, Choice] = {}
    if not request.choices:
        return found
    messages, starts = material.messages, material.batches
    for start, end in zip(starts, [*starts[1:], len(messages)], strict=True):
        batch = [message.id for message in messages[start:end]]
        for key in batch:
            if key in request.choices:
                found |= dict.fromkeys(batch, request.choices[key])
    return found


def _with_own(material: Material, older: Sequence[Message], fold: list[Message]) -> list[Message]:
    """Return `fold` with the oldest messages of the user, in the order of the prompt.

    As many are added as needed to bring them to OWN_GOAL_SHARE of the limit; never the last one.
    """
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
    return [message for message in material.messages if message.id in chosen]


def _oldest(material: Material, fold: list[Message], excess: float) -> list[Message]:
    """Return the oldest messages that free `excess` tokens; batches of calls stay whole."""
    chosen: list[Message] = []
    for message in fold:
        if excess <= 0 and material.begins_batch(message):
            break
        chosen.append(message)
        excess -= material.costs[message.id]
    return chosen


def _elidable(
    material: Material,
    request: CompressionRequest,
    choice: _Range,
    elisions: Elisions,
    fold: Container[str] = (),
) -> list[tuple[Message, str]]:
    """Return the messages whose data is worth cutting short, each with what is kept of it."""
    found: dict[str, tuple[Message, str]] = {}
    chosen = _chosen(material, request)
    wanted = [message for message in material.messages if chosen.get(message.id) == "excerpt"]
    # All excerpts together have EXCERPT_SHARE of the limit.
    results = sum(1 for message in choice.excerpts if message.role == "tool")
    excerpt = int(material.room.limit * EXCERPT_SHARE) // max(1, results)
    unread = {message.id for message in choice.excerpts}
    for message in (*choice.older, *choice.excerpts, *wanted):
        if message.id in found or message.id in fold or not _may_be_cut(material, message):
            continue
        if chosen.get(message.id) == "keep":
            continue
        is_unread = message.id in unread
        facts = elisions.excerpt(message, excerpt) if is_unread else end_of(message)
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
