"""The branches of a session: the ends of its message tree, each with words to know it by."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from ollm_tui.core.session.message import Attachment, Message
from ollm_tui.core.session.session import ToolCall
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.titles import title_of

MAIN = "main"
_TITLE_CHARACTERS = 500
"""Characters of a message that are enough for a name."""


class Branch(NamedTuple):
    """One way through the conversation, from the first message to an end."""

    leaf: str
    name: str
    """How it begins to differ from the branches before it; the first is called main."""
    messages: int
    at: str
    """When its last message was said."""
    is_current: bool


def branches_of(state: SessionState) -> tuple[Branch, ...]:
    """Every branch, the first one first, then in the order in which they began.

    Where the conversation was set back, its present end has later messages; it is one as well.
    """
    ends = _ends(state)
    depths = _depths(state)
    head = state.header.head
    known: set[str] = set()
    branches: list[Branch] = []
    for leaf in ends:
        first = _first_new(state, leaf, known)
        if branches:
            name = _name(state, first) if first else f"up to: {words_of(state[leaf])}"
        else:
            name = MAIN
        branches.append(Branch(leaf, name, depths[leaf], state[leaf].timestamp, leaf == head))
    return tuple(branches)


def words_of(message: Message) -> str:
    """The first words of a message, or the name of what it brought along."""
    if text := message.text[:_TITLE_CHARACTERS].strip():
        return title_of(text)
    names = [part.name for part in message.parts if isinstance(part, Attachment)]
    names += [call.name for call in message.tool_calls]
    return title_of(", ".join(names) or message.role)


def holders(branches: Iterable[Branch], state: SessionState) -> dict[str, str]:
    """The leaf of the branch each message belongs to: the current one where it is on it."""
    found: dict[str, str] = {}
    for branch in sorted(branches, key=lambda branch: not branch.is_current):
        step: str | None = branch.leaf
        while step is not None and step not in found:
            found[step] = branch.leaf
            step = state.parent(step)
    return found


def calls_along(
    state: SessionState, branch: Sequence[Message], until: str | None = None
) -> tuple[ToolCall, ...]:
    """The tool calls of a branch: those its messages name, and those of the user, which no
    message names and which stand by their times; of these none that came after `until`.

    Nobody wrote down on which branch the user was: a call goes along with the message said
    before it and with the one that was continued after it.
    """
    messages = list(state.messages())
    times = list(accumulate((message.timestamp for message in messages), max))
    on_branch = {message.id for message in branch}
    named = {call.call_id: message.id for message in messages for call in message.tool_calls}
    own = {call.call_id for message in branch for call in message.tool_calls}

    def stands_there(call: ToolCall) -> bool:
        if call.id in named:
            return call.id in own
        if until is not None and call.timestamp > until:
            return False
        at = bisect_right(times, call.timestamp)
        after = state.parent(messages[at].id) if at < len(messages) else state.header.head
        return at == 0 or messages[at - 1].id in on_branch or after in on_branch

    return tuple(filter(stands_there, state.tool_calls))


def _ends(state: SessionState) -> list[str]:
    """The leaves, that of the first branch first; last the present end, if it is none."""
    next_of: dict[str | None, str] = {}
    for message in state.messages():
        next_of.setdefault(state.parent(message.id), message.id)
    leaves = [message.id for message in state.messages() if message.id not in next_of]
    first, seen = next_of.get(None), set[str]()
    while first is not None and first in next_of and first not in seen:
        seen.add(first)
        first = next_of[first]
    if first in leaves:
        leaves.remove(first)
        leaves.insert(0, first)
    head = state.header.head
    if head is not None and head in next_of and head in state:
        leaves.append(head)
    return leaves


def _depths(state: SessionState) -> dict[str, int]:
    """How many messages there are up to each. A parent is recorded before its children."""
    depths: dict[str, int] = {}
    for message in state.messages():
        parent = state.parent(message.id)
        depths[message.id] = depths.get(parent, 0) + 1 if parent is not None else 1
    return depths


def _first_new(state: SessionState, leaf: str, known: set[str]) -> str | None:
    """The first message of a branch that no branch before it has; all of them are known then."""
    step: str | None = leaf
    first: str | None = None
    while step is not None and step not in known:
        known.add(step)
        first, step = step, state.parent(step)
    return first


def _name(state: SessionState, first: str) -> str:
    message = state[first]
    return f"{'edit' if message.role == 'user' else 'answer'}: {words_of(message)}"
