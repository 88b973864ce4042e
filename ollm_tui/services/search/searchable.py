"""What of a session can be found: its messages, its tool calls, and what narrows a search."""

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
)
from ollm_tui.core.session.session import ToolCall
from ollm_tui.core.session.session_state import SessionState, recorded_calls
from ollm_tui.storage.search.message_rows import IndexedMessage, IndexedSession
from ollm_tui.storage.sessions.directory import Fingerprint

END_CHARACTERS = 64_000
"""So much of the beginning of an output is searched, and of its end."""
_MARK = re.compile(r"\s*\[… [^\n]* …\]\s*")
"""The line that stands for what was cut away."""


def searched_output(given: str, whole: str | None = None) -> list[str]:
    """The texts to be found. What the model was given is usually the whole output without its
    middle: then it is there already. Other programs have another text for the eye."""
    if whole is None:
        return [_ends(given)]
    if _is_cut(given, whole):
        return [_ends(whole)]
    return [_ends(given), _ends(whole)]


def _is_cut(given: str, whole: str) -> bool:
    """Whether nothing but a mark stands between what is the beginning and the end of the whole."""
    if "[… " not in given:
        return False
    begins = _alike(given, whole)
    ends = min(_alike(given[::-1], whole[::-1]), len(given) - begins)
    return _MARK.fullmatch(given, begins, len(given) - ends) is not None


def _alike(one: str, other: str) -> int:
    """How many characters are the same before the first that is not; found by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _ends(text: str) -> str:
    """All of it, or the beginning and the end, without words that would be cut."""
    if len(text) <= 2 * END_CHARACTERS:
        return text
    first = text[:END_CHARACTERS].rsplit(None, 1)[0]
    last = text[-END_CHARACTERS:].split(None, 1)[-1]
    return f"{first}\n…\n{last}"


def searchable(state: SessionState, marks: Fingerprint) -> IndexedSession:
    """A session as it is found."""
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
    """A session that cannot be read has nothing to find until its files change."""
    return IndexedSession(session_id, "", None, "", False, False, marks, ())


def _message(
    message: Message,
    on_branch: bool,
    pinned: bool,
    model: str,
    calls: Iterable[ToolCall] | None,
) -> IndexedMessage:
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
                pass  # what was brought in from elsewhere is found there
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
    )


def _call(name: str, call: ToolCall) -> IndexedMessage:
    """A tool call that no message speaks of: what was run, and what came of it. The stream of
    every branch shows the commands of the user."""
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
    """What a tool answered; what was cut away for the model is in the record of the call."""
    texts: list[str] = []
    for call in calls:
        if (call.id, call.result.llm_content) == (part.call_id, part.content):
            texts += searched_output(part.content, call.result.return_display)
    return list(dict.fromkeys(texts)) or [part.content]


def _add_leaves(value: Any, words: list[str]) -> None:
    """The words of arguments: in JSON their line ends and quotes would be spelled out."""
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
    """One text. Plain text needs no filter: what is shown of it passes one again."""
    text = "\n".join(filter(None, texts)) if len(texts) > 1 else texts[0]
    if not text.isascii() or "\x1b" in text or "\0" in text:
        text = clean(text)
    return text


def _microseconds(timestamp: str) -> int:
    try:
        return round(clock.parse(timestamp).timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return 0
