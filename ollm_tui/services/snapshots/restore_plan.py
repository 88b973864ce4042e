"""Plans the restore of a snapshot: which message becomes the head, and what else is set.

Nothing is ever removed: messages that the session does not have are added as a new branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

import msgspec
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.session.branches import calls_along
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.message import Message, new_id
from ollm_tui.core.session.record import SessionChanged
from ollm_tui.core.session.session import Metadata, Restore, Session, copied, new_session_id
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ALWAYS_HELD, ContextSnapshot, metadata_at
from ollm_tui.core.unkept_outputs import message_without_outputs

UNDOABLE = 10
"""How many restores can be undone, one after the other."""


class Restoration(msgspec.Struct, frozen=True):
    """The changes that make the prompt of a session that of a snapshot, byte for byte."""

    snapshot_id: str
    head: str | None
    metadata: Metadata
    system_prompt: str
    missing: tuple[Message, ...] = ()
    """Messages to be added, in this order; the last of them is then the head."""

    def record(self, at: str) -> SessionChanged:
        """Return all changes as one record: a crash leaves the old context or the new one."""
        fields: dict[str, Any] = {
            "head": self.head,
            "systemPrompt": self.system_prompt,
            "metadata": to_tree(self.metadata),
        }
        if self.missing:
            fields["messages"] = [to_tree(message) for message in self.missing]
        return SessionChanged(at=at, fields=fields)


def restoration(
    snapshot: ContextSnapshot, state: SessionState, at: str | None = None
) -> Restoration:
    """Plan the restore of a snapshot, of this session or another one, `at` a time or now."""
    parent, missing, renamed = _branch(snapshot, state)
    at_that_time = _renamed(snapshot, renamed) if renamed else snapshot
    return Restoration(
        snapshot_id=snapshot.id,
        head=parent,
        metadata=metadata_at(at_that_time, state.header.metadata, at or clock.now()),
        system_prompt=snapshot.system_prompt or state.header.system_prompt,
        missing=missing,
    )


def undoable(restores: Sequence[Restore]) -> list[Restore]:
    """Return the restores that can be undone now, one after the other, the last one first."""
    latest = islice(standing(restores), UNDOABLE)
    return list(takewhile(lambda each: each.can_be_undone, latest))


def standing(restores: Sequence[Restore]) -> Iterator[Restore]:
    """Return the restores that were not undone, the last one first."""
    undone = {each.undoes for each in restores}
    return (each for each in reversed(restores) if each.at not in undone and not each.undoes)


def ways_back(restores: Sequence[Restore]) -> frozenset[str]:
    """Return the ids of the snapshots that undo restores: these are not removed as surplus."""
    return frozenset(each.safety for each in undoable(restores) if each.safety)


def forked(snapshot: ContextSnapshot, source: SessionState | None = None) -> Session:
    """Return a new session that begins at a snapshot; `source` is its session, if that exists."""
    moment = clock.now()
    if source is None:
        model = snapshot.metadata.model
        source = SessionState(
            Session(snapshot.session_id, moment, moment, model, snapshot.provider)
        )
    plan = restoration(snapshot, source, moment)
    state = SessionState(source.session())
    state.apply(plan.record(moment), state.header.journal_seq + 1)
    branch = state.branch()
    return replace(
        state.header,
        session_id=new_session_id(),
        start_time=moment,
        last_activity=moment,
        messages=tuple(branch),
        tool_calls=calls_along(state, branch, snapshot.timestamp),
        metadata=copied(state.header.metadata),
        title=f"{source.header.title or snapshot.summary} (fork)",
        window=snapshot.window,
        pinned=False,
        forked_from=snapshot.session_id,
        continued_in=None,
        journal_seq=0,
    )


def _branch(
    snapshot: ContextSnapshot, state: SessionState
) -> tuple[str | None, tuple[Message, ...], dict[str, str]]:
    """Return the head, the messages to be added before it, and new ids where theirs are taken.

    A message is added from the first one on that the session lacks or has otherwise: what
    follows it needs another parent, so it cannot be reused.
    """
    held = {message.id: message for message in (*snapshot.user_messages, *snapshot.messages)}
    parent: str | None = None
    missing: list[Message] = []
    renamed: dict[str, str] = {}
    for key in snapshot.order:
        message = held.get(key)
        if not missing and key in state and _is_there(state[key], message, parent, state):
            parent = key
            continue
        message = message or _behind_a_checkpoint(key, snapshot, state)
        if key in state:
            renamed[key] = new_id()
        parent_id, parent = parent, renamed.get(key, key)
        missing.append(replace(message, id=parent, parent_id=parent_id))
    return parent, tuple(missing), renamed


def _is_there(
    there: Message, message: Message | None, parent: str | None, state: SessionState
) -> bool:
    """Return whether the session's message of this id is the same one, with the same parent."""
    if there.parent_id != parent and state.parent(there.id) != parent:
        return False
    if message is None:
        return _can_be_behind_a_checkpoint(there)
    if there is message:
        return True
    # Where outputs are not kept, the snapshot has notes in their place.
    alike = message.parts in (there.parts, message_without_outputs(there).parts)
    return there.role == message.role and alike


def _behind_a_checkpoint(key: str, snapshot: ContextSnapshot, state: SessionState) -> Message:
    """Return a message whose text the snapshot lacks: the session's, or else an empty one.

    It cannot be left out: a checkpoint holds only if all messages it stands for are there.
    """
    if key in state and _can_be_behind_a_checkpoint(state[key]):
        return state[key]
    return Message(key, "assistant", (), snapshot.timestamp, status="interrupted")


def _can_be_behind_a_checkpoint(message: Message) -> bool:
    """Return whether a snapshot may lack the text of such a message.

    A message of the other roles is always in the snapshot with its text: if it is missing there,
    the session's message is another one with the same id.
    """
    return message.role not in ALWAYS_HELD


def _renamed(snapshot: ContextSnapshot, names: Mapping[str, str]) -> ContextSnapshot:
    """Return a snapshot whose pins, checkpoints and other marks use the new ids."""

    def name(key: str) -> str:
        return names.get(key, key)

    def all_of(keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(name, keys))

    checkpoints = tuple(
        replace(
            each,
            id=new_id(),
            covers=(name(each.covers[0]), name(each.covers[1])),
            messages=all_of(each.messages),
        )
        for each in snapshot.checkpoints
    )
    compressed = replace(
        snapshot.compressed,
        checkpoints=tuple(each.id for each in checkpoints),
        elided=all_of(snapshot.compressed.elided),
    )
    return replace(
        snapshot,
        pins=all_of(snapshot.pins),
        excluded=all_of(snapshot.excluded),
        folded={name(key): tokens for key, tokens in snapshot.folded.items()},
        checkpoints=checkpoints,
        compressed=compressed,
        elisions={name(key): facts for key, facts in snapshot.elisions.items()},
    )
