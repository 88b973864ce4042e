"""What a search must find, worked out the slow way: by reading every session file."""

from __future__ import annotations

import re
import unicodedata

from ollm_tui.core import clock
from ollm_tui.core.errors import SessionDamaged, SessionNotFound
from ollm_tui.core.message import Message, Reasoning, Text, ToolCallPart, ToolResultPart
from ollm_tui.core.search import Query, Term, Where
from ollm_tui.core.session import Session
from ollm_tui.core.session_state import SessionState
from ollm_tui.storage.session_store import SessionStore

Found = tuple[str, str, bool]
"""Session, message, and whether it is on the session's branch."""

_TOKEN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_\u3040-\u30ff\u4e00-\u9fff]+")


def scan(store: SessionStore, query: Query, where: Where) -> set[Found]:
    """Every message that fits a query."""
    found: set[Found] = set()
    for name in store.directory.fingerprints():
        try:
            state = store.load(name).state
        except (SessionDamaged, SessionNotFound):
            continue
        branch = {message.id for message in state.branch()} if state.header.head else set[str]()
        for message in state.messages():
            on_branch = message.id in branch
            if _passes(query, state, message, on_branch) and all(
                _has(message, term, where) for term in query.terms
            ):
                found.add((name, message.id, on_branch))
    return found


def texts(message: Message) -> list[str]:
    """What was said, what was thought, and what went to and came from tools."""
    said = [part.text for part in message.parts if isinstance(part, Text)]
    thought = [part.text for part in message.parts if isinstance(part, Reasoning)]
    tools: list[str] = []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            tools += [part.name, *(str(each) for pair in part.args.items() for each in pair)]
        elif isinstance(part, ToolResultPart):
            tools.append(part.content)
    return ["\n".join(filter(None, each)) for each in (said, thought, tools)]


def _has(message: Message, term: Term, where: Where) -> bool:
    among = any(_among_words(text, term) for text in texts(message))
    literally = any(_contains(text, term) for text in texts(message))
    if where == "anywhere" and term.may_stand_inside and literally:
        return True
    return among and (literally or not term.is_literal)


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


def _passes(query: Query, state: SessionState, message: Message, on_branch: bool) -> bool:
    session: Session = state.header
    at = clock.parse(message.timestamp)
    tools = any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts)
    pinned = session.pinned or message.id in session.metadata.pins
    model = (message.model or session.model).lower()
    return (
        (not query.roles or message.role in query.roles)
        and (not query.models or any(name.lower() in model for name in query.models))
        and (query.after is None or at >= query.after)
        and (query.before is None or at < query.before)
        and query.has_tool in (None, tools)
        and query.pinned in (None, pinned)
        and query.on_branch in (None, on_branch)
    )
