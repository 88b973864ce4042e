"""Makes the rows of the search index from a session: its messages and tool calls as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from ollm_tui.core import clock
from ollm_tui.core.intake import clean
from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Reasoning,
    Text,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from ollm_tui.core.session.session import ToolCall
from ollm_tui.core.session.session_state import SessionState, recorded_calls
from ollm_tui.storage.search.message_rows import NOT_TOLD, IndexedMessage, IndexedSession
from ollm_tui.storage.sessions.directory import Fingerprint

END_CHARACTERS = 64_000
"""Characters of the beginning of a tool's output that are indexed, and of its end."""
_MARK = re.compile(
    r"\s*(?:\[\d+ of \d+ [^\n]*\]\s*)?\[… [^\n]* …\](?:\n(?s:.*)\n\[… [^\n]* …\])?\s*"
)
"""The lines that mark what was cut out of an output, and what is left between them."""


def searchable(state: SessionState, marks: Fingerprint) -> IndexedSession:
    """Return a session as the index holds it; `marks` tell whether its files change later."""
    header = state.header
    model = header.model
    branch = {message.id for message in state.branch()} if header.head else set[str]()
    pins = frozenset(header.metadata.pins)
    calls = recorded_calls(state)
    messages = (
        _message(
            message, message.id in branch, message.id in pins, model, calls.answered.get(message.id)
        )
        for message in state.messages()
    )
    return IndexedSession(
        header.session_id,
        clean(header.title),
        header.project and clean(header.project),
        clean(header.model),
        header.pinned,
        header.archived,
        marks,
        (*messages, *(_call(name, call) for name, call in calls.apart.items())),
    )


def damaged(session_id: str, marks: Fingerprint) -> IndexedSession:
    """Return an empty entry for a session that cannot be read.

    So it is not read again before its files change.
    """
    return IndexedSession(session_id, "", None, "", False, False, marks, ())


def _message(
    message: Message,
    on_branch: bool,
    pinned: bool,
    model: str,
    calls: Iterable[ToolCall] | None,
) -> IndexedMessage:
    """Return a message as the index holds it: its text, what goes with it, and its tools."""
    said: list[str] = []
    aside: list[str] = []
    tools: list[str] = []
    for part in message.parts:
        match part:
            case Text():
                said.append(part.text)
            case Reasoning():
                aside.append(part.text)
            case Attachment():
                aside.append(part.name)
                if part.media_type.startswith("text/"):
                    aside.append(part.content)
            case ToolCallPart():
                tools.append(part.name)
                _add_leaves(part.args, tools)
                tools.append(part.raw_arguments or "")
            case ToolResultPart():
                tools += _answer(part, calls) if calls else (part.content,)
            case _:
                pass  # text recalled from another session is found there
    return IndexedMessage(
        message.id,
        message.role,
        _microseconds(message.timestamp),
        clean(message.model) if message.model and message.model != model else "",
        on_branch,
        bool(tools),
        pinned,
        message.usage.total_tokens if message.usage else 0,
        _joined(said) if said else "",
        _joined(aside) if aside else "",
        _joined(tools) if tools else "",
        False,
        *_paid(message.usage),
    )


def _paid(usage: Usage | None) -> tuple[int, float]:
    """Return what came from the server's cache, and the cost; NOT_TOLD where that is unknown."""
    if usage is None:
        return NOT_TOLD, 0.0
    cached = NOT_TOLD if usage.cached_tokens is None else usage.cached_tokens
    if usage.cost is None:
        return cached, 0.0
    return cached, usage.cost if isinstance(usage.cost, float) else NOT_TOLD


def _call(name: str, call: ToolCall) -> IndexedMessage:
    """Return a tool call that belongs to no message, such as a command of the user.

    Such calls are shown in every branch, so they count as on the current one.
    """
    tools: list[str] = []
    if not call.is_command:
        tools.append(call.name)
        _add_leaves(call.args, tools)
    tools += searched_output(call.result.llm_content, call.result.return_display)
    return IndexedMessage(
        name,
        "tool",
        _microseconds(call.timestamp),
        "",
        on_branch=True,
        has_tool=True,
        pinned=False,
        tokens=0,
        said=_joined([call.command]) if call.is_command else "",
        aside="",
        tools=_joined(tools),
        is_call=True,
    )


def _answer(part: ToolResultPart, calls: Iterable[ToolCall]) -> list[str]:
    """Return the texts of a tool's result, with what was cut out of it for the model.

    The whole output is in the record of the call.
    """
    texts: list[str] = []
    for call in calls:
        if (call.id, call.result.llm_content) == (part.call_id, part.content):
            texts += searched_output(part.content, call.result.return_display)
    return list(dict.fromkeys(texts)) or [part.content]


def searched_output(given: str, whole: str | None = None) -> list[str]:
    """Return the texts to index of a tool's output: `given` to the model, and the `whole` one.

    Usually `given` is the whole output without its middle: then the whole one is enough. In
    sessions of other programs the two may be different texts.
    """
    if whole is None:
        return [_ends(given)]
    if _is_cut(given, whole):
        return [_ends(whole)]
    return [_ends(given), _ends(whole)]


def _is_cut(given: str, whole: str) -> bool:
    """Return whether `given` is the whole output with a mark in place of its middle."""
    if "[… " not in given:
        return False
    begins = _alike(given, whole)
    ends = min(_alike(given[::-1], whole[::-1]), len(given) - begins)
    return _MARK.fullmatch(given, begins, len(given) - ends) is not None


def _alike(one: str, other: str) -> int:
    """Return the length of the common beginning, found by bisection."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _ends(text: str) -> str:
    """Return a text, or of a long one its beginning and end, without words that are cut."""
    if len(text) <= 2 * END_CHARACTERS:
        return text
    first = text[:END_CHARACTERS].rsplit(None, 1)[0]
    last = text[-END_CHARACTERS:].split(None, 1)[-1]
    return f"{first}\n…\n{last}"


def _add_leaves(value: Any, words: list[str]) -> None:
    """Add keys and values of arguments to `words`.

    Not as JSON: there line ends and quotes are escaped, and would not be found.
    """
    if isinstance(value, str):
        words.append(value)
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            words.append(key)
            _add_leaves(inner, words)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            _add_leaves(inner, words)
    elif value is not None and not isinstance(value, bool):
        words.append(str(value))


def _joined(texts: list[str]) -> str:
    """Join texts into one, cleaned if needed."""
    # Cleaning is slow. ASCII without these two controls is indexed as it is: snippets are cleaned
    # again before they are shown.
    text = "\n".join(filter(None, texts)) if len(texts) > 1 else texts[0]
    if not text.isascii() or "\x1b" in text or "\0" in text:
        text = clean(text)
    return text


def _microseconds(timestamp: str) -> int:
    """Return a time as microseconds since the epoch; 0 if it cannot be parsed."""
    try:
        return round(clock.parse(timestamp).timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return 0
