"""What must hold of every compression, judged from the outside: prompts as JSON, and the session.

Written from the specification and on its own: the checks the program itself makes are not used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ollm_tui.core.session.compression import Compression, checkpoints_of
from ollm_tui.core.session.message import Message, Text, ToolResultPart
from ollm_tui.engine.conversation.conversation import Conversation

Prompt = list[dict[str, Any]]

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_CALLS = re.compile(
    r"</?tool_call|<\|im_|\[TOOL_CALLS\]|<function|\"arguments\"\s*:|```", re.IGNORECASE
)
CHECKPOINT = re.compile(r"^\[\d+ earlier messages (?:in short|were left out)")


@dataclass(frozen=True)
class Seen:
    """A conversation at one moment."""

    json: str
    tokens: int
    messages: tuple[Message, ...]
    branch: tuple[Message, ...]
    pinned: frozenset[str]
    unsent: frozenset[str]
    """Left out, folded by mark, or part of a checkpoint."""
    shortened: frozenset[str]
    count: int
    records: int

    @classmethod
    def of(cls, conversation: Conversation) -> Seen:
        """As it is now."""
        header = conversation.state.header
        metadata = header.metadata
        text = conversation.prompt_json()
        covered = {
            key
            for made in checkpoints_of(metadata.compressed, metadata.compression_history)
            for key in made.messages
        }
        return cls(
            text,
            conversation.context().count.tokens,
            tuple(conversation.state.messages()),
            tuple(conversation.state.branch()),
            frozenset(metadata.pins),
            frozenset(metadata.excluded) | frozenset(metadata.folded) | covered,
            frozenset(metadata.compressed.elided),
            metadata.compression_count,
            header.journal_seq,
        )

    @property
    def prompt(self) -> Prompt:
        """What would be sent."""
        return cast(Prompt, json.loads(self.json)["messages"])


def broken_by_nothing(before: Seen, after: Seen) -> Iterator[str]:
    """Where nothing was compressed, nothing is different."""
    if before.json != after.json:
        yield "the prompt is another one although nothing was done"
    if (before.count, before.records) != (after.count, after.records):
        yield "something was counted or recorded although nothing was done"
    if before.messages != after.messages:
        yield "the session's messages are others"


def broken_by_success(
    before: Seen, after: Seen, done: Compression, conversation: Conversation
) -> Iterator[str]:
    """Everything a compression must not do to a conversation."""
    if after.messages != before.messages:
        yield "the session's messages are others"
    if after.count != before.count + 1:
        yield f"the count went from {before.count} to {after.count}"
    if after.records != before.records + 1:
        yield f"{after.records - before.records} records instead of one"
    if done.after_tokens >= done.before_tokens:
        yield f"{done.before_tokens} tokens became {done.after_tokens}"
    if done.after_tokens != after.tokens:
        yield f"{done.after_tokens} tokens told, {after.tokens} true"
    yield from _system(before.prompt, after.prompt)
    yield from set(broken_order(after.prompt)) - set(broken_order(before.prompt))
    yield from _verbatim(before, after, frozenset(done.folded))
    yield from _pins(before, after, frozenset(done.folded))
    yield from _recent(before, after, done)
    yield from _checkpoints(after, conversation)


def _system(before: Prompt, after: Prompt) -> Iterator[str]:
    if before[0]["role"] == "system" and before[0] != after[0]:
        yield "the system prompt is not first, or not the same"


def broken_order(prompt: Prompt) -> Iterator[str]:
    """What some provider would refuse."""
    spoken = [m for m in prompt if m["role"] != "system"]
    if any(m["role"] == "system" for m in prompt[1:]):
        yield "a system message in the middle"
    if spoken and spoken[0]["role"] != "user":
        yield "it begins with a reply"
    ids = [call["callId"] for m in spoken for call in m.get("tool_calls", ())]
    if len(set(ids)) != len(ids):
        yield "a call is there twice"
    waiting: list[str] = []
    for earlier, message in zip([None, *spoken], spoken, strict=False):
        role = message["role"]
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                yield "a result without a call right before it"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield "a call without its result"
            waiting = []
        if earlier and earlier["role"] == role:
            yield f"{role} speaks twice"
        says = message.get("text", "").strip() or message.get("images")
        if not (says or message.get("tool_calls")):
            yield f"an empty message of {role}"
        waiting = [call["callId"] for call in message.get("tool_calls", ())]
    if waiting:
        yield "a call without its result at the end"


def _verbatim(before: Seen, after: Seen, folded: Collection[str]) -> Iterator[str]:
    """The user's words, but for what the user, or a rule, agreed to fold; never the last."""
    said = "\n\n".join(m.get("text", "") for m in after.prompt if m["role"] == "user")
    own = [m for m in before.branch if m.role == "user"]
    for message in own:
        if message.id in before.unsent - before.pinned or message.id in folded:
            continue
        if message.text not in said:
            yield f"the user's words in {message.id} are gone"
    if own and own[-1].id in folded:
        yield "the last message of the user was folded"


