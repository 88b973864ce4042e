"""Random sessions with everything a prompt depends on, and what may happen to them later."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.provider import PromptMessage
from ollm_tui.core.session.compression import CompressedContext, Shortening
from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.core.session.context_marks import Marks
from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.goals import Decision, Goal
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.record import AnyRecord, MessageAdded, SessionChanged
from ollm_tui.core.session.session import Metadata, ModeChange, Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.context.prompt_assembly import assemble
from ollm_tui.engine.context.system_prompt import sections
from ollm_tui.engine.conversation.modes import BUILT_IN, current_mode
from tests.engine.prompts import parts, roles
from tests.snapshot_samples import MOMENT, checkpoint, compression

Draw = Any
"""What hypothesis calls with a strategy; its own type cannot be named."""


def prompt_of(state: SessionState) -> tuple[PromptMessage, ...]:
    """What would be sent now."""
    header = state.header
    metadata = header.metadata
    return assemble(
        sections(header, current_mode(metadata, BUILT_IN)),
        state.branch() if header.head else (),
        Marks.of(metadata),
        Shortening.of(metadata.compressed, metadata.compression_history),
    ).prompt


@st.composite
def states(draw: Draw, prefix: str = "m") -> SessionState:
    """A session with branches, whose context was worked on."""
    messages: list[Message] = []
    for number in range(draw(st.integers(0, 12))):
        messages.append(_message(draw, f"{prefix}{number}", messages))
    head = draw(st.sampled_from(messages)).id if messages else None
    session = Session(
        "session-1",
        MOMENT,
        MOMENT,
        "scripted",
        "scripted",
        messages=tuple(messages),
        head=head,
        system_prompt=draw(st.sampled_from(("Be brief.", "You are a pirate."))),
    )
    state = SessionState(session)
    apply(state, _changed(draw, state))
    return state


@st.composite
def lives(draw: Draw, state: SessionState) -> list[AnyRecord]:
    """What happens to a session: it is to be applied as it comes."""
    copy = SessionState(state.session())
    happened: list[AnyRecord] = []
    for number in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            record = _added(draw, copy, f"later{number}")
        else:
            record = _changed(draw, copy)
        apply(copy, record)
        happened.append(record)
    return happened


def apply(state: SessionState, *records: AnyRecord) -> None:
    """Let something happen to a session."""
    for record in records:
        state.apply(record, state.header.journal_seq + 1)


def _message(draw: Draw, key: str, before: list[Message]) -> Message:
    parents = [None, *(each.id for each in before)]
    parent = draw(st.sampled_from(parents[-2:] * 3 + parents))
    said = draw(st.lists(parts, max_size=3))
    return Message(key, draw(roles), (Text(f"I am {key}"), *said), MOMENT, parent_id=parent)


def _added(draw: Draw, state: SessionState, key: str) -> MessageAdded:
    return MessageAdded(at=MOMENT, message=_message(draw, key, list(state.messages())))


def _changed(draw: Draw, state: SessionState) -> SessionChanged:
    """Another branch, other marks, goals, notes and mode, and perhaps a compression."""
    ids = [message.id for message in state.messages()]
    metadata = _marked(draw, state.header.metadata, ids)
    head = draw(st.sampled_from(ids)) if ids else None
    branch = [message.id for message in state.branch(head)] if head else []
    if branch and draw(st.booleans()):
        metadata = _compressed(draw, metadata, branch)
    fields = {"head": head, "metadata": to_tree(metadata)}
    return SessionChanged(at=MOMENT, fields=fields)


def _marked(draw: Draw, metadata: Metadata, ids: list[str]) -> Metadata:
    some = st.lists(st.sampled_from(ids), max_size=3, unique=True) if ids else st.just([])
    mode = draw(st.sampled_from(list(BUILT_IN)))
    change = ModeChange("assistant", mode, MOMENT, "command")
    decision = Decision("d", draw(st.sampled_from(("tabs", "spaces"))), MOMENT, locked=True)
    goal = Goal("g", draw(st.sampled_from(("win", "learn"))), MOMENT, decisions=(decision,))
    return replace(
        metadata,
        pins=tuple(draw(some)),
        excluded=tuple(draw(some)),
        folded=dict.fromkeys(draw(some), 70),
        goals=draw(st.sampled_from(((), (goal,)))),
        context_entries=draw(st.sampled_from(((), (ContextEntry("k", "note", MOMENT),)))),
        mode_history=(*metadata.mode_history, change)[: draw(st.integers(0, 9))],
    )


def _compressed(draw: Draw, metadata: Metadata, branch: list[str]) -> Metadata:
    first = draw(st.integers(0, len(branch) - 1))
    last = draw(st.integers(first, len(branch) - 1))
    number = len(metadata.compression_history)
    made = checkpoint(f"cp{number}", *branch[first : last + 1])
    elided = tuple(draw(st.lists(st.sampled_from(branch), max_size=2, unique=True)))
    after = CompressedContext(checkpoints=(made.id,), elided=elided)
    done = replace(
        compression(after, made),
        number=number + 1,
        elisions={key: f"facts {number} of {key}" for key in elided},
    )
    history = (*metadata.compression_history, done)
    return replace(metadata, compressed=after, compression_history=history)
