"""What a search must find, worked out the slow way: by reading every session file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionDamaged, SessionNotFound
from ollm_tui.core.search import Query, Term, Where
from ollm_tui.core.session.message import (
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.session.session import Session, ToolCall
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.storage.sessions.session_store import SessionStore

Found = tuple[str, str, bool]
"""Session, message, and whether it is on the session's branch."""

_TOKEN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_\u3040-\u30ff\u4e00-\u9fff]+")
_CUT = re.compile(r"\[… .* …\]")
"""A mark of the program where something was cut away: nobody's words."""


class Item(NamedTuple):
    """A message, or a tool call that no message speaks of."""

    id: str
    role: Role
    timestamp: str
    model: str | None
    has_tool: bool
    on_branch: bool
    texts: list[str]
    """What was said, what was thought, and what went to and came from tools."""


def scan(store: SessionStore, query: Query, where: Where) -> dict[Found, str]:
    """Every message and every call that fits a query, with what it says: copies say the same."""
    found: dict[Found, str] = {}
    for name in store.directory.fingerprints():
        try:
            state = store.load(name).state
        except (SessionDamaged, SessionNotFound):
            continue
        for item in items(state):
            if (
                _passes(query, state.header, item)
                and all(_has(item.texts, term, where) for term in query.terms)
                and not any(_lacks(item.texts, term) for term in query.without)
            ):
                said = "\0".join((item.role, *item.texts)) if any(item.texts) else item.id
                found[name, item.id, item.on_branch] = said
    return found


def items(state: SessionState) -> Iterator[Item]:
    """Everything in a session that can be found."""
    branch = {message.id for message in state.branch()} if state.header.head else set[str]()
    messages = list(state.messages())
    calls: dict[str, list[ToolCall]] = {}
    names = {message.id for message in messages}
    apart: list[Item] = []
    for place, call in enumerate(state.tool_calls):
        answers = [
            message.id for message in messages for part in message.parts if _answers(part, call)
        ]
        if answers:
            before = sum(_is_alike(call, other) for other in state.tool_calls[:place])
            calls.setdefault(answers[min(before, len(answers) - 1)], []).append(call)
            continue
        number = 1
        while (name := call.id if number == 1 else f"{call.id}~{number}") in names:
            number += 1
        names.add(name)
        apart.append(Item(name, "tool", call.timestamp, None, True, True, _run(call)))
    for message in messages:
        tools = any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts)
        said = _texts(message, calls.get(message.id, []))
        on_branch = message.id in branch
        yield Item(
            message.id, message.role, message.timestamp, message.model, tools, on_branch, said
        )
    yield from apart


def _answers(part: Part, call: ToolCall) -> bool:
    given = (call.id, call.result.llm_content)
    return isinstance(part, ToolResultPart) and (part.call_id, part.content) == given


def _is_alike(one: ToolCall, other: ToolCall) -> bool:
    return (one.id, one.result.llm_content) == (other.id, other.result.llm_content)


def _run(call: ToolCall) -> list[str]:
    """What the user ran is said; what anybody else had run went to a tool."""
    mine = call.name == "exec" and call.id.startswith("job-")
    said = f"! {call.args['code']}" if mine else ""
    asked = [] if mine else [call.name, *(str(each) for pair in call.args.items() for each in pair)]
    return [said, "", "\n".join(filter(None, [*asked, *_output(call)]))]


def _output(call: ToolCall) -> list[str]:
    """The whole output, and what the model was given where that is not the whole with a mark."""
    given, whole = call.result.llm_content, call.result.return_display
    if whole is None:
        return [given]
    pieces = _CUT.split(given)
    if len(pieces) == 2:
        first, last = pieces[0].rstrip(), pieces[1].lstrip()
        if whole.startswith(first) and whole.endswith(last):
            return [whole]
    return [given, whole]


def _texts(message: Message, calls: list[ToolCall]) -> list[str]:
    said = [part.text for part in message.parts if isinstance(part, Text)]
    thought = [part.text for part in message.parts if isinstance(part, Reasoning)]
    tools: list[str] = []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            tools += [part.name, *(str(each) for pair in part.args.items() for each in pair)]
        elif isinstance(part, ToolResultPart):
            outputs = [text for call in calls if _answers(part, call) for text in _output(call)]
            tools += dict.fromkeys(outputs) or [part.content]
    return ["\n".join(filter(None, each)) for each in (said, thought, tools)]


def _has(texts: list[str], term: Term, where: Where) -> bool:
    among = any(_among_words(text, term) for text in texts)
    literally = any(_contains(text, term) for text in texts)
    if where == "anywhere" and term.may_stand_inside and literally:
        return True
    return among and (literally or not term.is_literal)


def _lacks(texts: list[str], term: Term) -> bool:
    """Whether a text has what it must not have: as words, or literally where it has no word."""
    return any(_among_words(text, term) for text in texts)


def _among_words(text: str, term: Term) -> bool:
    wanted = _tokens(term.text)
    if not wanted:
        return _contains(text, term)
    ends = term.whole or not term.text[-1].isalnum()
    words = _tokens(text)
    return any(
        words[at : at + len(wanted) - 1] == wanted[:-1]
        and len(words) >= at + len(wanted)
        and (last := words[at + len(wanted) - 1]).startswith(wanted[-1])
        and (not ends or last == wanted[-1])
        for at in range(len(words))
    )


def _contains(text: str, term: Term) -> bool:
    return _ascii_lower(term.text) in _ascii_lower(text)


def _ascii_lower(text: str) -> str:
    return re.sub("[A-Z]+", lambda match: match[0].lower(), text)


def _tokens(text: str) -> list[str]:
    plain = unicodedata.normalize("NFD", text.lower())
    return _TOKEN.findall("".join(each for each in plain if not unicodedata.combining(each)))


def _passes(query: Query, session: Session, item: Item) -> bool:
    at = clock.parse(item.timestamp)
    pinned = session.pinned or item.id in session.metadata.pins
    model = (item.model or session.model).lower()
    return (
        (not query.roles or item.role in query.roles)
        and (not query.models or any(name.lower() in model for name in query.models))
        and (query.after is None or at >= query.after)
        and (query.before is None or at < query.before)
        and query.has_tool in (None, item.has_tool)
        and query.pinned in (None, pinned)
        and query.on_branch in (None, item.on_branch)
    )
