"""Looks for the source of every entry of a ledger in the messages themselves, kind by kind.

Written from the specification: nothing of the program that makes ledgers is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ollm_tui.core.session.compression import GAP, Fact, Ledger
from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
)

_ABOUTS = re.compile(r"done|failed|exit (-?\d+)")


def unfounded(ledger: Ledger, shown: str, messages: Sequence[Message]) -> Iterator[str]:
    """Yield the entries that are not literally in the messages, or not in the text as shown."""
    places = {message.id: place for place, message in enumerate(messages)}
    for fact in ledger.facts:
        place = places.get(fact.source)
        message = None if place is None else messages[place]
        if message is None:
            yield f"{fact.kind} from no message: {fact.text[:200]}"
        elif wrong := _wrong(fact, message, _calls_before(messages[:place])):
            yield f"{fact.kind} of {message.id} {wrong}: {fact.text[:200]}"
        if fact.text not in shown:
            yield f"{fact.kind} is not shown: {fact.text[:200]}"


def _calls_before(messages: Sequence[Message]) -> dict[str, ToolCallPart]:
    """Return the calls of the last reply: only they can be answered by what follows it."""
    for message in reversed(messages):
        if message.tool_calls:
            return {call.call_id: call for call in message.tool_calls}
    return {}


def _wrong(fact: Fact, message: Message, calls: Mapping[str, ToolCallPart]) -> str:
    results = [part for part in message.parts if isinstance(part, ToolResultPart)]
    answered = [calls[part.call_id] for part in results if part.call_id in calls]
    match fact.kind:
        case "user":
            if message.role != "user" and not any(part.trusted for part in results):
                return "is not the user's"
            return _missing(fact.text, _texts(message))
        case "said":
            return (
                "is not the model's"
                if message.role != "assistant"
                else _missing(fact.text, _texts(message))
            )
        case "changed" | "read" | "command":
            if fact.kind == "command" and (wrong := _wrong_end(fact, results)):
                return wrong
            given = "\n".join(value for call in answered for _, value in _given(call.args))
            attached = [p for p in message.parts if isinstance(p, Attachment)]
            named = "\n".join(f"{part.name}\n{part.path or ''}" for part in attached)
            return _missing(fact.text, f"{given}\n{named}")
        case "failed":
            return _missing(fact.text, f"{_texts(message)}\n{message.error or ''}")
        case "decided" | "open" | "note":
            return "is of no message"
        case _:
            return _missing(fact.text, f"{_texts(message)}\n{_arguments(message)}")


def _wrong_end(fact: Fact, results: Sequence[ToolResultPart]) -> str:
    """Return what is wrong with how a command is said to have ended; empty if nothing is."""
    ended = _ABOUTS.fullmatch(fact.about)
    if ended is None:
        return f"ended with {fact.about!r}"
    if ended[1]:
        return "" if any(ended[1] in part.content for part in results) else "has another exit code"
    if (fact.about == "failed") != any(part.is_error for part in results):
        return f"did not end as {fact.about}"
    return ""


def _missing(quote: str, source: str) -> str:
    """Return that a piece of a quote is not in its source; empty if all are there, in order."""
    plain, at = _plain(source), 0
    for piece in quote.split(GAP.strip()):
        words = _plain(piece)
        at = plain.find(words, at)
        if at < 0:
            return "is not what was said"
        at += len(words)
    return ""


def _plain(text: str) -> str:
    """Return a text as it stands in a quote: on one line."""
    return " ".join(text.split())


def _texts(message: Message) -> str:
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Text() | Retrieval():
                texts.append(part.text)
            case ToolResultPart() | Attachment():
                texts.append(part.content)
            case _:
                pass
    return "\n".join(texts)


def _arguments(message: Message) -> str:
    given = [pair for call in message.tool_calls for pair in _given(call.args)]
    return "\n".join(f"{key}: {value}" for key, value in given)


def _given(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield everything that is given under a name, however deep."""
    for key, value in args.items():
        values = cast(list[object], value) if isinstance(value, list) else [value]
        if isinstance(value, list):
            yield key, " ".join(map(str, values))
        for each in values:
            if isinstance(each, dict):
                yield from _given(cast(dict[str, Any], each))
            else:
                yield key, str(each)
