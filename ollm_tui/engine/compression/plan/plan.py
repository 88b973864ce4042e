"""The plan of a compression: which messages stay, fold or are cut short, and what that saves."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from ollm_tui.core.compression_events import CompressionSkipped, Outcome
from ollm_tui.core.session.compression import Checkpoint
from ollm_tui.core.session.message import Attachment, Message, Retrieval, ToolResultPart
from ollm_tui.core.session.session import next_number
from ollm_tui.engine.compression.fold.checkpoints import (
    LEAST_CAP,
    LEAST_TOKENS,
    Sizes,
    level_at_age,
)
from ollm_tui.engine.compression.ledger.ledger import ledger_of, rendered
from ollm_tui.engine.compression.plan.material import CompressionRequest, Material
from ollm_tui.engine.compression.summary.summary_input import shortened
from ollm_tui.engine.context.context_view import cost_of, one_line, title_of
from ollm_tui.engine.context.prompt_message import Said, said_by
from ollm_tui.services.tokens.counter import TokenCounter

FACTS_TOKENS = 80
"""Tokens that the facts kept of one message's data may have."""

WORTH_CHARACTERS = 40
"""Data is cut short only if the message loses at least so many characters."""
IMAGE_CHARACTERS = 1000
"""Characters that an image is taken to be worth when lengths are compared."""

Data = ToolResultPart | Attachment | Retrieval
"""The parts of a message that may be cut short."""


