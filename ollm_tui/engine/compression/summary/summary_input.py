"""What a summariser reads: messages as lines of a transcript, cut down until they fit.

The largest are cut first, to their beginning and end; small ones stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, assert_never

from ollm_tui.core.session.message import (
    Approval,
    Attachment,
    Message,
    Reasoning,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from ollm_tui.engine.compression.summary.summary_syntax import without_template_tokens

Count = Callable[[str], int]
"""The tokens of a text, estimated; asked from another thread."""

FEWEST_TOKENS = 24
"""Less of a message than this says nothing: then some are left out, so that others can speak."""
MOST_CHARACTERS_PER_TOKEN = 20
"""No text has more, but for long runs of blanks."""
ARGUMENTS_CHARACTERS = 200
CUT = " [… cut …] "

_ROLE_AT_LINE_START = re.compile(r"^([ \t]*)(?=(?:user|assistant|system|tool)\b)", re.M | re.I)


def transcript(messages: Sequence[Message]) -> list[str]:
    """One text a message, in their order; empty where there is nothing to tell.

    Results stand with the call they answer. Reasoning is left out: it was for that one answer.
    """
    calls = {call.call_id: call for message in messages for call in message.tool_calls}
    answered = {
        part.call_id
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    return ["\n".join(_lines(message, calls, answered)) for message in messages]


def fitted(texts: Sequence[str], room: int, count: Count) -> list[str]:
    """The texts in no more than so many tokens, with one more for the end of each."""
    entries = [_Entry(text, count(text) + 1) for text in _bounded(texts, room)]
    chosen = _with_gap(entries, room, count)
    level = _level([entry.tokens for entry in chosen], room)
    cut = (shortened(entry.text, min(entry.tokens, level) - 1, count) for entry in chosen)
    return [text for text in cut if text]


def may_fit(texts: Sequence[str], room: int) -> bool:
    """Whether texts are short enough to be worth counting for so many tokens."""
    return sum(map(len, texts)) <= room * MOST_CHARACTERS_PER_TOKEN


def shortened(text: str, most: int, count: Count) -> str:
    """The beginning and the end of a text in so many tokens; all of it if it fits."""
    tokens, most = count(text), max(most, 0)
    if tokens <= most:
        return text
    kept = len(text) * most // tokens
    while kept > 0:
        cut = _ends(text, kept)
        if (tokens := count(cut)) <= most:
            return cut
        kept = min(kept * 9 // 10, kept * most // tokens)
    return ""


class _Entry(NamedTuple):
    text: str
    tokens: int


def _lines(
    message: Message, calls: Mapping[str, ToolCallPart], answered: set[str]
) -> Iterator[str]:
    for part in message.parts:
        match part:
            case Text():
                yield from _line(message.role, part.text)
            case Attachment() if part.media_type.startswith("image/"):
                yield f"{message.role} showed the image {_plain(part.name)}"
            case Attachment():
                yield from _line(f"{message.role} attached {_plain(part.name)}", part.content)
            case Retrieval():
                yield from _line("from an earlier conversation", part.text)
            case ToolCallPart() if part.call_id not in answered:
                yield f"tool {_called(part.name, part)} → no result"
            case ToolResultPart():
                failed = " failed" if part.is_error else ""
                called = _called(part.name, calls.get(part.call_id))
                yield f"tool {called}{failed} → {_plain(part.content).strip()}"
            case ToolCallPart() | Reasoning() | Approval() | UnknownPart():
                pass
            case _:
                assert_never(part)


def _line(who: str, text: str) -> Iterator[str]:
    if text.strip():
        yield f"{who}: {_plain(text).strip()}"


def _called(name: str, call: ToolCallPart | None) -> str:
    args = {} if call is None else call.args
    told = ", ".join(f"{key}={_value(value)}" for key, value in args.items())
    return f"{_plain(name)}({_plain(told)})"


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = " ".join(text.split())
    return line if len(line) <= ARGUMENTS_CHARACTERS else _ends(line, ARGUMENTS_CHARACTERS)


def _plain(text: str) -> str:
    """Foreign text that can neither end the prompt nor pretend that somebody else speaks."""
    return _ROLE_AT_LINE_START.sub(r"\1· ", without_template_tokens(text))


def _bounded(texts: Sequence[str], room: int) -> list[str]:
    """The texts without what surely has no room, so that nobody has to count that."""
    level = _level([len(text) for text in texts], room * MOST_CHARACTERS_PER_TOKEN)
    most = max(level, FEWEST_TOKENS * MOST_CHARACTERS_PER_TOKEN)
    return [text if len(text) <= most else _ends(text, most) for text in texts if text]


def _ends(text: str, kept: int) -> str:
    """The end of a text often says how it went out, but the beginning what it was about."""
    tail = kept // 3
    return f"{text[: kept - tail].rstrip()}{CUT}{text[len(text) - tail :].lstrip()}"


def _with_gap(entries: list[_Entry], room: int, count: Count) -> list[_Entry]:
    """Entries of which each can keep a few words: the others, in the middle, are left out."""
    least = [min(entry.tokens, FEWEST_TOKENS) for entry in entries]
    if sum(least) <= room:
        return entries
    gap = _Entry(f"[… {len(entries):,} messages left out …]", 0)
    gap = gap._replace(tokens=count(gap.text) + 1)
    last = _reach(least[::-1], (room - gap.tokens) * 2 // 3)
    newest = sum(least[len(least) - last :])
    first = _reach(least[: len(least) - last], room - gap.tokens - newest)
    left_out = len(entries) - first - last
    gap = gap._replace(text=f"[… {left_out:,} messages left out …]")
    return [*entries[:first], gap, *entries[len(entries) - last :]]


def _reach(sizes: Sequence[int], room: int) -> int:
    """How many of the first fit."""
    for place, size in enumerate(sizes):
        room -= size
        if room < 0:
            return place
    return len(sizes)


def _level(sizes: Sequence[int], room: int) -> int:
    """The most that each may have so that all fit: small ones leave more to the others."""
    left = room
    for done, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - done)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)