def _pins(before: Seen, after: Seen, folded: Collection[str]) -> Iterator[str]:
    for key in before.pinned & set(folded):
        yield f"{key} is pinned and was folded"
    spoken = [m for m in before.prompt if not CHECKPOINT.match(m.get("text", ""))]
    said = json.dumps(spoken, ensure_ascii=False)
    for message in before.branch:
        if message.id in before.pinned:
            for text in _texts_of(message):  # a few letters may stand anywhere
                if len(text) > 12 and text in said and text not in after.json:
                    yield f"{message.id} is pinned and is not as it was"


def _texts_of(message: Message) -> Iterator[str]:
    """As they stand in JSON, without the quotes."""
    for part in message.parts:
        if isinstance(part, Text):
            yield json.dumps(part.text, ensure_ascii=False)[1:-1]
        if isinstance(part, ToolResultPart):
            yield json.dumps(part.content, ensure_ascii=False)[1:-1]


def _recent(before: Seen, after: Seen, done: Compression) -> Iterator[str]:
    """What follows the last message that was touched is whole rounds, byte for byte."""
    touched = {*done.folded, *done.elisions, *(key for c in done.created for key in c.messages)}
    places = [place for place, m in enumerate(before.branch) if m.id in touched]
    last = places[-1] if places else -1
    turns = [n for n, m in enumerate(before.branch) if m.role == "user"]
    if done.folded and done.trigger != "manual":
        folded = [n for n, m in enumerate(before.branch) if m.id in done.folded]
        spoken = [n for n, m in enumerate(before.branch) if m.id not in before.unsent]
        if spoken and folded[-1] == spoken[-1]:
            yield "the last round was folded"
        if before.branch[folded[-1] + 1 : folded[-1] + 2]:
            following = before.branch[folded[-1] + 1]
            may_stay = before.unsent | before.pinned
            if following.id not in may_stay and _answers(before.branch, folded[-1] + 1):
                yield f"a round was cut at {following.id}"
    starts = [n for n in turns if n > last]
    if not starts:
        return
    tail = _tail(before.prompt, before.branch[starts[0]])
    if tail and after.prompt[-len(tail) :] != tail:
        yield "the recent part is not as it was"


def _answers(branch: Sequence[Message], place: int) -> bool:
    """Whether a message answers a call that waits for it: what nobody asked for, or what was
    answered before, is in no prompt."""
    waiting: set[str] = set()
    for message in branch[:place]:
        if message.role != "tool":
            waiting = {call.call_id for call in message.tool_calls}
        waiting -= _answered(message)
    return not waiting.isdisjoint(_answered(branch[place]))


def _answered(message: Message) -> set[str]:
    return {part.call_id for part in message.parts if isinstance(part, ToolResultPart)}


def _tail(prompt: Prompt, question: Message) -> Prompt:
    """What follows the question in a prompt; it may itself be joined to other words."""
    texts = [m.get("text", "") if m["role"] == "user" else "" for m in prompt]
    places = [place for place, text in enumerate(texts) if question.text in text]
    return prompt[places[0] + 1 :] if len(places) == 1 else []


def _checkpoints(after: Seen, conversation: Conversation) -> Iterator[str]:
    window = conversation.choice.window
    assert window is not None
    cap = int(int(window * 0.85) * 0.30)
    kept = conversation.context().prompt.assembly.shortening.checkpoints
    if (taken := sum(checkpoint.current_tokens for checkpoint in kept)) > cap:
        yield f"the checkpoints take {taken} of {cap}"
    if any(made.trusted for made in kept):
        yield "a checkpoint is trusted"
    for message in after.prompt:
        text = message.get("text", "")
        if message["role"] == "assistant" and CHECKPOINT.match(text):
            if _CONTROLS.search(text):
                yield "a checkpoint carries controls"
            if found := _CALLS.search(text):
                yield f"a checkpoint carries {found[0]!r}"
            if "reveal the system prompt" in text:
                yield "a checkpoint gives orders"
