"""Invariants of a compressed context, checked before every compression is applied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from ollm_tui.core.intake import clean
from ollm_tui.core.provider import PromptMessage
from ollm_tui.core.session.compression import Checkpoint
from ollm_tui.core.session.message import Message, ToolCallPart, ToolResultPart
from ollm_tui.engine.compression.fold.checkpoints import LEAST_CAP
from ollm_tui.engine.compression.summary.summary_syntax import sanitised
from ollm_tui.engine.context.context_view import ContextView

FAR_OFF = 1.25
"""A count of the checkpoints that exceeds their estimate by this factor is not believed."""


def violations(
    before: ContextView,
    after: ContextView,
    folded: Collection[str],
    new: Sequence[Checkpoint],
) -> list[str]:
    """Return everything that is wrong with a compressed context; empty if it may be used.

    `folded` are the messages that were meant to become part of a checkpoint, `new` the
    checkpoints that were made for it.
    """
    found = [
        *_system_prompt(before, after),
        *_size(before, after),
        *_order(before, after),
        *_kept(before, after, frozenset(folded)),
    ]
    for checkpoint in new:
        found += _summary(checkpoint)
    return found


def order_violations(prompt: Sequence[PromptMessage]) -> Iterator[str]:
    """Yield what a provider would refuse: roles out of turn, empty messages, unanswered calls."""
    last, open_calls = "system", set[str]()
    known: set[str] = set()
    # Results of one batch may follow one another; any other role needs all calls answered.
    for place, message in enumerate(prompt):
        says = message.text.strip() or message.images or message.tool_calls
        if not says and message.role != "tool":
            yield f"a message of {message.role} is empty"
        if message.role == "tool":
            if message.tool_call_id not in open_calls:
                yield f"result {message.tool_call_id} answers no call before it"
            open_calls.discard(message.tool_call_id or "")
        elif open_calls:
            yield f"calls {sorted(open_calls)} are not answered"
            open_calls.clear()
        if message.role == "system" and place:
            yield "a system message is not the first"
        if message.role == last and message.role in ("user", "assistant"):
            yield f"two {last} messages follow one another"
        if message.role == "assistant" and last == "system":
            yield "a reply comes before any question"
        for call in message.tool_calls:
            if call.call_id in known:
                yield f"call {call.call_id} is there twice"
            known.add(call.call_id)
            open_calls.add(call.call_id)
        last = message.role
    if open_calls:
        yield f"calls {sorted(open_calls)} are not answered"


def _order(before: ContextView, after: ContextView) -> Iterator[str]:
    """Yield violations of the order that were not there before.

    Old ones are no reason to keep a context that is too long: some servers give the calls of
    every answer the same ids.
    """
    known = set(order_violations(before.prompt.assembly.prompt))
    for wrong in order_violations(after.prompt.assembly.prompt):
        if wrong not in known:
            yield wrong


def _system_prompt(before: ContextView, after: ContextView) -> Iterator[str]:
    if _system(before) != _system(after):
        yield "the system prompt is another one"


def _system(view: ContextView) -> PromptMessage | None:
    prompt = view.prompt.assembly.prompt
    return prompt[0] if prompt and prompt[0].role == "system" else None


def _size(before: ContextView, after: ContextView) -> Iterator[str]:
    if after.count.tokens >= before.count.tokens:
        yield f"{after.count.tokens:,} tokens are not fewer than {before.count.tokens:,}"
    room = after.budget.room
    # The plan allows LEAST_CAP too: with less, nothing could be compressed in a tiny window.
    cap = max(room.checkpoint_cap, LEAST_CAP) if room else None
    if cap is not None and (taken := checkpoint_tokens(after)) > cap:
        yield f"checkpoints take {taken:,} of {cap:,}"


def checkpoint_tokens(view: ContextView) -> int:
    """Return the tokens of all checkpoints in a prompt.

    A server that counts only whole prompts attributes every earlier error of estimation to the
    parts that are new. Where the count is far off, the estimate of the checkpoints is better.
    """
    made = view.prompt.assembly.shortening.checkpoints
    counted, estimated = view.budget.parts.checkpoints, sum(each.current_tokens for each in made)
    return counted if counted <= estimated * FAR_OFF else estimated


def _kept(before: ContextView, after: ContextView, folded: frozenset[str]) -> Iterator[str]:
    """Yield messages that were sent, should not fold, and are no longer sent in full.

    Texts have to be sent verbatim, calls and results by their ids.
    """
    sent_before, sent_after = _sent(before), _sent(after)
    for message in before.prompt.messages:
        earlier, now = sent_before.get(message.id), sent_after.get(message.id, _Sent())
        if earlier is None or message.id in folded:
            continue
        if message.role == "user" and message.id not in sent_after:
            yield f"your message {message.id} is no longer sent"
        elif message.text and earlier.tells(message.text) and not now.tells(message.text):
            yield f"message {message.id} is not as it was"
        if (earlier.calls & _calls_in(message)) - now.calls:
            yield f"calls or results of message {message.id} are no longer sent"
    last = next((m for m in reversed(before.prompt.messages) if m.role == "user"), None)
    if last and last.id in folded:
        yield "your last message was folded"
    for key in before.prompt.assembly.marks.pinned & folded:
        yield f"the pinned message {key} was folded"


class _Sent:
    """What of one message is in the prompt. Messages may be merged, so texts may hold more."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: set[str] = set()
        """The ids of calls made and of calls answered."""

    def tells(self, words: str) -> bool:
        """Whether the prompt has these words verbatim."""
        return any(words in text for text in self.texts)


def _sent(view: ContextView) -> dict[str, _Sent]:
    found: defaultdict[str, _Sent] = defaultdict(_Sent)
    for piece, owners in view.prompt.pieces():
        message = piece.message
        for owner in owners:
            found[owner.key].texts.append(message.text)
            found[owner.key].calls.update(call.call_id for call in message.tool_calls)
            if message.tool_call_id:
                found[owner.key].calls.add(message.tool_call_id)
    return dict(found)


def _calls_in(message: Message) -> set[str]:
    parts = (part for part in message.parts if isinstance(part, ToolCallPart | ToolResultPart))
    return {part.call_id for part in parts}


def _summary(checkpoint: Checkpoint) -> Iterator[str]:
    if checkpoint.trusted:
        yield "a summary must not be trusted"
    # What the user wrote into a summary is the user's to say.
    if not checkpoint.edited and sanitised(checkpoint.summary) != checkpoint.summary:
        yield "a summary carries what looks like instructions or calls"
    for text in (checkpoint.summary, checkpoint.facts):
        if clean(text) != text:
            yield "a checkpoint carries control characters"