class Elisions:
    """What would be left of the data of messages and what that costs, worked out once each."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._facts: dict[str, str] = {}
        self._costs: dict[tuple[str, str], int] = {}

    def facts(self, message: Message) -> str:
        """Return the facts that are kept of the old data of a message."""
        if message.id not in self._facts:
            self._facts[message.id] = facts_of(message)
        return self._facts[message.id]

    def excerpt(self, message: Message, most_tokens: int) -> str:
        """Return the beginning and end of data that the model has not read yet."""
        contents = [_as_output(part).content for part in message.parts if isinstance(part, Data)]
        return shortened("\n".join(contents), most_tokens, self._counter.text_tokens)

    def shortens(self, message: Message, facts: str) -> bool:
        """Whether a message becomes enough shorter with only these facts left of its data.

        Characters are compared, not tokens: what is known of a message's tokens changes with
        every count, and the answer has to be the same every time.
        """
        return _size(said_by(message)) - _size(said_by(message, None, facts)) >= WORTH_CHARACTERS

    def cost(self, message: Message, facts: str) -> int:
        """Return the tokens of a message with only these facts left of its data."""
        key = (message.id, facts)
        if key not in self._costs:
            self._costs[key] = cost_of(self._counter, message, None, facts)
        return self._costs[key]


def has_data(message: Message) -> bool:
    """Whether something in a message may be cut short."""
    return any(isinstance(part, Data) for part in message.parts)


def facts_of(message: Message) -> str:
    """Return the facts in the data of a message; always the same for the same message."""
    data = tuple(_as_output(part) for part in message.parts if isinstance(part, Data))
    ledger = ledger_of([Message(message.id, "tool", data, message.timestamp)])
    # Not the counter of the model: the facts must not depend on what it has measured so far.
    return rendered(ledger, FACTS_TOKENS, lambda text: len(text) // 3)


def _size(said: Said) -> int:
    results = sum(len(result.text) for result in said.results)
    return len(said.text) + results + len(said.images) * IMAGE_CHARACTERS


def _as_output(part: Data) -> ToolResultPart:
    """Return a part as tool output, so that facts are read from all data in the same way."""
    match part:
        case ToolResultPart():
            return part
        case Retrieval():
            return ToolResultPart(call_id="", name="", content=part.text)
        case Attachment():
            is_image = part.media_type.startswith("image/")
            return ToolResultPart(call_id="", name="", content="" if is_image else part.content)


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
        return nothing_to_do("there is room enough")
    # Asked for by hand, the recent part is only touched if there is no room otherwise.
    needed = request.trigger != "manual" or material.conversation >= material.room.trigger
    elisions = Elisions(material.counter)
    plans: list[Plan] = []
    for choice in _choices(material, request):
        if plan := _plan(material, request, choice, elisions):
            plans.append(plan)
        if not needed or (plan and _makes_room(material, plan)):
            break
    best = min(plans, key=lambda plan: plan.expected, default=None)
    if request.trigger == "overflow":
        best = _within_limit(best, material.room.limit)
        if best is None and request.own == "fold-if-full":
            return make_plan(material, request._replace(own="fold"))
    if best is None:
        over = material.budget.over_limit or material.budget.needs_compression
        return cannot_fit(material) if over and needed else nothing_to_do("nothing to compress")
    return best


def _within_limit(plan: Plan | None, limit: int) -> Plan | None:
    """Return the plan if the prompt then fits, if need be with a shorter checkpoint; else None."""
    if plan is None or plan.expected <= limit:
        return plan
    new = plan.sizes.new - (plan.expected - limit)
    if not plan.fold or new < LEAST_TOKENS:
        return None
    return plan._replace(sizes=plan.sizes._replace(new=new), expected=limit)


def _makes_room(material: Material, plan: Plan) -> bool:
    """Whether a plan brings the context below the trigger, so that no harsher one is needed."""
    left = material.conversation - (material.budget.used - plan.expected)
    return left < material.room.trigger and plan.expected <= material.room.limit


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
    share = f"; your own messages are {own} % of the context"
    return CompressionSkipped(
        reason="cannot-fit",
        message=f"nothing is left to compress{share if own >= TOLD_PERCENT else ''}",
        hint="leave out or fold something (F5), take a larger window, or begin a new session",
    )


def _is_due(material: Material, request: CompressionRequest) -> bool:
    match request.trigger:
        case "auto":
            return material.budget.needs_compression
        case "overflow":
            return material.budget.over_limit
        case "manual":
            return True


class _Choice(NamedTuple):
    """The messages that a plan may change."""

    older: Sequence[Message]
    """Messages that may be folded, and whose data may be cut short."""
    data_until: int = 0
    """The index before which data may be cut short even if the message is not in `older`."""
    excerpts: Sequence[Message] = ()
    """Messages of which an excerpt is kept: in full the model could not read them at all."""


def _choices(material: Material, request: CompressionRequest) -> Iterator[_Choice]:
    """Yield what may be changed, the gentlest choice first: it leaves the most recent turns."""
    messages = material.messages
    if request.above is not None:
        place = next((n for n, m in enumerate(messages) if m.id == request.above), 0)
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
    if request.trigger == "overflow":
        outputs = [message for message in messages[calls[-1] :] if message.role == "tool"]
        yield _Choice(messages[:last], calls[-1], outputs)


def _recent_start(material: Material) -> int:
    """Return the index at which the recent part begins: enough whole turns, from the newest on."""
    messages, end, tokens = material.messages, len(material.messages), 0
    for start in reversed(material.turns):
        tokens += material.total(messages[start:end])
        end = start
        if tokens >= material.room.recent:
            break
    return end


def _plan(
    material: Material, request: CompressionRequest, choice: _Choice, elisions: Elisions
) -> Plan | None:
    fold = list[Message]()
    if not _is_eliding_enough(material, request, choice, elisions):
        fold = _folded(material, request, choice)
    elide = _elidable(material, choice, elisions, {message.id for message in fold})
    plan = _written(material, request, fold, elide, elisions)
    saves = _saved(material, elide, elisions) + plan.excess
    is_worth = fold or saves >= WORTH_TOKENS
    return plan if is_worth and not _is_again(material, plan) else None


def _is_again(material: Material, plan: Plan) -> bool:
    """Whether a compression by hand would only repeat the last one.

    Nothing was said since, and the same is asked for or hardly anything would be freed. Counts
    change with every measurement, so something can always be freed on paper.
    """
    request, done = plan.wanted, material.metadata.compression_history[-1:]
    if request.trigger != "manual" or not done or done[0].last != material.assembly.leaf:
        return False
    # An undo or a restore changed the context since: then it is no repetition.
    if done[0].after != material.metadata.compressed:
        return False
    asked = (done[0].trigger, done[0].strategy, done[0].above)
    is_same = asked == ("manual", request.strategy, request.above) and request.own != "fold"
    freed = material.budget.used - plan.expected
    return is_same or freed < material.budget.used * WORTH_AGAIN_SHARE


def _is_eliding_enough(
    material: Material, request: CompressionRequest, choice: _Choice, elisions: Elisions
) -> bool:
    """Whether cutting data short makes enough room: then nothing is folded and no model asked."""
    if request.strategy != "hybrid" or request.trigger == "manual":
        return False
    saved = _saved(material, _elidable(material, choice, elisions), elisions)
    return material.conversation - saved <= material.room.trigger * GOAL_SHARE


def _folded(material: Material, request: CompressionRequest, choice: _Choice) -> list[Message]:
    """Return the messages that become part of the new checkpoint."""
    fold = list(_foldable(material, choice.older))
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
    rolled = older if request.strategy == "summarize" and fold else ()
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
        expected=material.budget.used - freed + new + after,
    )


def _foldable(material: Material, older: Sequence[Message]) -> Iterator[Message]:
    """Yield the replies and tool results that may fold: never pinned ones or the user's own."""
    for message in older:
        if message.role != "user" and material.is_sent(message) and not material.is_pinned(message):
            yield message


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
    return [message for message in older if message.id in chosen]


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
    material: Material, choice: _Choice, elisions: Elisions, fold: Container[str] = ()
) -> list[tuple[Message, str]]:
    """Return the messages whose data is worth cutting short, each with what is kept of it."""
    found: dict[str, tuple[Message, str]] = {}
    # All excerpts together have EXCERPT_SHARE of the limit.
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
