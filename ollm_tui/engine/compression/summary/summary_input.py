"""The transcript that a summariser reads: messages as lines, cut down until they fit.

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
    Opaque,
    Reasoning,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from ollm_tui.engine.compression.summary.summary_syntax import without_template_tokens

Count = Callable[[str], int]
"""Returns the estimated tokens of a text; called from another thread."""

FEWEST_TOKENS = 24
"""Tokens that a message keeps at least; if not all can, messages in the middle are left out."""
MOST_CHARACTERS_PER_TOKEN = 20
"""An upper bound for any text, except for long runs of blanks."""
ARGUMENTS_CHARACTERS = 200
"""Characters kept of each argument of a call."""
CUT = " [… cut …] "

_ROLE_AT_LINE_START = re.compile(r"^([ \t]*)(?=(?:user|assistant|system|tool)\b)", re.M | re.I)


def transcript(messages: Sequence[Message]) -> list[str]:
    """Return one text for each message, in their order; empty where there is nothing to tell.

    A result is told with its call. Reasoning is left out: it was for that one answer.
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
    """Return the texts cut down to `room` tokens, counting one more for the end of each."""
    entries = [_Entry(text, count(text) + 1) for text in _bounded(texts, room)]
    chosen = _with_gap(entries, room, count)
    level = _level([entry.tokens for entry in chosen], room)
    cut = (shortened(entry.text, min(entry.tokens, level) - 1, count) for entry in chosen)
    return [text for text in cut if text]


def may_fit(texts: Sequence[str], room: int) -> bool:
    """Whether texts are short enough that they might fit and counting them is worth it."""
    return sum(map(len, texts)) <= room * MOST_CHARACTERS_PER_TOKEN


def shortened(text: str, most: int, count: Count) -> str:
    """Return the beginning and end of a text in at most `most` tokens; all of it if it fits.

    Returns an empty text if not even the mark of the cut fits.
    """
    tokens, most = count(text), max(most, 0)
    if tokens <= most:
        return text
    kept = len(text) * most // tokens
    while kept > 0:
        cut = _ends(text, kept)
        if (tokens := count(cut)) <= most:
            return cut
        # By at least a tenth, so that few texts have to be counted.
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
            case ToolCallPart() | Reasoning() | Approval() | Opaque() | UnknownPart():
                pass
            case _:
                assert_never(part)


def _line(who: str, text: str) -> Iterator[str]:
    if text.strip():
        yield f"{who}: {_plain(text).strip()}"


def _called(name: str, call: ToolCallPart | None) -> str:
    args = {} if call is None else call.args
    given = ", ".join(f"{key}={_value(value)}" for key, value in args.items())
    return f"{_plain(name)}({_plain(given)})"


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = " ".join(text.split())
    return line if len(line) <= ARGUMENTS_CHARACTERS else _ends(line, ARGUMENTS_CHARACTERS)


def _plain(text: str) -> str:
    """Return foreign text that can neither end the prompt nor pretend to be another role."""
    return _ROLE_AT_LINE_START.sub(r"\1· ", without_template_tokens(text))


def _bounded(texts: Sequence[str], room: int) -> list[str]:
    """Return the texts cut by characters to what might fit: counting the rest takes too long."""
    level = _level([len(text) for text in texts], room * MOST_CHARACTERS_PER_TOKEN)
    most = max(level, FEWEST_TOKENS * MOST_CHARACTERS_PER_TOKEN)
    return [text if len(text) <= most else _ends(text, most) for text in texts if text]


def _ends(text: str, kept: int) -> str:
    """Return two thirds of `kept` characters from the beginning and one from the end."""
    # The beginning says what a text is about, and its end often how it went out.
    tail = kept // 3
    return f"{text[: kept - tail].rstrip()}{CUT}{text[len(text) - tail :].lstrip()}"


def _with_gap(entries: list[_Entry], room: int, count: Count) -> list[_Entry]:
    """Return the entries of which each can keep FEWEST_TOKENS; those in the middle are left out."""
    least = [min(entry.tokens, FEWEST_TOKENS) for entry in entries]
    if sum(least) <= room:
        return entries
    gap = _Entry(f"[… {len(entries):,} messages left out …]", 0)
    gap = gap._replace(tokens=count(gap.text) + 1)
    # The newest messages matter most and get two thirds of the room.
    last = _reach(least[::-1], (room - gap.tokens) * 2 // 3)
    newest = sum(least[len(least) - last :])
    first = _reach(least[: len(least) - last], room - gap.tokens - newest)
    left_out = len(entries) - first - last
    gap = gap._replace(text=f"[… {left_out:,} messages left out …]")
    return [*entries[:first], gap, *entries[len(entries) - last :]]


def _reach(sizes: Sequence[int], room: int) -> int:
    """Return how many of the first sizes fit into the room."""
    for place, size in enumerate(sizes):
        room -= size
        if room < 0:
            return place
    return len(sizes)


def _level(sizes: Sequence[int], room: int) -> int:
    """Return the most that each may have so that all fit; small ones leave more to the others."""
    left = room
    for done, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - done)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)
