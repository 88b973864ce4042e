"""The ledger of folded messages: facts that survive whatever a summary leaves out.

Made without a model and without I/O, and the same for the same messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from ollm_tui.core.session.ledger import Fact, Ledger
from ollm_tui.core.session.message import Attachment, Message, Text, ToolCallPart, ToolResultPart
from ollm_tui.core.session.session import ToolCall
from ollm_tui.engine.compression.ledger.facts_prose import NAME_LIMIT, facts_said
from ollm_tui.engine.compression.ledger.facts_text import one_line
from ollm_tui.engine.compression.ledger.facts_tools import facts_answered, facts_called
from ollm_tui.engine.compression.ledger.ledger_merging import settled
from ollm_tui.engine.compression.ledger.ledger_notes import with_best_notes
from ollm_tui.engine.compression.ledger.ledger_rendering import rendered

__all__ = ("KnownFacts", "ledger_of", "merged", "rendered")


class KnownFacts:
    """The facts of messages that were read before: a message never changes, so a preview and
    the next compression need not read it again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Message, tuple[Fact, ...]]] = {}

    def of(self, message: Message, args: dict[str, dict[str, Any]]) -> tuple[Fact, ...]:
        """The facts of a message; `args` are those of the calls that it may answer."""
        known = self._known.get(message.id)
        if known is None or known[0] is not message:
            known = self._known[message.id] = message, tuple(_of_message(message, args))
        return known[1]

    def forget_all_but(self, messages: Sequence[Message]) -> None:
        """Messages that are in a checkpoint are not read again."""
        kept = {message.id for message in messages}
        self._known = {key: known for key, known in self._known.items() if key in kept}


def ledger_of(
    messages: Sequence[Message],
    tool_calls: Sequence[ToolCall] = (),
    known: KnownFacts | None = None,
) -> Ledger:
    """The facts of messages and of the tool calls made between them.

    Give it the user's messages too, also those that stay in the prompt: what they change must
    not be shown as it was before. `Ledger.without_sources` leaves their own facts out.
    """
    known = known or KnownFacts()
    facts = list(_facts(messages, tool_calls, known))
    known.forget_all_but(messages)
    return Ledger(settled(with_best_notes(facts)))


def merged(older: Ledger, newer: Ledger) -> Ledger:
    """One ledger for two ranges: each fact once, done tasks closed, replaced values gone."""
    return replace(older, facts=settled((*older.facts, *newer.facts)))


def _facts(
    messages: Sequence[Message], tool_calls: Sequence[ToolCall], known: KnownFacts
) -> Iterator[Fact]:
    args = {call.call_id: call.args for message in messages for call in message.tool_calls}
    waiting = [call for call in tool_calls if call.id not in args]
    for message in messages:
        while waiting and waiting[0].timestamp < message.timestamp:
            yield from _of_tool_call(waiting.pop(0))
        yield from known.of(message, args)
    for call in waiting:
        yield from _of_tool_call(call)


def _of_message(message: Message, args: dict[str, dict[str, Any]]) -> Iterator[Fact]:
    if message.role == "system":
        return
    for part in message.parts:
        match part:
            case Text() if part.trusted and message.role != "tool":
                yield from facts_said(part.text, message.id, message.role == "user")
            case Text():
                yield from facts_answered("", {}, part.text, False, message.id)
            case ToolCallPart():
                yield from facts_called(part.name, part.args, message.id)
            case ToolResultPart():
                yield from facts_answered(
                    part.name, args.get(part.call_id, {}), part.content, part.is_error, message.id
                )
            case Attachment():
                name = one_line(part.path or part.name, NAME_LIMIT)
                yield Fact("file", name, source=message.id)
            case _:
                pass
    if message.error:
        yield Fact("error", one_line(message.error, NAME_LIMIT * 2), source=message.id)


def _of_tool_call(call: ToolCall) -> Iterator[Fact]:
    yield from facts_called(call.name, call.args, call.id)
    yield from facts_answered(call.name, call.args, call.result.llm_content, False, call.id)
