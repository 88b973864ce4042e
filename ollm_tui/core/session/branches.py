"""The branches of a session: the ends of its message tree, each with a name."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from ollm_tui.core.session.message import Attachment, Message
from ollm_tui.core.session.session import ToolCall
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.shared_record import line_of
from ollm_tui.core.session.titles import title_of

MAIN = "main"
_TITLE_CHARACTERS = 500
"""Characters of a message that are read for a name."""


class Branch(NamedTuple):
    """One path through the conversation, from the first message to an end."""

    leaf: str
    name: str
    """The first words that earlier branches do not have; the first branch is called main."""
    messages: int
    at: str
    """The time of its last message."""
    is_current: bool


def branches_of(state: SessionState) -> tuple[Branch, ...]:
    """Return every branch, the first one first, then in the order in which they began.

    Where the conversation was set back, its head is no leaf; it ends a branch as well.
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
    """Return the first words of a message, or the names of its attachments and tool calls."""
    if text := message.text[:_TITLE_CHARACTERS].strip():
        return title_of(text)
    names = [part.name for part in message.parts if isinstance(part, Attachment)]
    names += [call.name for call in message.tool_calls]
    return title_of(", ".join(names) or message.role)


def holders(branches: Iterable[Branch], state: SessionState) -> dict[str, str]:
    """Return the leaf of a branch for each message: of the current branch where it is on that."""
    found: dict[str, str] = {}
    # The first branch that reaches a message gets it, so the current one goes first.
    for branch in sorted(branches, key=lambda branch: not branch.is_current):
        step: str | None = branch.leaf
        while step is not None and step not in found:
            found[step] = branch.leaf
            step = state.parent(step)
    return found


def calls_along(
    state: SessionState, branch: Sequence[Message], until: str | None = None
) -> tuple[ToolCall, ...]:
    """Return the tool calls of a branch: those its messages name, and commands of the user.

    No message names a command, and the branch it was run on is not recorded. It belongs to the
    message said before it and to the one that was continued after it, unless it came after
    `until`.
    """
    messages = list(state.messages())
    # Clocks go back and older data has odd times: a position is found by the latest time so far.
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
    """Return the leaves, that of the first branch first; the head comes last if it is none."""
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
    """Count the messages up to each one."""
    depths: dict[str, int] = {}
    for message in state.messages():
        # From other machines a parent may arrive after its children; a damaged file may hold a
        # circle of parents.
        way: dict[str, None] = {}
        step: str | None = message.id
        while step is not None and step not in depths and step not in way:
            way[step] = None
            step = state.parent(step)
        depth = depths.get(step, 0) if step is not None else 0
        for each in reversed(way):
            depth += 1
            depths[each] = depth
    return depths


def _first_new(state: SessionState, leaf: str, known: set[str]) -> str | None:
    """Return the first message that no earlier branch has, and add the branch to `known`."""
    step: str | None = leaf
    first: str | None = None
    while step is not None and step not in known:
        known.add(step)
        first, step = step, state.parent(step)
    return first


def _name(state: SessionState, first: str) -> str:
    message = state[first]
    kind = "edit" if message.role == "user" else "answer"
    if message.machine:
        kind = f"on {line_of(message.machine, state.header).name or 'another machine'}"
    return f"{kind}: {words_of(message)}"
